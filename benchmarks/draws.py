"""One pair on each of several draws of the test rows: means, and their errors between draws.

    python benchmarks/draws.py --data DIR --sets adult --models logreg --draws 71-90,91-110

A single draw of test rows and halves says little; settings chosen on some draws are confirmed on
others. Groups of draws are averaged apart and together. The last column says which share of the
flips the 3 % of rows hold that looked least stable to one of the two fits. An interrupted run
continues.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings

import numpy as np
from _calibration import compare, share_of_flips
from _cells import Cells, add_report_arguments, markdown_table, write_report
from _data import add_data_arguments, load, parse
from _measures import against
from real_data import run_pair, scores_of
from reliability import fit_samples

from replearn.bounds import ThresholdLaw

OTHERS = {"single": "single fit", "literal": "literal paper"}
THRESHOLDS = 20
"""Draws of the thresholds, for the flips that one fit foresees."""

HEADER = (
    "draw",
    "single fit flips",
    "our defaults flip",
    "ratio",
    "against single",
    "99 % row",
    "literal: ratio",
    "literal: against single",
    "flips in 3 %",
)


def draws_of(text):
    """Read ``31-35,61-65`` as two groups of five draws."""
    groups = {}
    for part in text.split(","):
        first, _, last = part.partition("-")
        groups[part] = list(range(int(first), int(last or first) + 1))
    return groups


def judge(cells, options, name, model, draw):
    """Compute what is missing of one draw; return summaries of single fit, ours and literal."""
    options.test_draw = draw
    table = load(options, name)
    work = {c: lambda c=c: run_pair(table, model, c, 0) for c in OTHERS}
    work["votes"] = lambda: fit_samples(table, model, 2, 0)
    found = {}
    for contender, compute in work.items():
        label = (name, model, contender, f"draw{draw}")
        found[contender] = (
            cells.get(*label) if options.only_report else cells.compute(label, compute)
        )
    if None in found.values():
        return None
    y = table.y[table.test]
    scores = {c: scores_of([found[c][row]]) for c, row in OTHERS.items()}
    votes = found["votes"]
    law = ThresholdLaw.from_dict(votes["law"])
    scores["ours"] = law.probabilities[np.array(votes["votes"])].mean(axis=2)[np.newaxis]
    summaries = {c: against(of_pair, scores["single"], y) for c, of_pair in scores.items()}
    comparisons = list(compare(votes, draw, THRESHOLDS, limits=False))
    summaries["ours"]["share"], _ = share_of_flips(comparisons)
    return summaries


def line_of(draw, summaries):
    single, ours, literal = (summaries[row] for row in ("single", "ours", "literal"))
    return [
        draw,
        f"{100 * single['flips']:.2f} %",
        f"{100 * ours['flips']:.2f} %",
        f"{ours['ratio']:.2f}",
        f"{100 * ours['gain']:+.2f} ± {100 * ours['gain_error']:.2f}",
        f"{ours['flips_99']:.3f}",
        f"{literal['ratio']:.2f}",
        f"{100 * literal['gain']:+.2f} ± {100 * literal['gain_error']:.2f}",
        f"{100 * ours['share']:.0f} %",
    ]


def mean_line(name, found):
    """Average over draws, with the standard errors between draws."""

    def mean(row, key, scale, form):
        values = scale * np.array([summaries[row][key] for summaries in found])
        error = values.std(ddof=1) / np.sqrt(len(values))
        return f"{values.mean():{form}} ± {error:.2f}"

    return [
        f"mean of {len(found)}, {name}",
        mean("single", "flips", 100, ".2f") + " %",
        mean("ours", "flips", 100, ".2f") + " %",
        mean("ours", "ratio", 1, ".2f"),
        mean("ours", "gain", 100, "+.2f"),
        "",
        mean("literal", "ratio", 1, ".2f"),
        mean("literal", "gain", 100, "+.2f"),
        mean("ours", "share", 100, ".1f") + " %",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_arguments(parser, "adult")
    parser.add_argument("--models", default="logreg")
    parser.add_argument("--draws", default="71-90,91-110", help="draws of the test rows, in groups")
    add_report_arguments(parser, "draws")
    options = parse(parser)
    warnings.filterwarnings("ignore", message="Found unknown categories")
    cells = Cells(options.out.with_suffix(".cells"))
    parts, results = [], {}
    for name in options.sets.split(","):
        for model in options.models.split(","):
            lines, everything = [], []
            for group, draws in draws_of(options.draws).items():
                found = {d: judge(cells, options, name, model, d) for d in draws}
                found = {d: summaries for d, summaries in found.items() if summaries}
                lines += [line_of(draw, summaries) for draw, summaries in found.items()]
                if len(found) > 1:
                    lines.append(mean_line(group, list(found.values())))
                everything += found.values()
                results |= {f"{name}-{model}-{d}": found[d] for d in found}
            if len(everything) > 1:
                lines.append(mean_line("all", everything))
            parts.append(f"**{name}, {model}**\n\n{markdown_table(HEADER, lines)}")
    write_report(options, results, "\n\n".join(parts))


if __name__ == "__main__":
    main()
