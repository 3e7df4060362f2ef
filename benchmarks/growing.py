"""Does the gap to a single fit close with more rows? What blocks lose, what thresholds lose.

    python benchmarks/growing.py --data DIR [--sets adult] [--models boosting] [--blocks 75,sqrt]

The gap has two parts: the plain majority of the blocks against the single fit (what learning from
small blocks loses), and the certified rule against that majority (what the random thresholds
lose). The number of blocks is fixed, or grows like the root of n. One partition: more of them do
not change the accuracy. An interrupted run continues.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings
from pathlib import Path

import numpy as np
from _base_learners import VARIANTS
from _block_votes import hard_scores, law_for, majority_scores, single_of_pair, votes_of_pair
from _cells import Cells, add_report_arguments, markdown_table, write_report
from _data import add_data_arguments, load, parse
from _growing_picture import PARTS, draw
from _measures import gain, measure

RHO = 0.1
ROOT = "sqrt"
BLOCKS_AT, ROWS_AT = 75, 10_000
"""The growing number of blocks meets the fixed one at this sample size."""

HEADER = (
    "data, learner in the blocks",
    "n",
    "T",
    "rows in a block",
    "single boosting",
    "ours",
    "gap",
    "lost by blocks",
    "lost by thresholds",
    "gap to own single fit",
    "flips / single fit's",
    "pairs",
)


def number_of_blocks(rule, n):
    return round(BLOCKS_AT * (n / ROWS_AT) ** 0.5) if rule == ROOT else int(rule)


def sample_sizes(table, options):
    """The sizes asked for; the file's largest stands for all that are too large."""
    largest = len(table.rest) // 2
    return list(dict.fromkeys(min(size, largest) for size in options.sizes))


def compute(cells, table, model, n, n_blocks, options):
    """Train what is not there yet; return votes, single fits, and the learner's own single fits."""
    pairs = []
    for pair in range(options.pairs):
        work = {
            (table.name, model, n, n_blocks, 1, pair): (
                lambda pair=pair: votes_of_pair(table, model, n, n_blocks, 1, pair)["votes"]
            ),
        }
        for fitted in (VARIANTS.get(model, model), model):
            work[table.name, fitted, n, "single", pair] = lambda pair=pair, fitted=fitted: (
                single_of_pair(table, fitted, n, pair)
            )
        found = {
            name: cells.get(*name) if options.only_report else cells.compute(name, train)
            for name, train in work.items()
        }
        if None not in found.values():
            in_blocks, *fits = found.values()
            pairs.append((in_blocks, fits[0], fits[-1]))
    votes, singles, own = zip(*pairs, strict=True) if pairs else ((), (), ())
    return np.array(votes), np.array(singles, dtype=float), np.array(own, dtype=float)


def parts_of_gap(votes, singles, own, y, n_blocks, rho):
    """The gap of the certified rule to the single fit, and its two parts, with standard errors.

    The single fit is default boosting, whatever learns in the blocks; ``own`` are single fits of
    the learner in the blocks.
    """
    law = law_for("arcsine", "hard", n_blocks, rho)
    ours, majority = hard_scores(votes, law), majority_scores(votes, n_blocks)
    judged, single = measure(ours, y), measure(singles, y)
    return {
        "pairs": len(votes),
        "single": single["accuracy"],
        "ours": judged["accuracy"],
        "gap": gain(ours, singles, y),
        "blocks": gain(majority, singles, y),
        "thresholds": gain(ours, majority, y),
        "own gap": gain(ours, own, y),
        "ratio": judged["flips"] / single["flips"],
    }


def measure_all(cells, options):
    lines = []
    for name in options.sets.split(","):
        table = load(options, name)
        for model in options.models.split(","):
            for rule in options.blocks.split(","):
                for n in sample_sizes(table, options):
                    n_blocks = number_of_blocks(rule, n)
                    fitted = compute(cells, table, model, n, n_blocks, options)
                    if len(fitted[0]):
                        y = table.y[table.test]
                        found = parts_of_gap(*fitted, y, n_blocks, RHO)
                        head = {"data": name, "model": model, "rule": rule, "n": n, "T": n_blocks}
                        lines.append({**head, **found})
    return lines


def table_of(lines):
    """One line per setting; a setting that two rules share stands once."""
    seen = {}
    for s in lines:
        seen[s["data"], s["model"], s["n"], s["T"]] = [
            f"{s['data']}, {s['model']}",
            f"{s['n']:,}",
            s["T"],
            f"{s['n'] // s['T']:,}",
            f"{100 * s['single']:.2f}",
            f"{100 * s['ours']:.2f}",
            *[_points(*s[part]) for part in PARTS],
            f"{s['ratio']:.2f}",
            s["pairs"],
        ]
    return markdown_table(HEADER, list(seen.values()))


def _points(difference, error):
    return f"{100 * difference:+.2f} ± {100 * error:.2f}"


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_arguments(parser, "adult")
    parser.add_argument("--models", default="boosting")
    parser.add_argument("--blocks", default=f"{BLOCKS_AT},{ROOT}", help=f"numbers, or {ROOT}")
    parser.add_argument("--sizes", default="2500,10000,40000,160000", help="rows per sample")
    parser.add_argument("--pairs", type=int, default=2)
    add_report_arguments(parser, "growing")
    parser.add_argument("--picture", type=Path)
    options = parse(parser)
    options.sizes = [int(size) for size in options.sizes.split(",")]
    return options


def main():
    options = parse_options()
    warnings.filterwarnings("ignore", message="Found unknown categories")
    warnings.filterwarnings("ignore", message="Bins whose width are too small")
    lines = measure_all(Cells(options.out.with_suffix(".cells")), options)
    write_report(options, lines, table_of(lines))
    if options.picture:
        draw(lines, options.picture)


if __name__ == "__main__":
    main()
