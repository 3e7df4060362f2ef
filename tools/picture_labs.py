"""Pictures of measurements and rules: two labs, choices, gates and verdicts."""

from __future__ import annotations

import datetime as dt
import itertools
import json
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from replearn import (
    DecisionThresholdClassifier,
    IncumbentClassifier,
    PointwiseReplicableClassifier,
    SharedKey,
    audit,
    compare,
)
from replearn.auditing import AccuracyFlipsDisplay, flip_gates
from replearn.heavy import find_heavy_hitters
from replearn.hypotheses import (
    Boxes,
    Conjunctions,
    Halfspaces,
    Intervals,
    Stumps,
    Thresholds,
)
from replearn.learners import ApproximatelyReplicableClassifier, SemiReplicableClassifier
from tools.picture_base import (
    AFTER,
    BEFORE,
    DOCS,
    LOW,
    NARROW,
    PERCENT,
    TALL,
    old_and_new,
    people,
    picture,
    scaled_regression,
    table_of,
)


@picture
def comparable_runs() -> Any:
    """Changed predictions of pairs of runs, and what their certificates say."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12_000, 4))
    y = (0.5 * X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    one, two, new = np.split(X, [5000, 10_000])
    shared = {"estimator": LogisticRegression(), "shared_key": "trial", "max_fits": 88}
    lab_a = PointwiseReplicableClassifier(**shared).fit(one, y[:5000])
    others = {
        "nothing": {},
        "number of blocks": {"n_blocks": 20},
        "estimator": {"estimator": DecisionTreeClassifier(max_depth=4)},
        "key": {"shared_key": "other"},
    }
    figure, ax = plt.subplots(figsize=LOW)
    for height, change in enumerate(others.values()):
        lab_b = PointwiseReplicableClassifier(**(shared | change)).fit(two, y[5000:10_000])
        flips = np.mean(lab_a.predict(new) != lab_b.predict(new))
        answer = lab_a.certificate_.comparable(lab_b.certificate_).comparable
        ax.barh(height, flips, color=AFTER if answer == "yes" else BEFORE)
        ax.text(flips + 0.002, height, f"comparable: {answer}", va="center", fontsize=10)
    ax.set_yticks(range(len(others)), list(others))
    ax.invert_yaxis()
    ax.set_xlim(0, 1.5 * ax.get_xlim()[1])
    ax.xaxis.set_major_formatter(PERCENT)
    ax.set(xlabel="predictions that differ between the labs", ylabel="what differs")
    return figure


@picture
def explanations_and_settings() -> Any:
    """Ranks of columns over retrainings, and accuracy against flips for three settings."""
    X, y = people()
    run = {"n_pairs": 6, "sources": False}
    explained = audit(scaled_regression(), X, y, contenders=["baseline"], **run).report.explanation
    tree = DecisionTreeClassifier(random_state=0)
    settings = audit(tree, X, y, param_grid={"max_depth": [2, 4, 8]}, **run)
    figure, (top, bottom) = plt.subplots(2, 1, figsize=TALL, height_ratios=(2, 3))
    for height, column in enumerate(explained.columns):
        top.plot([column.best_rank, column.worst_rank], [height] * 2, "o-", color=BEFORE)
    top.set_yticks(range(len(explained.columns)), [one.name for one in explained.columns])
    top.set_xticks(range(1, len(explained.columns) + 1))
    top.margins(y=0.2)
    top.invert_yaxis()
    top.set_xlabel("best and worst rank of a column, over all trainings")
    AccuracyFlipsDisplay.from_result(settings).plot(bottom)
    return figure


@picture
def gate() -> Any:
    """One flip rate with its limits, and the two gates that judge it."""
    old, new, X, _ = old_and_new()
    flips = compare(old, new, X).flips
    allowed = 0.1
    gates = flip_gates(flips, fail_above=allowed, fail_above_limit=allowed)
    figure, ax = plt.subplots(figsize=(5.4, 1.9))
    ax.plot([flips.lower, flips.upper], [0, 0], "-|", ms=14, color="0.4")
    ax.plot(flips.value, 0, "o", color="0.2")
    ax.axvline(allowed, color=BEFORE)
    ax.text(allowed + 0.001, 0.6, f"{allowed:.0%} allowed", color=BEFORE, fontsize=10)
    result = [f"{one.judged}: {'passes' if one.passed else 'fails'}" for one in gates]
    ax.text(allowed - 0.001, 0.4, f"--fail-above, {result[0]}", ha="right", fontsize=10)
    ax.text(allowed - 0.001, -0.7, f"--fail-above-limit, {result[1]}", ha="right", fontsize=10)
    ax.set(xlabel="share of rows whose prediction changes", yticks=[], ylim=(-1, 1))
    ax.set_xlim(0.06, 0.12)
    ax.xaxis.set_major_formatter(PERCENT)
    return figure


@picture
def heavy_points_of_models() -> Any:
    """Shares on which pairs of whole models differ, against the promised gamma."""
    rng = np.random.default_rng(0)
    settings = {"rho": 0.2, "gamma": 0.3, "shared_key": "t", "n_partitions": 1}
    new = rng.standard_normal((2000, 3))

    def model(signal: float) -> Any:
        X = rng.standard_normal((5000, 3))
        y = (signal * X[:, 0] + rng.standard_normal(5000) > 0).astype(int)
        return ApproximatelyReplicableClassifier(**settings).fit(X, y)

    figure, ax = plt.subplots(figsize=LOW)
    kinds = {"labels as in the example": 1.0, "labels that are pure noise": 0.0}
    for height, (name, signal) in enumerate(kinds.items()):
        shares = [model(signal).disagreement(model(signal), new) for _ in range(25)]
        ax.plot(shares, np.full(25, height), "|", ms=16, color=AFTER)
        ax.text(0.004, height + 0.38, name, va="center", fontsize=10)
    ax.axvline(settings["gamma"], color=BEFORE)
    ax.text(settings["gamma"] + 0.004, 0.5, "gamma", color=BEFORE, va="center", fontsize=10)
    ax.set(xlabel="share of people for whom two models differ", yticks=[], ylim=(-0.5, 1.7))
    ax.set_xlim(0, 0.36)
    ax.xaxis.set_major_formatter(PERCENT)
    return figure


@picture
def heavy_points() -> Any:
    """Frequencies of points in two labs, and the frequencies at which a threshold decides."""
    rng = np.random.default_rng(0)
    masses = 0.5 ** np.arange(1, 13)
    masses /= masses.sum()
    numbers = np.arange(len(masses))
    figure, ax = plt.subplots(figsize=NARROW)
    for lab, (colour, shift) in {"lab A": (BEFORE, -0.12), "lab B": (AFTER, 0.12)}.items():
        sample = rng.choice(len(masses), 20_000, p=masses)
        found = find_heavy_hitters(sample[:, None].astype(float), 0.05, key="census-2026")
        frequency = np.bincount(sample, minlength=len(masses)) / len(sample)
        heavy = np.isin(numbers, found.values.ravel())
        x = numbers + 1 + shift
        ax.plot(x[heavy], frequency[heavy], "o", color=colour, label=f"{lab}: heavy")
        ax.plot(x[~heavy], frequency[~heavy], "o", mfc="w", color=colour, label=f"{lab}: light")
    ax.axhspan(found.law.low, found.law.high, color="0.9", zorder=0)
    words = "here a threshold that\nboth labs share decides"
    ax.text(12.3, found.law.high * 0.85, words, ha="right", va="top", fontsize=10)
    ax.set(yscale="log", xlabel="point", ylabel="frequency in the sample")
    ax.legend(fontsize=9)
    return figure


@picture
def hypotheses() -> Any:
    """The rule with the fewest errors of six classes, on one sample."""
    rng = np.random.default_rng(3)
    X = rng.random((60, 2)).round(2)
    inside = (X[:, 0] > 0.3) & (X[:, 0] <= 0.85) & (X[:, 1] > 0.25)
    y = (inside ^ (rng.random(60) < 0.05)).astype(int)
    ticks = np.linspace(0, 1, 101)
    grid = np.stack(np.meshgrid(ticks, ticks), axis=-1).reshape(-1, 2)
    classes = {
        "Thresholds": (Thresholds(), 1),
        "Intervals": (Intervals(), 1),
        "Stumps": (Stumps(2), 2),
        "Conjunctions": (Conjunctions(2), 2),
        "Boxes": (Boxes(2), 2),
        "Halfspaces": (Halfspaces(), 2),
    }
    figure, panels = plt.subplots(2, 3, figsize=(5.4, 4.0))
    for ax, (name, (kind, n_columns)) in zip(panels.ravel(), classes.items(), strict=True):
        rule = kind.erm(X[:, :n_columns], y)
        labels = rule.predict(grid[:, :n_columns]).reshape(101, 101)
        ax.contourf(ticks, ticks, labels, levels=[0.5, 1.5], colors=["#dcefdc"])
        for label, colour in ((0, BEFORE), (1, AFTER)):
            ax.plot(*X[y == label].T, "o", ms=3, color=colour)
        errors = np.sum(rule.predict(X[:, :n_columns]) != y)
        ax.set_title(f"{name}\nerrors: {errors}", fontsize=10)
        ax.set(xticks=[], yticks=[], xlim=(0, 1), ylim=(0, 1))
    return figure


@picture
def identical_rules() -> Any:
    """Cuts of twenty labs: the best one of each sample, and the replicable one."""
    rng = np.random.default_rng(0)
    pool = rng.random((300, 1))
    best = []
    replicable = []
    for _ in range(20):
        X = rng.random((60_000, 1))
        y = rng.random(60_000) < 1 / (1 + np.exp(-12 * (X[:, 0] - 0.6)))
        best.append(Thresholds(">").erm(X, y).bounds[0][1])
        settings = {"rho": 0.3, "alpha": 0.3, "shared_key": "trial"}
        model = SemiReplicableClassifier(Thresholds(">"), **settings).fit(X, y, X_shared=pool)
        replicable.append(model.hypothesis_.bounds[0][1])
    figure, ax = plt.subplots(figsize=LOW)
    cuts = {"best rule of each sample": best, "SemiReplicableClassifier": replicable}
    for height, ((name, found), colour) in enumerate(
        zip(cuts.items(), (BEFORE, AFTER), strict=True)
    ):
        ax.plot(found, np.full(20, height), "|", ms=18, color=colour)
        words = f"{name}, different rules: {len(set(found))}"
        ax.text(0.552, height + 0.42, words, fontsize=10)
    ax.set(
        xlabel="cut of the rule in each of 20 labs", yticks=[], xlim=(0.55, 0.62), ylim=(-0.5, 1.8)
    )
    return figure


@picture
def monthly_credit_model() -> Any:
    """Decisions that change per month, with plain retraining and with an incumbent."""
    example = DOCS.parent / "examples" / "monthly_credit.py"
    parts: dict[str, Any] = {}
    exec(example.read_text(encoding="utf-8").split("# %%\n")[1], parts)  # table and model
    applicants, _ = parts["loans"](0, 2_000)
    model = DecisionThresholdClassifier(parts["base"], threshold=(1, 11))
    months = ["June", "July", "August", "September", "October"]
    decisions: dict[str, list[Any]] = {"plain retraining": [], "with the incumbent": []}
    incumbent = None
    for month, _ in enumerate(months, start=6):
        rows = parts["loans"](month)
        plain = clone(model).fit(*rows)
        incumbent = IncumbentClassifier(model, incumbent=incumbent).fit(*rows)
        decisions["plain retraining"].append(plain.predict(applicants))
        decisions["with the incumbent"].append(incumbent.predict(applicants))
    figure, ax = plt.subplots(figsize=LOW)
    for (name, labels), colour in zip(decisions.items(), (BEFORE, AFTER), strict=True):
        changed = [np.mean(old != new) for old, new in itertools.pairwise(labels)]
        ax.plot(months[1:], changed, "o-", color=colour, label=name)
    ax.set(ylabel="changed decisions", ylim=(-0.003, None))
    ax.yaxis.set_major_formatter(PERCENT)
    ax.legend(fontsize=9, loc="center right")
    return figure


@picture
def points() -> Any:
    """Thresholds of one key for several spellings of a cell."""
    key = SharedKey("trial-2026")
    hour = dt.timezone(dt.timedelta(hours=1))
    cells = {
        "3": 3,
        "3.0": 3.0,
        '"3"': "3",
        "0.1": 0.1,
        "float32(0.1)": np.float32(0.1),
        "NaN": float("nan"),
        "None": None,
        '""': "",
        "2026-01-01": dt.date(2026, 1, 1),
        "2026-01-01 01:00+01:00": dt.datetime(2026, 1, 1, 1, tzinfo=hour),
    }
    figure, ax = plt.subplots(figsize=NARROW)
    numbers = [float(key.uniforms([[cell]])[0]) for cell in cells.values()]
    for number in dict.fromkeys(numbers):
        rows = [row for row, one in enumerate(numbers) if one == number]
        colour = AFTER if len(rows) > 1 else BEFORE
        ax.plot([number] * len(rows), rows, "o-", color=colour)
    ax.set_yticks(range(len(cells)), list(cells))
    ax.invert_yaxis()
    ax.set(xlabel="keyed threshold of the point", xlim=(0, 1))
    ax.grid(axis="y", color="0.9")
    return figure


@picture
def regulator() -> Any:
    """Estimated flip probabilities of 1,000 people, their mean, and the promised rho."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9000, 3))
    y = (X[:, 0] + rng.normal(0, 1, 9000) > 0).astype(int)
    options = {"max_fits": 88, "shared_key": "trial-2026"}
    model = PointwiseReplicableClassifier(LogisticRegression(), **options).fit(X, y)
    chance = np.sort(model.flip_probability(rng.normal(size=(1000, 3))))[::-1]
    figure, ax = plt.subplots(figsize=NARROW)
    ax.fill_between(np.arange(0, 1000, 5), chance[::5], color=BEFORE, alpha=0.4)
    levels = {"rho, promised on average over keys": model.certificate_.rho}
    levels["mean over these people"] = chance.mean()
    for (name, level), colour in zip(levels.items(), ("0.3", AFTER), strict=True):
        ax.axhline(level, color=colour, lw=1)
        ax.text(985, level + 0.006, name, ha="right", va="bottom", fontsize=10, color=colour)
    ax.set(xlabel="1,000 people, the least stable first", ylabel="estimated flip probability")
    ax.set(xlim=(0, 1000), ylim=(0, None))
    ax.yaxis.set_major_formatter(PERCENT)
    return figure


@picture
def search() -> Any:
    """The table of the guide: how often two halves choose the same configuration."""
    rows = table_of("guide/search.md", "| | same configuration")
    height = np.arange(len(rows))
    plain = [float(row[1]) for row in rows]
    ours = [float(row[2]) for row in rows]
    figure, ax = plt.subplots(figsize=(5.4, 2.6))
    ax.hlines(height, plain, ours, color="0.8", zorder=0)
    ax.plot(plain, height, "o", color=BEFORE, label="GridSearchCV")
    ax.plot(ours, height, "o", color=AFTER, label="ReplicableSearchCV")
    ax.set_yticks(height, [row[0] for row in rows])
    ax.invert_yaxis()
    ax.margins(y=0.2)
    ax.set(xlabel="pairs of samples with the same choice", xlim=(0, 1))
    ax.xaxis.set_major_formatter(PERCENT)
    ax.legend(fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)
    return figure


@picture
def verdicts() -> Any:
    """What the contenders of two audits gain and lose, and which verdict that is."""
    hard = {"n_informative": 8, "flip_y": 0.02, "class_sep": 1.2, "n_clusters_per_class": 4}
    tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
    audits = {
        "decision tree, 3,000 rows": (tree, make_classification(3000, 12, random_state=0, **hard)),
        "logistic regression, 1,500 rows": (
            LogisticRegression(),
            make_classification(1500, 20, n_informative=5, flip_y=0.1, random_state=0),
        ),
    }
    figure, ax = plt.subplots(figsize=(5.4, 4.2))
    edge = 0.24
    price = 0.01
    diagonal = [price, edge]
    ax.fill_between([0, edge], -price, price, color="#dcefdc")
    ax.fill_between(diagonal, price, diagonal, color="#fff3d6")
    ax.fill_between([0, price, edge], [price, price, edge], edge, color="#fbe0dc")
    for (name, (model, table)), colour in zip(audits.items(), ("0.2", "tab:blue"), strict=True):
        run = {"n_pairs": 8, "sources": False, "shared_key": "clinic-7"}
        ax.plot([], [], "o", color=colour, label=name)
        for one in audit(model, *table, **run).judgement.others:
            place = (-one.difference.value, one.price)
            fill = "w" if one.outcome == "no difference shown" else colour
            ax.plot(*place, "o", color=colour, mfc=fill, clip_on=False, zorder=3)
            words = one.name.split()[0]
            look = {"textcoords": "offset points", "fontsize": 9, "color": colour}
            ax.annotate(words, place, (4, 5), **look)
    for x, y, words in (
        (0.16, -0.003, "Worth it"),
        (0.18, 0.05, "Stability costs accuracy"),
        (0.08, 0.2, "Not worth it"),
    ):
        ax.text(x, y, words, ha="center", va="center", fontsize=10)
    ax.set(
        xlim=(0, edge),
        ylim=(-price, edge),
        xlabel="fewer changed predictions",
        ylabel="price (accuracy lost)",
    )
    ax.xaxis.set_major_formatter(PERCENT)
    ax.yaxis.set_major_formatter(PERCENT)
    ax.legend(fontsize=9, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    return figure


@picture
def which_learner() -> Any:
    """Accuracy against flips of the 99 % row: numbers of the benchmark, one mark per file."""
    data = json.loads((DOCS / "benchmarks/data/score-thresholds.json").read_text(encoding="utf-8"))
    looks = {
        "single fit": ("o", "0.45"),
        "bagging, 24": ("s", "tab:blue"),
        "score, rho 0.2": ("v", "tab:orange"),
        "score, rho 0.1": ("v", "tab:red"),
    }
    names = {
        "logreg": "logistic regression",
        "forest": "forest",
        "boosting": "boosting",
        "tree": "tree",
    }
    figure, panels = plt.subplots(2, 2, figsize=TALL, sharey=True)
    axes = dict(zip(names, panels.ravel(), strict=True))
    for one in data["score_data"]["records"]:
        if one["contender"] in looks:
            marker, colour = looks[one["contender"]]
            gain = 100 * one["gain"]
            axes[one["model"]].plot(gain, one["flips_99"], marker, color=colour, alpha=0.8, ms=5)
    for model, ax in axes.items():
        ax.axvline(0, color="0.8", zorder=0)
        ax.set_title(names[model], fontsize=10)
        ax.set_ylim(0, 1.05)
    for name, (marker, colour) in looks.items():
        axes["boosting"].plot([], [], marker, color=colour, label=name)
    figure.supxlabel("accuracy against the single fit, points", fontsize=10)
    figure.supylabel("flips of the 99 % row", fontsize=10)
    axes["boosting"].legend(fontsize=9, loc=(0.02, 0.47))
    return figure
