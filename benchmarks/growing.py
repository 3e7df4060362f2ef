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
from _cells import Cells
from _data import add_data_arguments, load, parse
from _growing_picture import BLOCKS_AT, ROOT, draw, number_of_blocks
from _measures import gain, measure
from pages import add_report_arguments, write_report

RHO = 0.1


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
    parts = {
        "gap": gain(ours, singles, y),
        "blocks": gain(majority, singles, y),
        "thresholds": gain(ours, majority, y),
        "own_gap": gain(ours, own, y),
    }
    return {
        "pairs": len(votes),
        "single": single["accuracy"],
        "ours": judged["accuracy"],
        **{name: difference for name, (difference, _) in parts.items()},
        **{f"{name}_error": error for name, (_, error) in parts.items()},
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
                        head = {"data": name, "model": model, "n": n, "T": n_blocks}
                        lines.append({**head, **found})
    return lines


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
    write_report(options, {options.section: lines})
    if options.picture:
        draw(lines, options.picture)


if __name__ == "__main__":
    main()
