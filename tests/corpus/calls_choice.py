"""Calls of the learners that choose, of audits and of model files."""

from __future__ import annotations

from typing import Any

import numpy as np

import replearn as rl
from replearn import paper
from replearn.paper.finite_randomness import FiniteRandomnessClassifier
from replearn.primitives.candidates import sample_order
from replearn.randomness.key import SharedKey

from .calls import KEY, Facts, certificate_facts
from .fingerprint import Close, close
from .tables import Table


# -- learners that choose --------------------------------------------------------------------------
def fit_threshold(table: Table, **settings: Any) -> Any:
    return paper.ReplicableThresholdClassifier(**{"shared_key": KEY, **settings}).fit(*table[:2])


def fit_semi(table: Table, hypotheses: Any = None, *, pool: Any = None, **settings: Any) -> Any:
    model = paper.SemiReplicableClassifier(hypotheses, **{"shared_key": KEY, **settings})
    return model.fit(table.X, table.y, X_shared=pool)


def fit_realizable(table: Table, hypotheses: Any = None, **settings: Any) -> Any:
    model = paper.RealizableReplicableClassifier(hypotheses, **{"shared_key": KEY, **settings})
    return model.fit(table.X, table.y)


def fit_few_bits(table: Table, base: Any = None, **settings: Any) -> Any:
    model = FiniteRandomnessClassifier(base, **{"shared_key": KEY, **settings})
    return model.fit(table.X, table.y)


def fit_search(table: Table, base: Any, grid: Any, **settings: Any) -> Any:
    return rl.ReplicableSearchCV(base, grid, **{"shared_key": KEY, **settings}).fit(*table[:2])


def fit_selector(table: Table, models: Any, **settings: Any) -> Any:
    return rl.select_hypothesis(models, *table[:2], **{"shared_key": KEY, **settings})


def follow_choice_plan(table: Table, learner: str, made: Any, *parts: Any) -> Any:
    if learner == "selector":
        return fit_selector(table, *parts, plan=made)
    return paper.ReplicableThresholdClassifier(*parts, plan=made, shared_key=KEY).fit(*table[:2])


def planned_rows(table: Table, size: int) -> Table:
    """Rows that a lab with a surplus keeps, as every learner that follows a plan keeps them."""
    rows = sample_order(SharedKey(KEY).child("surplus"), table.X, _codes(table.y))[:size]
    return table._replace(X=table.X[rows], y=table.y[rows])


def _codes(labels: Any) -> Any:
    return np.unique(labels, return_inverse=True)[1]


def rule_facts(model: Any, new: Any) -> Facts:
    """What is common to learners of one rule."""
    return {
        "answers": model.predict(new),
        "labels": model.classes_,
        "rule": model.rule(),
        **certificate_facts(model.certificate_),
    }


def threshold_facts(model: Any, new: Any) -> Facts:
    level = close(model.level_)
    return {"cut": model.cut_, "level": level, **rule_facts(model, new)}


def semi_facts(model: Any, new: Any) -> Facts:
    return {**rule_facts(model, new), **choice_facts(model.selection_)}


def regressor_facts(table: Table, base: Any = None, **settings: Any) -> Facts:
    model = rl.PointwiseReplicableRegressor(base, **{"shared_key": KEY, **settings})
    model.fit(table.X, table.X[:, 0] + table.X[:, 1])
    return {
        "values": close(model.predict(table.new)),
        "chances": close(model.flip_probability(table.new)),
        "rate": close(model.flip_rate(table.new)),
        **certificate_facts(model.certificate_),
    }


def realizable_facts(model: Any, new: Any) -> Facts:
    return {
        "training error": model.training_error_,
        "limit": model.limit_,
        "gave up": not model.released_,
        **rule_facts(model, new),
    }


def few_bits_facts(model: Any, new: Any) -> Facts:
    return {
        "answers": model.predict(new),
        "labels": model.classes_,
        "votes": np.rint(model.vote_share(new) * len(model.estimators_)).astype(np.int64),
        "threshold": model.keyed_threshold_,
        "all thresholds": (model.keyed_thresholds_ * 2**30).astype(np.int64),
        "errors": model.errors_,
        "bits": sorted(model.random_bits_.items()),
        **certificate_facts(model.certificate_),
    }


def search_facts(model: Any, new: Any) -> Facts:
    facts = {
        "answers": model.predict(new),
        "chosen": sorted(model.best_params_.items()),
        "chosen place": model.best_index_,
        "score": model.best_score_,
        "scores": model.cv_results_["mean_test_score"],
        "ranks": model.cv_results_["rank_test_score"],
        "splits": model.n_splits_,
        "scale": close(model.sharpness_),
        "margin": close(model.margin_),
    }
    if hasattr(model, "predict_proba"):
        facts["probabilities"] = close(model.predict_proba(new))
    return facts


def choice_facts(chosen: Any) -> Facts:
    return {
        "chosen place": chosen.index,
        "margin": close(chosen.margin),
        "errors": chosen.errors,
        "scale": close(chosen.sharpness),
    }


def selector_facts(found: Any, new: Any) -> Facts:
    return {
        "answers": getattr(found.candidate, "predict", found.candidate)(new),
        "chosen": found.name,
        **choice_facts(found),
        **certificate_facts(found.certificate),
    }


# -- model files, audits ---------------------------------------------------------------------------
def saved_and_loaded(model: Any, path: Any) -> Any:
    rl.save(model, path)
    return rl.load(path, KEY)


def audit(models: Any, table: Table, **settings: Any) -> Any:
    settings = {"shared_key": KEY, "verbose": -1, **settings}
    return rl.audit(models, table.X, table.y, **settings)


def estimate(found: Any) -> Close | None:
    return None if found is None else close([found.value, found.lower, found.upper])


LAST_CODE = "RPL015"
"""Codes of findings that were recorded; later ones are tested in tests/auditing."""


def audit_facts(result: Any) -> Facts:
    facts: Facts = {
        "test rows": result.test,
        "findings": [(f.code, f.status) for f in result.findings if f.code <= LAST_CODE],
    }
    for place, contender in enumerate(result.contenders):
        rows, name = result.row_flips(contender.name), f"contender {place}"
        facts |= {
            f"{name}: answers": contender.predictions.codes,
            f"{name}: flip rate": estimate(result.flip_rate(contender.name)),
            f"{name}: flips of rows": close(rows["frequency"]),
            f"{name}: lower limits": close(rows["lower"]),
            f"{name}: upper limits": close(rows["upper"]),
            f"{name}: right": close(contender.predictions.right),
            f"{name}: promise": contender.promise(result.design),
        }
    return facts


def compare_facts(one: Any, two: Any, table: Table, **settings: Any) -> Facts:
    found = rl.compare(one, two, table.new, table.truth, **settings)
    over_keys = found.table.get("flips over all keys")
    return {
        "flipped rows": found.flipped,
        "flips": estimate(found.flips),
        "right to wrong": estimate(found.table.get("becomes wrong")),
        "wrong to right": estimate(found.table.get("becomes right")),
        "accuracies": close([row.value for row in found.table.select(what="accuracy")]),
        "over all keys": None if over_keys is None else close(over_keys.value),
        "subgroups": [
            (*row.group.split(" = "), row.rows, row.value) for row in found.table.groups()
        ],
    }
