"""The flip atlas: well-known tables, four models; who gets another prediction after retraining?

    pip install --group atlas
    python benchmarks/atlas.py [--tables titanic,credit] [--models tree,logreg] [--repetitions 20]

For each table and model: the share of test rows whose prediction changes when 1 %, 10 % and 100 %
of the training rows are new, and what remedies leave of it and cost. Each finished cell is a JSON
file in the folder ``--cells``; an interrupted run continues there. At the end all cells of the
folder become the data file of the page (``--out``), the page itself where ``--page`` says, and the
tables of docs/atlas.md with ``--summary docs/atlas.md``.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys
import time
from functools import partial
from pathlib import Path

from _atlas_data import assemble, write
from _atlas_measure import Effort, remedies, retrainings
from _atlas_page import FOLDER, make_page
from _atlas_summary import summary
from _atlas_tables import SOURCES, read
from _base_learners import MODELS
from _cells import Cells
from pages import put_into_page

CELL_KINDS = {"retrainings": retrainings, "remedies": remedies}
CHEAPEST_FIRST = ("tree", "logreg", "boosting", "forest")


def main(arguments=None, sources=SOURCES):
    options = parse(arguments, sources)
    effort = Effort(
        n_retrainings=options.repetitions,
        n_remedy_pairs=options.remedy_repetitions,
        max_train=options.rows,
        certified_models=tuple(options.certified),
    )
    cells = Cells(options.cells)
    try:
        if not options.only_report:
            compute_missing(cells, sources, options, effort)
    except KeyboardInterrupt:
        sys.exit("interrupted: the same command goes on with the next cell")
    report(assemble(cells, sources, effort), options)


def compute_missing(cells, sources, options, effort):
    """Compute the cells that the folder does not hold: first all retrainings, then remedies."""
    models = [model for model in CHEAPEST_FIRST if model in options.models]
    tables = [source for source in sources if source.name in options.tables]
    work = [(kind, model, source) for kind in CELL_KINDS for model in models for source in tables]
    start = time.monotonic()
    for done, (kind, model, source) in enumerate(work):
        known = cells.get(source.name, model, kind)
        if known is not None:
            check_repetitions(known, kind, effort, cells.path(source.name, model, kind))
            continue
        minutes = (time.monotonic() - start) / 60
        print(f"{done} of {len(work)} cells after {minutes:.1f} minutes", flush=True)
        work_on = partial(CELL_KINDS[kind], read(source), model, effort)
        cells.compute((source.name, model, kind), work_on)


def check_repetitions(cell, kind, effort, path):
    """Stop where a finished cell was computed with another number of repetitions."""
    wanted = effort.n_retrainings if kind == "retrainings" else effort.n_remedy_pairs
    if cell["pairs"] != wanted:
        sys.exit(
            f"{path} has {cell['pairs']} repetitions instead of {wanted}: use another folder "
            "(--cells), or delete it"
        )


def report(data, options):
    """Write the data file, and the page and the tables where they are requested."""
    write(options.out, data)
    size = options.out.stat().st_size / 1e6
    print(f"{options.out}: {len(data['tables'])} tables, {len(data['cells'])} cells, {size:.2f} MB")
    if options.page:
        options.page.write_text(make_page(data), encoding="utf-8")
    text = summary(data)
    print(text)
    if options.summary:
        put_into_page(options.summary, "atlas", f"{data['made']}.\n\n{text}")


def parse(arguments, sources):
    names = [source.name for source in sources]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=_among(names), default=names, help="with commas")
    parser.add_argument("--models", type=_among(MODELS), default=MODELS, help="with commas")
    parser.add_argument("--repetitions", type=int, default=20, help="retrainings of each model")
    parser.add_argument("--remedy-repetitions", type=int, default=5, help="pairs of each remedy")
    parser.add_argument("--rows", type=int, default=2000, help="train on at most so many rows")
    certified = "models for which PointwiseReplicableClassifier is measured: it is the dearest"
    parser.add_argument("--certified", type=_among(MODELS), default=MODELS, help=certified)
    parser.add_argument("--cells", type=Path, default=Path("atlas-cells"), help="folder")
    parser.add_argument("--out", type=Path, default=FOLDER / "atlas.json", help="data file")
    parser.add_argument("--page", type=Path, help="write the page into this file, too")
    parser.add_argument("--summary", type=Path, help="write the tables into this page")
    parser.add_argument("--only-report", action="store_true", help="compute nothing new")
    return parser.parse_args(arguments)


def _among(known):
    """Return what reads a list of names with commas."""

    def parse_names(text):
        names = text.split(",")
        unknown = [name for name in names if name not in known]
        if unknown:
            message = f"{', '.join(unknown)}: known are {', '.join(known)}"
            raise argparse.ArgumentTypeError(message)
        return names

    return parse_names


if __name__ == "__main__":
    main()
