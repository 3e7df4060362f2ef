"""Where do changed predictions come from: seed, order, or new rows? One command per line.

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

from pages import add_report_arguments, write_report
from sklearn.ensemble import HistGradientBoostingClassifier

from replearn.cli import main as replearn

SOURCES = ("seed", "row order")
SHARES = {"1 % new rows": 0.01, "10 % new rows": 0.1, "50 % new rows": 0.5, "new rows": 1.0}
ENDS = ("lower", "upper")
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


def without_stopping():
    """Histogram boosting that does not split rows off at random."""
    return HistGradientBoostingClassifier(early_stopping=False)


def source_command(options, name, model):
    return [
        *("audit", f"{options.data / name}.csv.gz", "--target", "target", "--model", model),
        *("--contenders", "baseline", "--rows", str(options.rows), "--pairs", str(options.pairs)),
        *("--vary", ",".join([*reversed(SHARES), *SOURCES]), "--jobs", "1", "--json"),
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


def limits_of(estimate, name=""):
    """Return an estimate and its limits as fields of a record."""
    fields = {name or "estimate": "value", **{f"{name}_{end}".strip("_"): end for end in ENDS}}
    return {field: estimate[key] for field, key in fields.items()}


def source_records(options):
    """Return the records of both tables about sources."""
    by_source, by_share = [], []
    for name, model in OF_SOURCES:
        if options.only in f"{name}, {MODELS[model]}":
            found = run(
                options, f"{name}-{model}".replace(":", "-"), source_command(options, name, model)
            )
            head = {"data": name, "model": MODELS[model]}
            changed = {
                row["variant"] or "new rows": limits_of(row)
                for row in found["measured"]
                if row["what"] == "flips" and row["group"] == "all"
            }
            by_source += [{**head, "source": source, **changed[source]} for source in SOURCES]
            by_share += [
                {**head, "new_rows": share, **changed[name]} for name, share in SHARES.items()
            ]
    return by_source, by_share


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("REPLEARN_DATA"))
    parser.add_argument("--rows", type=int, default=26_000, help="rows of each file that are used")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--only", default="", help="lines whose name contains this")
    parser.add_argument("--keep", type=Path, help="folder for finished work and JSON")
    parser.add_argument("--print-commands", action="store_true")
    add_report_arguments(parser, "sources")
    options = parser.parse_args()
    if options.data is None or not Path(options.data).is_dir():
        parser.error(f"--data {options.data}: give a folder of data files, or set REPLEARN_DATA")
    options.data = Path(options.data)
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    sources, new_rows = source_records(options)
    found = {"sources": sources, "new_rows": new_rows}
    write_report(options, {section: records for section, records in found.items() if records})


if __name__ == "__main__":
    main()
