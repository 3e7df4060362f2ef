"""One pair on each of several draws of the test rows: means, and their errors between draws.

    python benchmarks/draws.py --data DIR --sets adult --models logreg --draws 31-35,61-65

A single draw of test rows and halves says little; settings chosen on some draws are confirmed on
others. Groups of draws are averaged apart and together. An interrupted run continues.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from _cells import Cells, machine, markdown_table, put_into_page
from _data import add_data_arguments, load, parse
from real_data import run_pair, summarise

CONTENDERS = {
    "single": "single fit",
    "defaults": "our defaults",
    "literal": "literal paper",
}
HEADER = (
    "draw",
    "single fit flips",
    "our defaults flip",
    "ratio",
    "against single",
    "99 % row",
    "literal: ratio",
    "literal: against single",
)


def draws_of(text):
    """Read ``31-35,61-65`` as two groups of five draws."""
    groups = {}
    for part in text.split(","):
        first, _, last = part.partition("-")
        groups[part] = list(range(int(first), int(last or first) + 1))
    return groups


def judge(cells, options, name, model, draw):
    """Compute what is missing of one draw; return the summaries of ours and the literal paper."""
    options.test_draw = draw
    table = load(options, name)
    found = {}
    for contender, row in CONTENDERS.items():
        label = (name, model, contender, f"draw{draw}")
        if not options.only_report:
            cells.compute(label, lambda c=contender: run_pair(table, model, c, 0))
        cell = cells.get(*label)
        if cell is None:
            return None
        found[row] = [cell[row]]
    single, y = found["single fit"], table.y[table.test]
    return {row: summarise(pairs, single, y) for row, pairs in found.items()}


def line_of(draw, summaries):
    single, ours, literal = (summaries[row] for row in CONTENDERS.values())
    return [
        draw,
        f"{100 * single['flips']:.2f} %",
        f"{100 * ours['flips']:.2f} %",
        f"{ours['ratio']:.2f}",
        f"{100 * ours['gain']:+.2f} ± {100 * ours['gain_error']:.2f}",
        f"{ours['flips_99']:.3f}",
        f"{literal['ratio']:.2f}",
        f"{100 * literal['gain']:+.2f} ± {100 * literal['gain_error']:.2f}",
    ]


def mean_line(name, found):
    """Average over draws, with the standard errors between draws."""

    def mean(row, key, scale, form):
        values = scale * np.array([summaries[row][key] for summaries in found])
        error = values.std(ddof=1) / np.sqrt(len(values))
        return f"{values.mean():{form}} ± {error:.2f}"

    single, ours, literal = CONTENDERS.values()
    return [
        f"mean of {len(found)}, {name}",
        mean(single, "flips", 100, ".2f") + " %",
        mean(ours, "flips", 100, ".2f") + " %",
        mean(ours, "ratio", 1, ".2f"),
        mean(ours, "gain", 100, "+.2f"),
        "",
        mean(literal, "ratio", 1, ".2f"),
        mean(literal, "gain", 100, "+.2f"),
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_arguments(parser, "adult")
    parser.add_argument("--models", default="logreg")
    parser.add_argument("--draws", default="31-35,61-65", help="draws of the test rows, in groups")
    parser.add_argument("--out", type=Path, default=Path("draws.json"))
    parser.add_argument("--page", type=Path, help="write the tables into this page's section")
    parser.add_argument("--only-report", action="store_true", help="compute nothing new")
    options = parse(parser)
    warnings.filterwarnings("ignore", message="Found unknown categories")
    cells = Cells(options.out.with_suffix(".cells"))
    parts, results = [machine() + "."], {}
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
    text = "\n\n".join(parts)
    options.out.write_text(json.dumps({"machine": machine(), "results": results}, indent=1))
    print(text)
    if options.page:
        put_into_page(options.page, "draws", text)


if __name__ == "__main__":
    main()
