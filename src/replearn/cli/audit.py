"""``replearn audit``: measure on your own file how often retraining changes predictions."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import Any, NamedTuple

from replearn.cli import (
    DONE,
    GATE_FAILED,
    INTERRUPTED,
    STARTED,
    Action,
    _how_to_continue,
    allowed,
    check_limits,
    flag,
    names,
    number,
    option,
    put,
    put_json,
    repeated,
    say,
    settings,
)
from replearn.cli._inputs import (
    NAMED,
    SUBGROUPS_HELP,
    MemoryOptions,
    Named,
    Sample,
    SampleOptions,
    ThresholdOptions,
    base_model,
    jobs_within,
    read_key,
    read_sample,
    read_threshold,
    reading_of,
)
from replearn.cli._large import draw_sample
from replearn.randomness.key import SharedKey
from replearn.records.checks import check_positive, if_given
from replearn.tables.files import Table

CONTENDERS = ("baseline", "bagging", "score", "incumbent", "replicable")
"""As in `replearn.auditing.contenders.KINDS`, which the help text does not wait for."""

REPLICABLE = "replicable"
REGRESSORS: Named = {
    "ridge": ("sklearn.linear_model", "Ridge", {}, False),
    "hgb": ("sklearn.ensemble", "HistGradientBoostingRegressor", {}, True),
    "forest": ("sklearn.ensemble", "RandomForestRegressor", {}, True),
    "tree": ("sklearn.tree", "DecisionTreeRegressor", {}, True),
}

ENDINGS = (".html", ".json", ".md")


class AuditSize(NamedTuple):
    """How much is audited."""

    pairs: int
    rows: int | None
    contenders: tuple[str, ...] | None  # None: those of `replearn.audit`


USUAL = AuditSize(20, None, None)
QUICK = AuditSize(3, 5000, ("baseline", "replicable"))

LARGE_TABLE = 2 << 30
"""Of tables that take more bytes, rows are drawn; no audit needs all."""

MAX_CELLS = 600_000
MIN_ROWS = 2500
TEST_ROWS = 2000
"""Cells that one training sees unless --rows says otherwise: an audit trains the
model thousands of times. From the size of the table alone, never from its cells."""

READ_SHARE = 0.25
MIN_READ = 20_000
"""Share of a time budget after which the table should be there; this many rows are read anyway."""

DEARER = 8.0
"""Parsing and examining the cells takes about this many times as long as splitting lines into
texts, which cannot be avoided."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class AuditOptions(SampleOptions, ThresholdOptions, MemoryOptions):
    """Options of the command."""

    COMMON = (
        *("target", "out", "model", "contenders", "group_by", "subgroups", "threshold"),
        *("vary", "time_column", "grid", "quick", "time_budget", "fail_above", "tolerance"),
        *("resume", "jobs", "details", "json"),
    )
    EXAMPLES = (
        "replearn audit people.csv --target income --out report.html",
        "replearn audit people.csv --target income --quick --fail-above 0.05",
    )

    rho: float = number(
        "flip probability that the replicable contender guarantees (default: 0.1)", float, 0.1
    )
    time_budget: float | None = number(
        "seconds for the whole command",
        float,
    )
    max_price: float | None = number(
        "recommend contenders that lose at most this many points of accuracy (default: 1)", float
    )
    fail_above: tuple[tuple[str, float], ...] = repeated(
        "exit with 1 above NAME=LIMIT: flips=0.02",
        "LIMIT",
        type=allowed,
    )
    tolerance: float | None = number(
        "regression: smaller changes do not count",
        float,
    )
    y_range: tuple[float, float] | None = option(
        "smallest and largest prediction, known before the data; with it the replicable regressor "
        "is certified",
        ("LOW", "HIGH"),
        nargs=2,
        type=float,
    )
    pairs: int | None = number("pairs of trainings (default: 20)")
    rows: int | None = number("use at most this many rows of the file, drawn by the key")
    jobs: int = number("number of workers (default: all cores)", default=-1)
    contenders: tuple[str, ...] | None = option(
        f"{', '.join(CONTENDERS)} (default: all)", "A,B", type=names
    )
    subgroups: tuple[str, ...] = option(SUBGROUPS_HELP, "A,B", default=(), type=names)
    out: str | None = option("write the report: .html, .json or .md", "FILE")
    key_file: str | None = option("key from which the samples are drawn", "FILE")
    resume: str | None = option("keep finished work here, and continue from it", "DIR")
    quick: bool = flag(f"a first look: {QUICK.rows} rows, {QUICK.pairs} pairs, no bagging")
    vary: tuple[str, ...] = option(
        "new rows (default), 10%% new rows, seed, row order",
        "A,B",
        default=("new rows",),
        type=names,
    )
    time_column: tuple[str, ...] = option(
        "time of a row: retrain on the next period as well",
        "COLUMN",
        default=(),
        type=names,
    )
    grid: tuple[tuple[str, tuple[Any, ...]], ...] = repeated(
        "settings as contenders", "NAME=A,B", type=settings
    )
    details: bool = flag("print every table and finding")
    json: bool = flag("print the result as JSON")
    hide_values: bool = flag("leave features out of the report")
    quiet: bool = flag("print no remarks and no progress")

    @property
    def size(self) -> AuditSize:
        """How much is audited: what was requested, and the rest as usual or with ``--quick``."""
        usual = QUICK if self.quick else USUAL
        return AuditSize(
            usual.pairs if self.pairs is None else self.pairs,
            usual.rows if self.rows is None else self.rows,
            usual.contenders if self.contenders is None else self.contenders,
        )

    @property
    def time_columns(self) -> tuple[str, ...]:
        """Columns that hold the time of a row; no features."""
        return self.time_column


def run(options: AuditOptions) -> int:
    """Run the audit, write the report, print a summary, and apply the gates."""
    _check(options)
    key = read_key(options.key_file)
    thin = _thinning(options, key)
    drawn, about_drawn = _draw_if_large(options, key)
    sample = read_sample(options, thin, drawn=drawn, numbers=options.tolerance is not None)
    del drawn
    sample.tell(quiet=options.quiet)
    train_size = _train_size(options, sample)
    about_thin = [] if thin is None else thin.remarks
    about_rows = [*about_drawn, *about_thin, *_about_rows(train_size, sample)]
    say(*about_rows, quiet=options.quiet)
    result, judged = _audit(options, sample, key, train_size)
    from replearn.auditing.gate import gates

    result = dataclasses.replace(
        result,
        cut_short=(*result.cut_short, *about_rows),
        facts=_facts_of_file(result.facts, sample),
    )
    result = result.with_settings(gates=gates(result, dict(options.fail_above), judged))
    if options.out:
        result.save(options.out, **({"values": False} if options.hide_values else {}))
        say(f"report written to {options.out}", quiet=options.quiet)
    if options.json:
        put_json(result.to_dict())
    else:
        put(result.to_text(details=options.details))
        if not options.details:
            say("--details prints every table and finding", quiet=options.quiet)
    for gate in result.gates:
        say(f"gate {gate}")
    if result.interrupted:
        more = _how_to_continue(options.resume)
        say(f"interrupted: the report shows what was measured before{more}")
        return INTERRUPTED
    return DONE if all(gate.passed for gate in result.gates) else GATE_FAILED


def _facts_of_file(facts: Any, sample: Sample) -> Any:
    """Add the ids of the file, which are no features, to what the rows show."""
    from replearn.auditing.facts import repeated_ids

    return dataclasses.replace(facts, id_columns=facts.id_columns + repeated_ids(sample.aside))


def _audit(
    options: AuditOptions, sample: Sample, key: SharedKey | None, train_size: int | None
) -> tuple[Any, str]:
    """Run the audit; return the result, and the name of the contender that gates judge."""
    from replearn.auditing.audits import audit

    name = options.model
    known = NAMED
    size = options.size
    if options.tolerance is not None:
        name = "ridge" if options.model == "logreg" else options.model  # the command's default
        known = REGRESSORS
    base = base_model(name, sample.columns, known=known)
    result = audit(
        base,
        sample.features_for(base),
        sample.y,
        contenders=None if size.contenders is None else list(size.contenders),
        n_pairs=size.pairs,
        threshold=None if known is REGRESSORS else read_threshold(options, sample.label_counts),
        tolerance=options.tolerance,
        y_range=options.y_range,
        train_size=train_size,
        max_rows=size.rows,
        time_budget=_time_left(options),
        vary=options.vary,
        param_grid={name: list(values) for name, values in options.grid} or None,
        time=sample.times,
        on_interrupt="return",
        groups=sample.groups,
        subgroups=list(options.subgroups) or "auto",
        rho=options.rho,
        # The audit's own workers get it, and nobody else.
        shared_key=0 if key is None else key.allow_pickle(),
        n_jobs=jobs_within(options.jobs, options.max_memory),
        resume=options.resume,
        verbose=-1 if options.quiet else 0,
    )
    about = {"file": Path(options.data).name, "target": options.target, "model": name}
    price = None if options.max_price is None else options.max_price / 100
    ran = [contender.name for contender in result.contenders]
    judged = REPLICABLE if hasattr(base, "shared_key") and REPLICABLE in ran else ran[0]
    return result.with_settings(reader="command", about=about, max_price=price), judged


def _draw_if_large(options: AuditOptions, key: SharedKey | None) -> tuple[Table | None, list[str]]:
    """Draw rows of a file that is not read whole; rows of one group are not torn apart."""
    reading = reading_of(options.data, options.max_memory)
    if options.group_by is not None:
        reading.require_whole("--group-by")
        return None, []
    if reading.fits and reading.needed <= LARGE_TABLE:
        return None, []
    reading.require_pieces(None, 0)
    own = SharedKey(0) if key is None else key
    return draw_sample(options, own, options.size.rows or 0, options.max_memory)


def _check(options: AuditOptions) -> None:
    if options.out and not options.out.lower().endswith(ENDINGS):
        raise ValueError(f"--out {options.out} must end in {', '.join(ENDINGS)}.")
    if options.y_range is not None and options.tolerance is None:
        raise ValueError("--y-range requires --tolerance: it is for regression.")
    if_given(check_positive, "--tolerance", options.tolerance)
    check_limits(options.fail_above)
    if_given(check_positive, "--time-budget", options.time_budget)
    if_given(check_positive, "--max-price", options.max_price, zero=True)


def _thinning(options: AuditOptions, key: SharedKey | None) -> Thinning | None:
    """Read all rows, unless the clock forbids it.

    Groups stay whole, and an audit that was begun goes on with the rows that it has.
    """
    if options.time_budget is None or options.group_by is not None or options.resume is not None:
        return None
    return Thinning(STARTED, options.time_budget, SharedKey(0) if key is None else key)


def _time_left(options: AuditOptions) -> float | None:
    """Seconds for the audit; reading has used part of the time already."""
    if options.time_budget is None:
        return None
    return float(max(options.time_budget - (time.monotonic() - STARTED), 0.001))


def _train_size(options: AuditOptions, sample: Sample) -> int | None:
    """Rows that each training uses of a large table; None for half of those not tested."""
    affordable = max(MIN_ROWS, MAX_CELLS // len(sample.columns))
    fits = len(sample.y) <= 2 * affordable + TEST_ROWS
    return (
        None if options.size.rows is not None or fits or sample.groups is not None else affordable
    )


def _about_rows(train_size: int | None, sample: Sample) -> list[str]:
    """Say that a large table is not used as a whole, and how it would be."""
    if train_size is None:
        return []
    n_rows = len(sample.y)
    return [
        f"each training sees {train_size:,} of {(n_rows - TEST_ROWS) // 2:,} rows, since the table "
        f"is large; with more of them fewer predictions change (--rows {n_rows} uses all)"
    ]


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

    from replearn.outofcore.sampling import draw_rows

    cells = (~selectors.nested()).cast(pl.String).fill_null("\0")
    rows = frame.select(pl.concat_str(cells, separator="\x1f"))
    (positions,), _, _ = draw_rows(lambda: [rows], n_rows, key, lambda _, drawn: drawn)
    return positions


COMMAND = Action(AuditOptions, run, "measure how often retraining changes predictions")
