"""``replearn audit``: measure on your own file how often retraining changes predictions."""

from __future__ import annotations

import argparse
import dataclasses
import time
from pathlib import Path
from typing import Any

from replearn.cli import (
    DONE,
    GATE_FAILED,
    INTERRUPTED,
    STARTED,
    add_options,
    put,
    put_json,
    say,
)
from replearn.cli._inputs import (
    NAMED,
    Named,
    Sample,
    add_sample_arguments,
    add_subgroups,
    add_threshold,
    base_model,
    read_key,
    read_sample,
    read_threshold,
)
from replearn.randomness import SharedKey
from replearn.records import check_fraction, check_positive, if_given
from replearn.tables import Table, is_large_file

CONTENDERS = (
    *("baseline", "bagging", "score", "incumbent", "replicable"),
    *("replicable-full", "score-loose"),
)
"""As in `replearn.auditing.KINDS`, which the help text does not wait for."""

REPLICABLE = "replicable"
REGRESSORS: Named = {
    "ridge": ("sklearn.linear_model", "Ridge", {}, False),
    "hgb": ("sklearn.ensemble", "HistGradientBoostingRegressor", {}, True),
    "forest": ("sklearn.ensemble", "RandomForestRegressor", {}, True),
    "tree": ("sklearn.tree", "DecisionTreeRegressor", {}, True),
}

ENDINGS = (".html", ".json", ".md")
USUAL: dict[str, Any] = {"pairs": 20, "rows": None, "contenders": None}
QUICK: dict[str, Any] = {"pairs": 3, "rows": 5000, "contenders": "baseline,replicable"}
"""What options are that were not given, and with --quick."""

MAX_CELLS = 600_000
MIN_ROWS = 2500
TEST_ROWS = 2000
"""Cells that one training sees unless --rows or --time-budget say otherwise: an audit trains the
model thousands of times. From the size of the table alone, never from its cells."""

READ_SHARE = 0.25
MIN_READ = 20_000
"""Share of a time budget after which the table should be there; so many rows are read anyway."""

DEARER = 8.0
"""Making cells of the texts and looking at them takes about so many times as long as cutting lines
into texts, which cannot be avoided."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_sample_arguments(parser)
    _add_numbers(parser)
    add_threshold(parser)
    names = ", ".join(CONTENDERS)
    add_options(parser, "NAMES", contenders=f"with commas, among {names} (default: first five)")
    add_subgroups(parser)
    add_options(
        parser,
        "FILE",
        out="write the report: .html, .json or .md",
        key_file="key from which the samples are drawn",
    )
    add_options(parser, "DIR", resume="keep finished pairs here, and continue from them")
    add_options(
        parser,
        bool,
        quick=f"a first look: {QUICK['rows']} rows, {QUICK['pairs']} pairs, no bagging",
        details="print every table and finding, not only the first screen",
        json="print the result as JSON",
        hide_values="leave features out of the report",
        quiet="no remarks, no progress",
    )
    parser.set_defaults(rho=0.1, jobs=-1)


def _add_numbers(parser: argparse.ArgumentParser) -> None:
    add_options(
        parser,
        float,
        rho="flip probability that the replicable contender guarantees (default: 0.1)",
        time_budget="seconds for the whole command: rows, pairs and contenders are chosen so that "
        "it ends in time",
        max_price="recommend contenders that lose at most so many points of accuracy (default: 1)",
        fail_above="exit with 1 if the measured flip rate of the model is larger",
        fail_above_limit="the same for its upper 95 %% limit: passes only if the rate is shown to "
        "be smaller",
        tolerance="the target is a quantity: audit a regressor (ridge, hgb, forest, tree); "
        "predictions that differ by at least this, in units of the target, have changed",
    )
    parser.add_argument(
        "--y-range",
        nargs=2,
        type=float,
        metavar=("LOW", "HIGH"),
        help="smallest and largest prediction, known before the data; with it the replicable "
        "regressor is certified",
    )
    add_options(
        parser,
        int,
        pairs="pairs of trainings (default: 20)",
        rows="use at most so many rows of the file, drawn by the key",
        jobs="number of workers (default: all cores)",
    )


def run(args: argparse.Namespace) -> int:
    """Run the audit, write the report, print a summary, and apply the gates."""
    _check(args)
    for name, value in (QUICK if args.quick else USUAL).items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    key = read_key(args.key_file)
    thin = _thinning(args, key)
    drawn, about_drawn = _draw_if_large(args, key)
    sample = read_sample(args, thin, drawn=drawn, numbers=args.tolerance is not None)
    del drawn
    sample.tell(quiet=args.quiet)
    train_size = _train_size(args, sample)
    about_thin = [] if thin is None else thin.remarks
    about_rows = [*about_drawn, *about_thin, *_about_rows(train_size, sample)]
    say(*about_rows, quiet=args.quiet)
    result, judged = _audit(args, sample, key, train_size)
    result = dataclasses.replace(result, cut_short=(*result.cut_short, *about_rows))
    if args.out:
        result.save(args.out, **({"values": False} if args.hide_values else {}))
        say(f"report written to {args.out}", quiet=args.quiet)
    gates = _gates(result, judged, args)
    if args.json:
        put_json({**result.to_dict(), "gates": gates})
    else:
        put(result.to_text(details=args.details))
        if not args.details:
            say("--details prints every table and finding", quiet=args.quiet)
    for gate in gates:
        say(_verdict(gate, args))
    if result.interrupted:
        say("interrupted: the report shows what was measured before")
        return INTERRUPTED
    return DONE if all(gate["passed"] for gate in gates) else GATE_FAILED


def _audit(
    args: argparse.Namespace, sample: Sample, key: SharedKey | None, train_size: int | None
) -> tuple[Any, str]:
    """Run the audit; return the result, and the name of the contender that gates judge."""
    from replearn.auditing import audit

    name = args.model
    known = NAMED
    if args.tolerance is not None:
        name = "ridge" if args.model == "logreg" else args.model  # the command's default
        known = REGRESSORS
    base = base_model(name, sample.columns, known=known)
    result = audit(
        base,
        sample.features_for(base),
        sample.y,
        contenders=None if args.contenders is None else args.contenders.split(","),
        n_pairs=args.pairs,
        threshold=read_threshold(args, sample.y),
        tolerance=args.tolerance,
        y_range=None if args.y_range is None else tuple(args.y_range),
        train_size=train_size,
        max_rows=args.rows,
        time_budget=_time_left(args),
        on_interrupt="return",
        groups=sample.groups,
        subgroups=list(args.subgroups) or "auto",
        rho=args.rho,
        # The audit's own workers get it, and nobody else.
        shared_key=0 if key is None else key.allow_pickle(),
        n_jobs=args.jobs,
        resume=args.resume,
        verbose=-1 if args.quiet else 0,
    )
    about = {"file": Path(args.data).name, "target": args.target, "model": name}
    price = None if args.max_price is None else args.max_price / 100
    names = [contender.name for contender in result.contenders]
    judged = REPLICABLE if hasattr(base, "shared_key") and REPLICABLE in names else names[0]
    return result.with_settings(reader="command", about=about, max_price=price), judged


def _draw_if_large(
    args: argparse.Namespace, key: SharedKey | None
) -> tuple[Table | None, list[str]]:
    """Draw rows of a file that is not read whole; rows of one group are not torn apart."""
    if args.group_by is not None or not is_large_file(Path(args.data)):
        return None, []
    from replearn.cli._large import draw_sample

    return draw_sample(args, SharedKey(0) if key is None else key)


def _check(args: argparse.Namespace) -> None:
    if args.out and not args.out.lower().endswith(ENDINGS):
        raise ValueError(f"--out {args.out} must end in {', '.join(ENDINGS)}.")
    if args.y_range is not None and args.tolerance is None:
        raise ValueError("--y-range requires --tolerance: the target must be a quantity.")
    if_given(check_positive, "--tolerance", args.tolerance)
    if_given(check_positive, "--time-budget", args.time_budget)
    if_given(check_positive, "--max-price", args.max_price, zero=True)
    if_given(check_fraction, "--fail-above", args.fail_above, zero=True)
    if_given(check_fraction, "--fail-above-limit", args.fail_above_limit, zero=True)


def _thinning(args: argparse.Namespace, key: SharedKey | None) -> Thinning | None:
    """Read all rows, unless the clock forbids it.

    Groups stay whole, and an audit that was begun goes on with the rows that it has.
    """
    if args.time_budget is None or args.group_by is not None or args.resume is not None:
        return None
    return Thinning(STARTED, args.time_budget, SharedKey(0) if key is None else key)


def _time_left(args: argparse.Namespace) -> float | None:
    """Seconds for the audit; reading has used part of the time already."""
    if args.time_budget is None:
        return None
    return float(max(args.time_budget - (time.monotonic() - STARTED), 0.001))


def _train_size(args: argparse.Namespace, sample: Sample) -> int | None:
    """Rows that each training sees of a large table; None: half of what is not tested."""
    requested = args.rows is not None or args.time_budget is not None
    affordable = max(MIN_ROWS, MAX_CELLS // len(sample.columns))
    fits = len(sample.y) <= 2 * affordable + TEST_ROWS
    return None if requested or fits or sample.groups is not None else affordable


def _about_rows(train_size: int | None, sample: Sample) -> list[str]:
    """Say that a large table is not used as a whole, and how it would be."""
    if train_size is None:
        return []
    n_rows = len(sample.y)
    return [
        f"each training sees {train_size:,} of {(n_rows - TEST_ROWS) // 2:,} rows, since the table "
        f"is large; with more of them fewer predictions change (--rows {n_rows} uses all)"
    ]


def _gates(result: Any, judged: str, args: argparse.Namespace) -> list[dict[str, Any]]:
    """Judge the model that was named: the baseline, or a replicable estimator."""
    if args.fail_above is None and args.fail_above_limit is None:
        return []
    from replearn.auditing import flip_gates

    limits = {"fail_above": args.fail_above, "fail_above_limit": args.fail_above_limit}
    found = flip_gates(result.flip_rate(judged), **limits)
    gates = [{"model": judged, **gate.to_dict()} for gate in found]
    # A model that always predicts the same never flips: such a gate does not pass.
    useless = not result.judgement[judged].usable
    return [{**g, "useless": useless, "passed": g["passed"] and not useless} for g in gates]


def _verdict(gate: dict[str, Any], args: argparse.Namespace) -> str:
    rate = f"{gate['estimate']:.2%}"
    model = repr(gate["model"])
    what = f"flip rate of {model} is {rate}"
    always = "; its predictions are useless" if gate.get("useless") else ""
    return (
        f"gate {'passed' if gate['passed'] else 'FAILED'}: {what} ({gate['lower']:.2%} to "
        f"{gate['upper']:.2%}), allowed {gate['allowed']:.2%} for the {gate['judged']}{always}"
    )


class Thinning:
    """Draw rows of a file that has been cut into cells, as many as there is time for.

    The rows are drawn by the key and their cells, all over the file: its first rows may be of
    another kind, and the same rows in another order give the same sample. The command ``started``
    at that time of ``time.monotonic``, and has ``budget`` seconds.
    """

    def __init__(self, started: float, budget: float, key: SharedKey) -> None:
        self.remarks: list[str] = []
        self._end = started + READ_SHARE * budget
        self._began = time.monotonic()
        self._key = key

    def __call__(self, frame: Any) -> Any:
        """Return the frame, or some of its rows in their order."""
        now = time.monotonic()
        left = self._end - now
        each = DEARER * (now - self._began) / frame.height
        n_rows = max(MIN_READ, int(left / max(each, 1e-9)))
        if n_rows >= frame.height:
            return frame
        self.remarks.append(
            f"{n_rows:,} of {frame.height:,} rows of the file were read, drawn by the key, to keep "
            "the time budget"
        )
        return frame[_drawn(frame, n_rows, self._key.child("rows read"))]


def _drawn(frame: Any, n_rows: int, key: SharedKey) -> Any:
    """Positions of rows that the key draws by their cells, whatever their order in the file."""
    import polars as pl
    from polars import selectors

    from replearn.outofcore import draw_rows

    cells = (~selectors.nested()).cast(pl.String).fill_null("\0")
    rows = frame.select(pl.concat_str(cells, separator="\x1f"))
    (positions,), _, _ = draw_rows(lambda: [rows], n_rows, key, lambda _, drawn: drawn)
    return positions
