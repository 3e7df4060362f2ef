"""Which of several models goes live: a replicable choice among models that exist already.

In the paper: ``thm:optimal-hypothesis-sel``, ``alg:robust-repl-hyp-sel``, ``thm:finite-class-
replicable-learner``. Theory page: hypothesis-selection.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.checks.choices import bind_candidates, certify_choice
from replearn.checks.fingerprint import Fingerprint
from replearn.guarantees.certificate import Certificate, Identity
from replearn.guarantees.plan import Plan
from replearn.guarantees.promise import derive
from replearn.guarantees.selection import choice_scale
from replearn.learners.inputs import check_groups
from replearn.learners.training import refuse_planned, warn_if_not_certified
from replearn.primitives.candidates import (
    candidate_count,
    counts_errors,
    error_sums,
    named_candidates,
    names_digest,
    sample_order,
)
from replearn.primitives.selection import Selection, choose_by_errors
from replearn.randomness.key import SharedKey
from replearn.records.checks import check_fraction, check_positive, if_given
from replearn.tables.rows import take_rows

_DEFAULTS = {"rho": 0.1, "alpha": 0.1, "beta": 0.05, "tau": None, "sharpness": None}


def select_hypothesis(  # noqa: PLR0913
    candidates: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    shared_key: SharedKey | str | bytes | int,
    names: Any = None,
    groups: ArrayLike | None = None,
    rho: float = 0.1,
    alpha: float = 0.1,
    beta: float = 0.05,
    tau: float | None = None,
    sharpness: float | None = None,
    plan: Plan | None = None,
) -> Selection:
    """Choose a nearly best model, the same one on a fresh sample except with probability rho.

    The models (last year's, a vendor's, a rule of thumb) exist before the sample is seen. Nothing
    is trained, so that nothing is assumed about how they were made, but one thing: none of them
    was trained, tuned or picked on rows of either sample.

    Parameters
    ----------
    candidates : mapping, Cover, Rules, matrix of predictions, or sequence
        Fitted estimators, callables or hypotheses. The choice is keyed by their names, so that all
        runs must use the same name for the same model.
    X : container of rows, None, or iterable of (X, y) chunks when y is None
        The sample; None if candidates is a matrix with one column for each row.
    y : array-like, default=None
        Labels.
    shared_key : SharedKey, str, bytes or int
        The same in both runs, and fixed before the data are seen.
    names : container of rows, default=None
        Names of the candidates, which are not needed for mappings.
    groups : array-like, default=None
        One id for each row: rows of one group (one person) are not independent. The mean error of
        each group counts once, and n counts groups.
    rho : float, default=0.1
        Probability that two runs may choose differently.
    alpha, beta : float, default=0.1, 0.05
        Largest excess error, and its failure probability.
    tau : float, default=None
        The two runs may have different candidates under one name, if their errors differ by at
        most tau: the (rho, tau)-robust form. If None, they have the same candidates.
    sharpness : float, default=None
        Scale of the errors relative to the random numbers. If None, that of `choice_scale`.
    plan : Plan, default=None
        A plan shared between labs. It sets rho, alpha, beta, tau and sharpness, which must then
        keep their defaults here, and the number of rows: a surplus is left out by key.

    Returns
    -------
    Selection
        The choice with its certificate. Rows are read in chunks, so that predictions of all
        candidates for all rows are never in memory at once.

    Examples
    --------
    >>> from replearn import select_hypothesis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 1))
    >>> y = X[:, 0] + 0.1 * rng.standard_normal(20_000) > 0.5
    >>> models = {"last year's": lambda X: X[:, 0] > 0.7, "vendor's": lambda X: X[:, 0] > 0.5}
    >>> chosen = select_hypothesis(models, X, y, shared_key="k")
    >>> chosen.name, chosen.certificate.certified
    ("vendor's", True)
    """
    key = SharedKey(shared_key)
    plain, names = named_candidates(candidates, names)
    count = candidate_count(plain)
    given: dict[str, Any] = {
        "rho": rho,
        "alpha": alpha,
        "beta": beta,
        "tau": tau,
        "sharpness": sharpness,
    }
    labels = None if y is None else np.asarray(y)
    if labels is None and (groups is not None or plan is not None):
        raise ValueError("y is missing: chunks have no group ids and no surplus over a plan.")
    ids = None if labels is None else check_groups(groups, len(labels))
    sample = X, y, ids
    if plan is not None and labels is not None:
        _check_followed(plan, count, given)
        X, labels, ids = _planned_rows(key, plan.n, X, labels, ids)
    n_groups, weights = (None, None) if ids is None else _group_weights(ids)
    sums, n_rows = error_sums(plain, X, labels, weights)
    n = n_rows if n_groups is None else n_groups
    errors = sums / n
    inputs = plan.inputs if plan is not None else _inputs(count, n, **given)
    index, margin = choose_by_errors(errors, names, sharpness=inputs["sharpness"], key=key)
    certificate = _certificate(key, plain, names, (X, labels), sample, inputs)
    warn_if_not_certified(certificate)
    return Selection(
        index=index,
        candidate=None if isinstance(plain, np.ndarray) else plain[index],
        name=names[index],
        errors=errors,
        margin=margin,
        sharpness=inputs["sharpness"],
        certificate=certificate,
    )


def _inputs(
    n_hypotheses: int,
    n: int,
    rho: float,
    alpha: float,
    beta: float,
    tau: float | None,
    sharpness: float | None,
) -> dict[str, Any]:
    """Return what all runs of the promise share, without a plan."""
    targets = {"rho": rho, "alpha": alpha, "beta": beta}
    checked = {name: check_fraction(name, value) for name, value in targets.items()}
    drift = if_given(check_positive, "tau", tau, zero=True)
    if sharpness is None:
        sharpness = choice_scale(n_hypotheses, n, rho, alpha, beta, tau=drift)
    check_positive("sharpness", sharpness, zero=True)
    scale = {"sharpness": float(sharpness), "tau": drift}
    return {"n": n, "n_hypotheses": n_hypotheses, **scale, **checked}


def _check_followed(plan: Plan, count: int, given: dict[str, Any]) -> None:
    """Refuse a plan of another task or number of candidates, and parameters that it sets."""
    if plan.task != "selection":
        raise ValueError(f"plan is for {' or '.join(plan.learners)}, not for select_hypothesis.")
    refuse_planned([name for name, value in given.items() if value != _DEFAULTS[name]])
    planned = plan.inputs["n_hypotheses"]
    if planned != count:
        raise ValueError(f"plan is for {planned} candidates, there are {count}: make a new plan.")


def _planned_rows(
    key: SharedKey, n: int, X: Any, y: NDArray[Any], groups: NDArray[Any] | None
) -> tuple[Any, NDArray[Any], NDArray[Any] | None]:
    """Leave out by key what there is beyond the plan's rows (or groups)."""
    unit = "rows" if groups is None else "groups"
    names, member = np.unique(np.arange(len(y)) if groups is None else groups, return_inverse=True)
    if len(names) < n:
        raise ValueError(
            f"plan needs n={n} {unit}, but the sample has {len(names)}. Make a plan for the "
            "smallest sample among the labs."
        )
    if len(names) == n:
        return X, y, groups
    if X is None:
        raise ValueError(f"X is missing: there are {len(names)} {unit}, and the plan is for {n}.")
    surplus = key.child("surplus")
    codes = np.unique(y, return_inverse=True)[1]
    if groups is None:
        rows = sample_order(surplus, X, codes)[:n]
    else:
        kept = sample_order(surplus, names, np.zeros(len(names), dtype=np.intp))[:n]
        rows = np.flatnonzero(np.isin(member, kept))
    return take_rows(X, rows), y[rows], None if groups is None else groups[rows]


def _group_weights(groups: NDArray[Any]) -> tuple[int, NDArray[np.float64]]:
    """Return the number of groups, and weights of the rows that sum to 1 in each of them."""
    _, member, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    return len(sizes), 1.0 / sizes[member]


def _certificate(
    key: SharedKey,
    candidates: Any,
    names: Any,
    used: tuple[Any, Any],
    sample: tuple[Any, Any, Any],
    inputs: dict[str, Any],
) -> Certificate:
    """Bind names, models and rows, as far as they can be read."""
    X, y = used
    listed = names_digest(names, len(candidates))
    bound = Fingerprint(listed, {}, ())
    if isinstance(candidates, np.ndarray):
        bound = Fingerprint(listed, {}, ("a matrix of predictions does not tell the models",))
    elif inputs["tau"] is None and not counts_errors(candidates):
        models = sorted(zip(map(repr, names), candidates, strict=True), key=lambda pair: pair[0])
        bound = bind_candidates(dict(models), X)
    if X is None or y is None:
        unread = ("rows: a stream or a matrix is not looked at", *bound.unbound)
        identity = Identity(key.fingerprint, candidates=bound.digest, unbound=unread)
        return Certificate.of(derive("selection", inputs), identity)
    codes = np.unique(y, return_inverse=True)[1]
    parts = {"candidates": bound}
    return certify_choice("selection", key, X, codes, sample=sample, fingerprints=parts, **inputs)
