"""The frontier: accuracy against mean and tail flips, over blocks, partitions, laws and votes.

    python benchmarks/frontier.py --data DIR [--sets adult] [--models logreg] [--blocks 32,64,128]

The base learners of each (number of blocks, partition) are trained once; all laws, kinds of votes
and numbers of partitions are judged from their votes. Every law meets the same certified rho.
``--sizes`` repeats everything on smaller samples. An interrupted run continues.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from pathlib import Path

import numpy as np
from _base_learners import VARIANTS
from _block_votes import hard_scores, law_for, majority_scores, single_of_pair, votes_of_pair
from _cells import Cells
from _data import add_data_arguments, load, parse
from _frontier_picture import draw
from _measures import against, measure
from pages import add_report_arguments, write_report

MAX_PARTITIONS = 16
MIN_ROWS = 20
"""Blocks smaller than this are not tried."""

KINDS = (
    ("arcsine", "hard"),
    ("uniform", "hard"),
    ("arcsine", "soft"),
    ("uniform", "soft"),
    ("majority", "hard"),
)


def judge(pairs, singles, y, n_blocks, rho):
    """Evaluate every law, kind of vote and number of partitions from the votes.

    The plain majority stands beside them: what it loses is lost by small blocks, the rest of the
    loss comes from the random thresholds.
    """
    votes = np.array([pair["votes"] for pair in pairs])  # pairs, 2, rows, partitions
    soft = np.array([pair["soft"] for pair in pairs])
    for kind, vote in KINDS:
        law = None if kind == "majority" else law_for(kind, vote, n_blocks, rho)
        if (law is None and kind != "majority") or (vote == "soft" and not soft.size):
            continue
        for n_partitions in _numbers_up_to(votes.shape[-1]):
            used = (soft if vote == "soft" else votes)[..., :n_partitions]
            if kind == "majority":
                scores = majority_scores(used, n_blocks)
            elif vote == "soft":
                scores = law.at(used).mean(axis=-1)
            else:
                scores = hard_scores(used, law)
            yield {
                "T": n_blocks,
                "partitions": n_partitions,
                "law": kind,
                "vote": vote,
                "width": None if law is None else law.width,
                **against(scores, singles, y),
            }


def _numbers_up_to(most):
    return [j for j in (1, 2, 3, 4, 6, 8, 12, 16) if j < most] + [most]


def plan_cells(table, model, sizes, options):
    """List what is to be trained: (name of cell, function), single fits first."""
    work = []
    for size in sizes:
        n = len(table.rest) // 2 if size is None else size
        reference = VARIANTS.get(model, model)
        for pair in range(options.pairs):
            name = (table.name, reference, n, "single", pair)
            args = (table, reference, n, pair)
            work.append((name, lambda args=args: single_of_pair(*args)))
        for n_blocks in options.blocks:
            if n // n_blocks < MIN_ROWS:
                continue
            n_partitions = max(1, min(MAX_PARTITIONS, options.fits // n_blocks))
            for pair in range(options.pairs):
                name = (table.name, model, n, n_blocks, n_partitions, pair)
                args = (table, model, n, n_blocks, n_partitions, pair, options.soft)
                work.append((name, lambda args=args: votes_of_pair(*args)))
    return work


def computed_votes(cells, name, singles):
    """Find the cells with the most partitions, each beside the single fit of its pair."""
    for n_partitions in range(MAX_PARTITIONS, 0, -1):
        pairs = [
            (cells.get(*name, n_partitions, pair), single) for pair, single in enumerate(singles)
        ]
        pairs = [(votes, single) for votes, single in pairs if votes is not None]
        if pairs:
            return pairs
    return []


def report_one(cells, table, model, size, options):
    """Judge what has been computed for one file, model and size; the single fit comes first."""
    n = len(table.rest) // 2 if size is None else size
    y = table.y[table.test]
    reference = VARIANTS.get(model, model)
    singles = [cells.get(table.name, reference, n, "single", p) for p in range(options.pairs)]
    singles = [single for single in singles if single is not None]
    if not singles:
        return []
    lines = []
    for n_blocks in options.blocks:
        pairs = computed_votes(cells, (table.name, model, n, n_blocks), singles)
        if pairs:
            votes, beside = zip(*pairs, strict=True)
            lines += judge(votes, np.array(beside, dtype=float), y, n_blocks, options.rho)
    if not lines:
        return []
    single = measure(np.array(singles, dtype=float), y)
    head = {"data": table.name, "model": model, "n": n, "rho": options.rho}
    return [head | {**single, "ratio": 1.0}, *[head | line for line in lines]]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_arguments(parser, "adult")
    parser.add_argument("--models", default="logreg")
    parser.add_argument("--blocks", default="18,24,32,48,64,96,128,192")
    parser.add_argument("--fits", type=int, default=384, help="base learners per number of blocks")
    parser.add_argument("--sizes", default="all", help="rows per sample: 5000,10000,all")
    parser.add_argument("--soft", action="store_true", help="judge soft votes, too")
    parser.add_argument("--rho", type=float, default=0.1)
    parser.add_argument("--pairs", type=int, default=3)
    add_report_arguments(parser, "frontier")
    parser.add_argument("--picture", type=Path)
    options = parse(parser)
    options.blocks = [int(blocks) for blocks in options.blocks.split(",")]
    return options


def main():
    options = parse_options()
    warnings.filterwarnings("ignore", message="Found unknown categories")
    warnings.filterwarnings("ignore", message="Bins whose width are too small")
    cells = Cells(options.out.with_suffix(".cells"))
    sizes = [None if size == "all" else int(size) for size in options.sizes.split(",")]
    records = []
    for name in options.sets.split(","):
        table = load(options, name)
        for model in options.models.split(","):
            for cell, work in (
                () if options.only_report else plan_cells(table, model, sizes, options)
            ):
                cells.compute(cell, work)
            for size in sizes:
                records += report_one(cells, table, model, size, options)
    write_report(options, {options.section: records})
    if options.picture:
        draw(records, options.picture)


if __name__ == "__main__":
    main()
