"""Flips and accuracy on real data: single fit, bagging, block majority, literal paper, defaults.

    python benchmarks/real_data.py --data DIR [--sets adult,compas] [--models logreg,tree]

For each data set the test rows are fixed; the other rows are cut into two disjoint halves, again
and again (pairs). Each contender learns from both halves with one shared key, and a test row flips
if the two answers differ. An interrupted run continues where it stopped.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import warnings

import numpy as np
from _base_learners import MODELS, base_estimator
from _cells import Cells
from _contenders import (
    CONSTANT,
    CONTENDERS,
    PLAIN_MEAN,
    ROWS,
    Half,
    constant_answer,
    plain_mean,
)
from _data import (
    SETS,
    add_data_arguments,
    disjoint_samples,
    load,
    parse,
)
from _measures import against, probability_measures, tail
from _page_tables import LARGE, SCORE, TAIL_FACTOR
from _tables import grouped
from pages import add_report_arguments, all_records, write_report

TAIL_PAIRS = 12
"""Cells with fewer pairs say nothing about the rows that flip most."""


def rows_per_half(table, largest):
    half = len(table.rest) // 2
    return half if largest is None else min(half, largest)


def run_pair(table, model, contender, pair, largest=None):
    """Let one contender learn from both halves; return its outcomes for both."""
    base = base_estimator(model, table, seed=pair)
    outcomes = {}
    for rows in disjoint_samples(table, 2, pair, rows_per_half(table, largest)):
        half = Half(table.X[rows], table.y[rows], table.X[table.test], f"benchmark {pair}")
        for name, outcome in CONTENDERS[contender](base, half).items():
            outcomes.setdefault(name, []).append(outcome.as_json())
    return outcomes


def scores_of(pairs):
    return np.array([[half["scores"] for half in pair] for pair in pairs])


def summarise(pairs, single, y):
    """Judge the outcomes of some pairs, beside those of the single fit on the same pairs."""
    any_half = pairs[0][0]
    return {
        **against(scores_of(pairs), scores_of(single), y),
        **probability_measures(pairs, y),
        "seconds": np.mean([half["seconds"] for pair in pairs for half in pair]),
        **{key: any_half[key] for key in ("rho", "limit", "blocks")},
    }


def collect(cells, table, model, n_pairs):
    """Gather the computed cells of one data set and model into one summary per contender.

    Only pairs that the single fit and every replicable contender have finished count; bagging,
    which takes longest, may have fewer, and is compared with the single fit on its own.
    """
    y = table.y[table.test]
    found = {}
    for contender in CONTENDERS:
        for pair in range(n_pairs):
            outcomes = cells.get(table.name, model, contender, pair) or {}
            for name, halves in outcomes.items():
                found.setdefault(name, {})[pair] = halves
    if ROWS[0] not in found:
        return {}
    if SCORE[0] in found:  # what its models say without thresholds: the part that blocks lose
        found[PLAIN_MEAN] = {
            p: [plain_mean(half) for half in pair] for p, pair in found[SCORE[0]].items()
        }
    found[CONSTANT] = {p: [constant_answer(y)] * 2 for p in found[ROWS[0]]}
    needed = [set(pairs) for name, pairs in found.items() if not name.startswith("bagging")]
    shared = set.intersection(*needed)
    summary = {}
    for name in (name for name in ROWS if name in found):
        pairs = sorted(shared & set(found[name]))
        single = [found[ROWS[0]][pair] for pair in pairs]
        if pairs:
            summary[name] = summarise([found[name][pair] for pair in pairs], single, y)
    bagging = summary.get("bagging, 24", summary.get("bagging, 5"))
    if bagging is not None and SCORE[0] in summary:
        summary[SCORE[0]]["to_bagging"] = summary[SCORE[0]]["ratio"] / max(bagging["ratio"], 1e-9)
    return summary


def records_of(cells, tables, models, options):
    """Return one record per file, estimator and contender."""
    records = []
    for model in models:
        for table in tables:
            summary = collect(cells, table, model, options.pairs)
            n = rows_per_half(table, options.rows)
            size = {"n": n, "test_rows": len(table.test)}
            for name, found in summary.items():
                records.append(
                    {"data": table.name, "model": model, "contender": name} | size | found
                )
    return records


def means_of(records):
    """Average the score thresholds over the larger files; flips are relative to single fits'."""
    large = [one for one in records if one["n"] >= LARGE]
    single = {(one["data"], one["model"]): one for one in large if one["contender"] == ROWS[0]}
    means = []
    for (model, name), found in grouped(large, "model", "contender").items():
        if name in SCORE:
            beside = [single.get((one["data"], model), {}).get("flips") for one in found]
            known = None not in beside
            means.append(
                {
                    **{"data": "all files", "model": model, "contender": name},
                    "gain": np.mean([one["gain"] for one in found]),
                    "ratio": sum(one["flips"] for one in found) / sum(beside) if known else None,
                }
            )
    return means


def tails_of(cells, tables, models):
    """Return how often the rows flip that flip most, where there are many pairs."""
    records = []
    for model in models:
        for table in tables:
            for contender, name in zip(("score", "score_loose"), SCORE, strict=True):
                pairs = [cells.get(table.name, model, contender, pair) for pair in range(99)]
                pairs = [pair for pair in pairs if pair is not None]
                if len(pairs) < TAIL_PAIRS:
                    continue
                rho = pairs[0][name][0]["rho"]
                found = tail(scores_of([pair[name] for pair in pairs]), TAIL_FACTOR * rho)
                head = {"data": table.name, "model": model, "contender": name, "rho": rho}
                records.append(head | found)
    return records


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    add_data_arguments(parser, ",".join(SETS))
    parser.add_argument("--models", default=",".join(MODELS))
    usual = [name for name in CONTENDERS if not name.endswith("_prevalence")]
    parser.add_argument("--contenders", default=",".join(usual))
    parser.add_argument("--pairs", type=int, default=5)
    add_report_arguments(parser, "real_data")
    options = parse(parser)
    # A category that a block has not seen is what the benchmark is about, not a mistake.
    warnings.filterwarnings("ignore", message="Found unknown categories")
    cells = Cells(options.out.with_suffix(".cells"))
    tables = [load(options, name) for name in options.sets.split(",")]
    models = options.models.split(",")
    # What matters most comes first: cheap contenders of all sets before bagging with T full fits.
    cheap = [c for c in options.contenders.split(",") if not c.startswith("bagging")]
    costly = [c for c in options.contenders.split(",") if c.startswith("bagging")]
    for group in () if options.only_report else (cheap, costly):
        for model in models:
            for table in tables:
                for pair in range(options.pairs):
                    for contender in group:
                        cells.compute(
                            (table.name, model, contender, pair),
                            lambda t=table, m=model, c=contender, p=pair: run_pair(
                                t, m, c, p, options.rows
                            ),
                        )
    records = records_of(cells, tables, models, options)
    sections = {options.section: records}
    if any(one["contender"] in SCORE for one in records):
        merged = all_records(options, options.section, records)
        sections[f"{options.section}_means"] = means_of(merged)
        sections[f"{options.section}_tails"] = tails_of(cells, tables, models)
    write_report(options, sections)


if __name__ == "__main__":
    main()
