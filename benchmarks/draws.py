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
from _cells import Cells
from _data import add_data_arguments, load, parse
from _measures import against
from _tables import grouped
from pages import add_report_arguments, all_records, write_report
from real_data import run_pair, scores_of
from reliability import fit_samples

from replearn.bounds import ThresholdLaw

OTHERS = {"single": "single fit", "literal": "literal paper"}
AVERAGED = ("single_flips", "flips", "ratio", "gain", "literal_ratio", "literal_gain", "share")
THRESHOLDS = 20
"""Draws of the thresholds, for the flips that one fit foresees."""


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


def record_of(name, model, draw, summaries):
    """Return the numbers of one draw."""
    single, ours, literal = (summaries[row] for row in ("single", "ours", "literal"))
    return {
        "data": name,
        "model": model,
        "draw": draw,
        "single_flips": single["flips"],
        **{key: ours[key] for key in ("flips", "ratio", "gain", "gain_error", "flips_99", "share")},
        **{f"literal_{key}": literal[key] for key in ("ratio", "gain", "gain_error")},
    }


def mean_of(name, found):
    """Average over draws, with the standard errors between draws."""
    mean = {"data": found[0]["data"], "model": found[0]["model"]}
    mean["draws"] = f"mean of {len(found)}, {name}"
    for key in AVERAGED:
        values = np.array([record[key] for record in found])
        mean[key] = values.mean()
        mean[f"{key}_error"] = values.std(ddof=1) / np.sqrt(len(values))
    return mean


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_arguments(parser, "adult")
    parser.add_argument("--models", default="logreg")
    parser.add_argument("--draws", default="71-90,91-110", help="draws of the test rows, in groups")
    add_report_arguments(parser, "draws")
    options = parse(parser)
    warnings.filterwarnings("ignore", message="Found unknown categories")
    cells = Cells(options.out.with_suffix(".cells"))
    records = []
    means = []
    for name in options.sets.split(","):
        for model in options.models.split(","):
            for group, draws in draws_of(options.draws).items():
                judged = {draw: judge(cells, options, name, model, draw) for draw in draws}
                found = [record_of(name, model, d, s) for d, s in judged.items() if s is not None]
                records += found
                if len(found) > 1:
                    means.append(mean_of(group, found))
    merged = all_records(options, options.section, records)
    means += [mean_of("all", found) for found in grouped(merged, "data", "model").values()]
    write_report(options, {options.section: records, "draw_means": means})


if __name__ == "__main__":
    main()
