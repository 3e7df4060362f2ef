"""The building blocks: coins, signs, heavy points, choices, cuts."""

from __future__ import annotations

from typing import Any

import numpy as np

import replearn as rl
from replearn import paper, select_hypothesis
from replearn.paper.coins import smallest_throws
from replearn.paper.correlated_sampling import agreement_of_draws
from replearn.paper.quantiles import cuts_of_sample, draw_level

from . import tables
from .calls import KEY, Facts, certificate_facts
from .calls_choice import choice_facts
from .cases_rules import CLASSES, pair_of_columns
from .fingerprint import close

SECRET = rl.SharedKey(KEY)


def _coins(found: Any) -> Facts:
    return {
        "decisions": found.decisions,
        "means": found.means,
        "thresholds": found.thresholds,
        "ends of the law": [found.law.low, found.law.high],
        **certificate_facts(found.certificate),
    }


def one_coin() -> Facts:
    throws = tables.throws()[:, 2]
    return _coins(paper.decide_coin(throws, -0.3, 0.4, key=SECRET, rho=0.2, beta=0.1))


def one_coin_with_one_side() -> Facts:
    return _coins(paper.decide_coin([1] * 20, key=SECRET, name="lucky"))


def several_coins() -> Facts:
    return _coins(paper.decide_coins(tables.throws(), -0.2, 0.2, key=SECRET, rho=0.15))


def several_coins_with_names() -> Facts:
    names = ["a", "b", "c", "d", "e"]
    throws = 2 * tables.throws(90) - 1
    return _coins(paper.decide_coins(throws, -0.5, 0.1, key=SECRET, rho=0.3, beta=0.2, names=names))


def _signs(found: Any) -> Facts:
    return {
        "signs": found.signs,
        "means": found.means,
        "width": found.width,
        "method": found.method,
        **certificate_facts(found.certificate),
    }


def signs() -> Facts:
    return _signs(paper.estimate_signs(tables.throws(), 0.4, key=SECRET, rho=0.3, beta=0.1))


def signs_by_thresholds() -> Facts:
    found = paper.estimate_signs(tables.throws(), 0.4, key=SECRET, method="thresholds")
    return _signs(found)


def signs_together() -> Facts:
    throws = tables.throws(400, 24)
    return _signs(paper.estimate_signs(throws, 0.4, key=SECRET, method="joint", names=range(24)))


def _heavy(found: Any) -> Facts:
    return {
        "points": np.asarray(found.values),
        "counts": found.counts,
        "masses": found.masses,
        "thresholds": found.thresholds,
        "core": found.core,
        "members": found.contains(tables.discrete().new),
        "level of the core": found.gamma_prime,
        **certificate_facts(found.certificate),
    }


def heavy_hitters() -> Facts:
    X = tables.discrete().X
    facts: Facts = {}
    for notion in ("pointwise", "replicable", "approximate"):
        for rho in (None, 0.3):
            found = paper.find_heavy_hitters(X, 0.1, key=SECRET, notion=notion, rho=rho)
            facts |= {f"{notion}, {rho}: {name}": value for name, value in _heavy(found).items()}
    return facts


def heavy_hitters_as_in_the_paper() -> Facts:
    return _heavy(paper.find_heavy_hitters(tables.discrete().X, 0.05, key=SECRET, law="paper"))


def heavy_hitters_of_rounded_numbers() -> Facts:
    X = tables.tumours().X[:, :2]
    found = paper.find_heavy_hitters(X, 0.01, key=SECRET, decimals=0)
    return {"counts": found.counts, "thresholds": found.thresholds}


def labels_of_heavy_hitters() -> Facts:
    table = tables.discrete()
    facts: Facts = {}
    for notion in ("pointwise", "replicable", "approximate"):
        members = paper.find_heavy_hitters(table.X, 0.2, key=SECRET, notion=notion)
        for setting in ("agnostic", "realizable"):
            found = paper.label_heavy_hitters(
                table.X,
                table.y,
                members,
                key=SECRET,
                alpha=0.6,
                rho=0.4,
                label_noise=setting == "agnostic",
                gamma=0.4,
            )
            facts |= {
                f"{notion}, {setting}: {name}": value
                for name, value in {
                    "labels": found.labels,
                    "ones": found.ones,
                    "labels used": found.n_labels,
                    "thresholds": found.thresholds,
                    **certificate_facts(found.certificate),
                }.items()
            }
    return facts


def _predictions() -> tuple[Any, Any]:
    table = tables.tumours()
    columns = [table.X[:, 0] < cut for cut in (11, 13, 15, 17)]
    return np.array([*columns, table.X[:, 1] < 20]), table.y == 1


NAMES = ["11", "13", "15", "17", "texture"]


def selected_hypothesis() -> Facts:
    matrix, y = _predictions()
    found = select_hypothesis(matrix, None, y, shared_key=KEY, names=NAMES, rho=0.4, alpha=0.4)
    other = select_hypothesis(
        matrix[:, 200:], None, y[200:], shared_key=KEY, names=NAMES, sharpness=found.sharpness
    )
    return {
        "chosen": found.name,
        **choice_facts(found),
        "agreement": close(found.agreement(other)),
        **certificate_facts(found.certificate),
    }


def selected_from_a_cover() -> Facts:
    table = pair_of_columns()
    cover = CLASSES["boxes"].cover(table.new[:8])
    found = select_hypothesis(
        cover.rules, table.X, table.y, names=cover.identity, shared_key=KEY, alpha=0.2, beta=0.2
    )
    return {
        "chosen": str(found.candidate),
        **choice_facts(found),
        **certificate_facts(found.certificate),
    }


def quantiles() -> Facts:
    facts: Facts = {}
    for name, x in (("ties", tables.digits(3, 8).X[:, 26]), ("no ties", tables.tumours().X[:, 0])):
        found = paper.quantile_grid(x, 7, key=KEY)
        facts |= {
            f"{name}: levels": found.levels,
            f"{name}: cuts": found.values,
            f"{name}: masses": found.masses,
        }
    return facts


def drawn_level() -> Facts:
    table = tables.tumours()
    cuts = cuts_of_sample(table.X[:, 0], table.y == 0)
    level, place, rule = draw_level(cuts, sharpness=60.0, key=SECRET)
    return {
        "level": level,
        "cut": float(cuts.values[place]),
        "rule": rule,
        "errors": close(cuts.errors),
    }


def correlated_draw() -> Facts:
    facts: Facts = {}
    candidates, weights = list(range(40)), np.arange(40) * 37 % 11 / 4.0
    for name, moved in (("first", weights), ("second", weights + np.arange(40) % 3 / 10)):
        found = paper.sample_correlated(candidates, moved, key=SECRET, deviation=0.2)
        facts |= {
            f"{name}: drawn": found.value,
            f"{name}: place": found.index,
            f"{name}: score": close(found.score),
            f"{name}: margin": close(found.margin),
        } | {f"{name}: {k}": v for k, v in certificate_facts(found.certificate).items()}
    both = (candidates, weights), (candidates, weights + np.arange(40) % 3 / 10)
    return {**facts, "agreement": close(agreement_of_draws(*both))}


def rows_needed() -> Facts:
    return {
        "throws": [smallest_throws(0.2, 0.1, -0.2, 0.2), smallest_throws(0.3, 0.2, -0.5, 0.1)],
    }
