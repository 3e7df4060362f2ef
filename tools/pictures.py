"""Pictures of the guides, drawn by the library itself: ``python tools/pictures.py [NAME ...]``.

Each function draws one file of ``docs/images``, from the numbers that the guide of that name shows
or computes. ``make pictures`` draws all of them.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import precision_score, recall_score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from replearn import PointwiseReplicableRegressor, audit, compare, plan
from replearn.auditing import (
    AccuracyFlipsDisplay,
    InstabilityDisplay,
    NewRowsDisplay,
    UpdateDisplay,
)
from tools import picture_diagrams, picture_labs  # noqa: F401  they register their pictures
from tools.picture_base import (
    AFTER,
    BEFORE,
    IMAGES,
    LOW,
    NARROW,
    PICTURES,
    QUIET,
    TALL,
    old_and_new,
    people,
    picture,
    scaled_regression,
    table_of,
)


@picture
def classifier() -> Any:
    """Two vote shares of one person, and the thresholds for which two labs differ."""
    made = plan(n=9000, rho=0.1)
    law = made.law
    share = np.arange(law.n_blocks + 1) / law.n_blocks
    figure, ax = plt.subplots(figsize=NARROW)
    ax.step(share, law.probabilities, color="0.2", where="post")
    labs = {"lab A": 38, "lab B": 47}
    values = []
    for (name, votes), colour in zip(labs.items(), (BEFORE, AFTER), strict=True):
        value = float(law.probabilities[votes])
        values.append(value)
        ax.plot([share[votes]] * 2, [0, value], color=colour, lw=1)
        ax.plot([0, share[votes]], [value] * 2, color=colour, lw=1)
        ax.plot(share[votes], value, "o", color=colour, label=f"{name}: {votes} of {law.n_blocks}")
    ax.axhspan(min(values), max(values), color="0.88", zorder=0)
    words = "thresholds for which\nthe labs differ"
    ax.annotate(words, (0.02, sum(values) / 2), va="center", fontsize=9)
    ax.set(
        xlabel="share of the blocks that vote for class 1",
        ylabel="keyed threshold, as a probability",
        xlim=(0, 1),
        ylim=(0, 1),
    )
    ax.legend(loc="lower right", title="one person, two samples", fontsize=9)
    return figure


@picture
def plan_sizes() -> Any:
    """Rows that a promise needs, for blocks of several sizes."""
    figure, ax = plt.subplots(figsize=NARROW)
    rho = np.array([0.03, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3])
    for block_size, colour in ((25, "0.7"), (100, "0.4"), (400, "0.1")):
        rows = [plan(rho=float(value), block_size=block_size).n for value in rho]
        ax.plot(rho, rows, "o-", ms=4, color=colour, label=f"blocks of {block_size} rows")
    ax.set(xscale="log", yscale="log", xlabel="rho", ylabel="rows that are needed")
    ax.set_xticks([0.03, 0.05, 0.1, 0.2, 0.3], ["0.03", "0.05", "0.1", "0.2", "0.3"])
    ax.minorticks_off()
    ax.legend(fontsize=9)
    return figure


@picture
def rare_classes() -> Any:
    """What a decision threshold finds, and how many predictions change, with 6 % positives."""
    X, y = make_classification(32_000, weights=[0.94], flip_y=0.03, class_sep=0.8, random_state=0)
    samples = [slice(start, start + 1500) for start in range(0, 30_000, 1500)]
    models = [LogisticRegression().fit(X[rows], y[rows]) for rows in samples]
    scores = np.array([model.predict_proba(X[30_000:])[:, 1] for model in models])
    truth = y[30_000:]
    thresholds = np.geomspace(0.02, 0.6, 25)
    found: dict[str, list[float]] = {"recall": [], "precision": [], "changed predictions": []}
    for threshold in thresholds:
        labels = scores >= threshold
        found["recall"].append(np.mean([recall_score(truth, one) for one in labels]))
        precision = [precision_score(truth, one, zero_division=0) for one in labels]
        found["precision"].append(np.mean(precision))
        share = labels.mean(axis=0)
        found["changed predictions"].append(np.mean(2 * share * (1 - share)))
    figure, (top, bottom) = plt.subplots(2, 1, figsize=TALL)
    top.plot(thresholds, found["recall"], color=AFTER, label="recall of the rare class")
    top.plot(thresholds, found["precision"], color=QUIET, label="precision")
    top.set_ylim(0, 1)
    top.legend(fontsize=9)
    bottom.plot(thresholds, found["changed predictions"], color=BEFORE)
    bottom.set_ylim(0, None)
    bottom.yaxis.set_major_formatter(mpl.ticker.PercentFormatter(1))
    bottom.set_title("predictions that change per retraining", fontsize=10)
    for ax in (top, bottom):
        ax.axvline(0.5, color="0.8", ls=":", zorder=0)
        ax.set(xlabel="decision threshold", xscale="log")
        ax.set_xticks([0.02, 0.06, 0.1, 0.2, 0.5], ["0.02", "0.06", "0.1", "0.2", "0.5"])
        ax.minorticks_off()
    return figure


@picture
def small_samples() -> Any:
    """The table of the guide: flips against balanced accuracy, from few rows to many."""
    figure, panels = plt.subplots(2, 1, figsize=TALL, sharex=True)
    rows = table_of("guide/small-samples.md", "| rows | contender |")
    colours = {"single fit": "0.3", "score, rho 0.1": "tab:red", "score, rho 0.2": "tab:orange"}
    for ax, column, name in zip(panels, (3, 5), ("credit default", "Adult"), strict=True):
        for contender in dict.fromkeys(row[1] for row in rows):
            lines = [row for row in rows if row[1] == contender]
            flips = [float(line[column].rstrip(" %")) for line in lines]
            useful = [float(line[column + 1].rstrip(" %")) for line in lines]
            colour = colours.get(contender, AFTER)
            ax.plot(flips, useful, "-", color=colour, lw=1, alpha=0.6)
            ax.scatter(flips, useful, [12, 36, 80], color=colour, label=contender)
        ax.set(title=name, ylabel="balanced accuracy (%)", xlim=(0, None))
    panels[1].set_xlabel("changed predictions (%)")
    panels[1].legend(fontsize=9, title="833, 3,000, 9,000 rows", title_fontsize=9)
    return figure


@picture
def time_order() -> Any:
    """Changed predictions in time order among those of nineteen random orders."""
    X, y = people()
    day = np.arange(len(X)) // 10
    moved = X + np.outer(day / 30, [1, 0, 0, 0])
    run = {"contenders": ["baseline"], "n_pairs": 2, "sources": False}
    figure, ax = plt.subplots(figsize=LOW)
    for height, (name, table) in enumerate({"drift": moved, "no drift": X}.items()):
        rates = audit(scaled_regression(), table, y, time=day, **run).in_time_order.rates
        ax.plot(rates[1:], np.full(len(rates) - 1, height), "|", ms=16, color=QUIET)
        ax.plot(rates[0], height, "o", color=BEFORE)
        ax.text(0.0003, height + 0.25, name, fontsize=10)
    ax.plot([], [], "|", ms=12, color=QUIET, label="random orders of the rows")
    ax.plot([], [], "o", color=BEFORE, label="time order")
    ax.set(xlabel="predictions that change per retraining", yticks=[], ylim=(-0.5, 1.6))
    ax.set_xlim(0, None)
    ax.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1, decimals=1))
    ax.legend(fontsize=9, loc="center right")
    return figure


@picture
def sources_of_change() -> Any:
    """What changes with another seed or order, and with a share of new rows."""
    X, y = people()
    forest = RandomForestClassifier(20, max_depth=4)
    run = {"contenders": ["baseline"], "n_pairs": 6, "shared_key": "trial-2026"}
    result = audit(forest, X, y, new_rows=[0.01, 0.1, 0.5, 1.0], sources=False, **run)
    sources = audit(forest, X, y, sources=True, **run)
    figure, (top, bottom) = plt.subplots(2, 1, figsize=TALL)
    names = {"seed": "seed", "row order": "order of rows", "column order": "order of columns"}
    rates = [sources.source_rate(name).value for name in names]
    rates.append(sources.flip_rate("baseline").value)
    top.barh([*names.values(), "all rows are new"], rates, color=[QUIET] * len(names) + [BEFORE])
    top.invert_yaxis()
    top.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1, decimals=0))
    top.set_title("what differs", fontsize=10)
    NewRowsDisplay.from_result(result).plot(bottom)
    bottom.legend(loc="lower left")
    return figure


@picture
def instability_plots() -> Any:
    """Two of the five clinical plots, for one model and 40 retrainings."""
    X, y = people()
    rng = np.random.default_rng(1)
    model = scaled_regression()
    samples = [rng.integers(0, 400, 400) for _ in range(40)]
    retrained = [clone(model).fit(X[rows], y[rows]) for rows in samples]
    original = clone(model).fit(X[:400], y[:400])
    figure, panels = plt.subplots(2, 1, figsize=TALL)
    for ax, kind in zip(panels, ("prediction", "classification"), strict=True):
        display = InstabilityDisplay.from_models(
            original, retrained, X[2000:2300], y[2000:2300], kind=kind
        )
        display.plot(ax)
    return figure


@picture
def regression() -> Any:
    """Predictions of two labs for the same people, plain and on a shared grid."""
    rng = np.random.default_rng(0)
    X = rng.random((20_300, 3))
    y = np.clip(10 * X[:, 0] + rng.normal(size=len(X)), 0, 12)
    new = X[20_000:]
    settings = {"rho": 0.2, "resolution": 3.0, "y_range": (0, 12), "shared_key": "trial"}
    halves = [(X[:10_000], y[:10_000]), (X[10_000:20_000], y[10_000:20_000])]
    tree = DecisionTreeRegressor(min_samples_leaf=10)
    wrapped = PointwiseReplicableRegressor(tree, **settings)
    plain = [clone(tree).fit(*half).predict(new) for half in halves]
    shared = [clone(wrapped).fit(*half).predict(new) for half in halves]
    figure, panels = plt.subplots(1, 2, figsize=(5.4, 3.0), sharex=True, sharey=True)
    titles = ("a tree in each lab", "the same tree, wrapped")
    for ax, (one, two), title in zip(panels, (plain, shared), titles, strict=True):
        same = one == two
        ax.plot(one[~same], two[~same], ".", color=BEFORE, ms=4)
        ax.plot(one[same], two[same], ".", color=AFTER, ms=4)
        ax.set_title(f"{title}:\n{same.mean():.0%} identical", fontsize=10)
        ax.set(xlabel="lab A", aspect="equal")
    panels[0].set_ylabel("lab B")
    return figure


@picture
def audit_contenders() -> Any:
    """Accuracy against changed predictions of the contenders of an audit."""
    X, y = make_classification(6000, 10, n_informative=5, flip_y=0.2, random_state=0)
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    result = audit(tree, X, y, n_pairs=8, sources=False, shared_key="clinic-7")
    figure, ax = plt.subplots(figsize=NARROW)
    AccuracyFlipsDisplay.from_result(result).plot(ax)
    return figure


@picture
def update_page() -> Any:
    """Two pictures of the page: calibration of both models, and how scores move."""
    found = compare(*old_and_new())
    figure, panels = plt.subplots(2, 1, figsize=TALL)
    for ax, kind in zip(panels, ("scores", "calibration"), strict=True):
        UpdateDisplay.from_comparison(found, kind=kind).plot(ax)
    return figure


@picture
def replicable_choice() -> Any:
    """Rows that the same choice needs, by the number of candidates."""
    candidates = np.unique(np.geomspace(2, 10**6, 13).astype(int))
    figure, ax = plt.subplots(figsize=NARROW)
    for rho, colour in ((0.2, "0.7"), (0.1, "0.4"), (0.05, "0.1")):
        targets = {"rho": rho, "alpha": 0.1, "beta": 0.05}
        rows = [plan("selection", n_hypotheses=int(m), **targets).n for m in candidates]
        ax.plot(candidates, rows, "o-", ms=3, color=colour, label=f"rho = {rho}")
    ax.set(xscale="log", yscale="log", xlabel="candidates", ylabel="rows that are needed")
    ax.legend(fontsize=9)
    return figure


def main(names: list[str], folder: Path) -> None:
    """Draw pictures into a folder."""
    mpl.rcParams["svg.hashsalt"] = "replicable-learn"  # the same file for the same picture
    mpl.rcParams["svg.fonttype"] = "none"
    for name in names:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # samples are small on purpose
            figure = PICTURES[name]()
        figure.tight_layout()
        path = folder / f"{name}.svg"
        figure.savefig(path, metadata={"Date": None})
        plt.close(figure)
        print(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*PICTURES, []], help="all if none is given")
    parser.add_argument("--folder", type=Path, default=IMAGES)
    options = parser.parse_args()
    main(options.names or list(PICTURES), options.folder)
