"""Every call of the library that needs a name of its interface; cases use only these functions."""

from __future__ import annotations

from typing import Any

import numpy as np

import replearn as rl
from replearn.exceptions import (
    ConstantBlocksWarning,
    NotCertifiedWarning,
    PreprocessingWarning,
)
from tests.factories import on_blocks

from .fingerprint import close
from .tables import Table

KEY = "corpus"
WARNINGS = {
    NotCertifiedWarning: "not certified",
    ConstantBlocksWarning: "constant blocks",
    PreprocessingWarning: "preprocessing",
}

Facts = dict[str, Any]
CHOICES = {"selector": "selection", "select": "selection", "threshold": "thresholds"}


# -- learners whose blocks vote --------------------------------------------------------------------
def fit_pointwise(table: Table, base: Any = None, *, groups: Any = None, **settings: Any) -> Any:
    """Fit with these parameters, or with a plan where only a plan has them."""
    settings = {"shared_key": KEY, **settings}
    if settings.get("n_blocks") and "n_partitions" in settings and "max_fits" not in settings:
        settings["max_fits"] = settings["n_blocks"] * settings.pop("n_partitions")
    if settings.keys() <= set(rl.PointwiseReplicableClassifier._get_param_names()):
        model = rl.PointwiseReplicableClassifier(base, **settings)
    else:
        n = len(table.y) if groups is None else len(np.unique(groups))
        settings.setdefault("n_classes", max(2, len(np.unique(table.y))))
        settings |= {} if groups is None else {"unit": "groups"}
        model = on_blocks(base, n=n, **settings)
    return model.fit(table.X, table.y, groups=groups)


def fit_approximate(table: Table, base: Any = None, **settings: Any) -> Any:
    settings = {"rho": 0.1, "gamma": 0.1, **settings}
    return fit_pointwise(table, base, task="approximate", **settings)


def follow_plan(table: Table, made: Any, base: Any = None) -> Any:
    model = rl.PointwiseReplicableClassifier(base, plan=made, shared_key=KEY)
    return model.fit(table.X, table.y)


def promised_vote_facts(model: Any, new: Any, *, points: Any = None) -> Facts:
    """Answers, plan and certificate of a learner whose blocks vote."""
    return {
        **vote_facts(model, new, points=points),
        **plan_facts(model.plan_),
        **certificate_facts(model.certificate_),
    }


def vote_facts(model: Any, new: Any, *, points: Any = None) -> Facts:
    """Everything that a learner whose blocks vote can be asked about rows."""
    ids = {} if points is None else {"ids": points}
    shares, told = model.predict_proba(new), model.explain(new, **ids)
    facts = {
        "answers": model.predict(new, **ids),
        "labels": model.classes_,
        "answered by": np.full(len(told), "vote"),
        "margins": close(told.margin),
        "flip probabilities": close(model.flip_probability(new, **ids)),
        "trained models": len(model.estimators_),
        "variance of all partitions": close(model.joint_variance_),
    }
    hard = model.plan_.design.vote == "hard"
    if not hard:
        facts["vote shares"] = close(shares)
    else:
        votes = shares * model.plan_.design.n_blocks * model.plan_.design.n_partitions
        facts["votes"] = np.rint(votes).astype(np.int64)
    if len(model.classes_) == 2:
        facts |= {"thresholds": told.keyed_threshold, "values of the law": close(told.response)}
        if hard:
            rate = model.flip_rate(new)
            facts |= {"mean flips": close(rate.estimate), "limit of flips": close(rate.upper)}
    else:
        facts["next answers"] = told.runner_up
    return facts


def score_facts(table: Table, base: Any = None, **settings: Any) -> Facts:
    """Everything that a learner with thresholds in standard errors can be asked about rows."""
    model = rl.ScoreReplicableClassifier(base, shared_key=KEY, **settings).fit(table.X, table.y)
    told = model.explain(table.new)
    return {
        "answers": model.predict(table.new),
        "labels": model.classes_,
        "probabilities": close(model.predict_proba(table.new)),
        "standard error": close(np.array([model.standard_error_, 0.0])),
        "margins": close(told.margin),
        "flip probabilities": close(told.flip_probability),
        "trained models": len(model.estimators_),
        "certified": model.certificate_.certified,
        "rho": model.certificate_.rho,
    }


# -- plans and certificates ------------------------------------------------------------------------
def plan(*notion: str, **wishes: Any) -> Any:
    return rl.plan(*notion, **wishes)


def plan_facts(made: Any) -> Facts:
    return {
        "rows": made.n,
        "rows used": made.design.n_used,
        "blocks": made.design.n_blocks,
        "rows of a block": made.design.block_size,
        "partitions": made.design.n_partitions,
        "width": None if made.design.law is None else made.design.law.width,
        "law digest": None if made.design.law is None else made.design.law.digest,
    }


def solved_facts(made: Any) -> Facts:
    """What the planner solved, for a plan that no learner has followed yet."""
    return {
        **plan_facts(made),
        **promise_facts(made),
        "rows needed": made.needed_n,
        "steps": _steps(made),
        "survives JSON": type(made).from_json(made.to_json()) == made,
    }


def promise_facts(promised: Any) -> Facts:
    return {
        "certified": promised.certified,
        "rho": promised.rho,
        "gamma": promised.gamma,
        "alpha": promised.alpha,
        "beta": promised.beta,
        "runs": promised.design.runs,
        "conditions": np.array(promised.assumptions),
    }


def certificate_facts(certificate: Any) -> Facts:
    """The promise and every number behind it, for both kinds of certificates."""
    certificate.check()
    facts = {"certified": certificate.certified, "steps": _steps(certificate)}
    return facts | (promise_facts(certificate) if certificate.design else {})


def _steps(promised: Any) -> list[float]:
    """The different numbers behind a promise, by size: their names belong to the interface."""
    values = [step.value for step in promised.steps if step.name != "n_used"]
    parts = [part for value in values for part in (value if isinstance(value, tuple) else [value])]
    return sorted({float(part) for part in parts if part is not None})


def plan_choice(what: str, **wishes: Any) -> Any:
    return rl.plan(CHOICES.get(what, what), **wishes)


def _values(items: Any) -> list[float]:
    """The numbers among named items, by size: the names belong to the interface."""
    return sorted(float(value) for value in items.values() if isinstance(value, int | float))


def choice_plan_facts(made: Any) -> Facts:
    return {
        "rows": made.n,
        "rows needed": made.needed_n,
        "certified": made.certified,
        "theorems": np.array(made.theorems),
        "inputs": _values(made.inputs),
        "steps": _steps(made),
        "survives JSON": type(made).from_json(made.to_json()) == made,
    }
