"""Semi-replicable learning: a shared unlabelled pool is enough.

In the paper: ``thm:semi-supervised-repl-ub-formal``. The pool gives a list of candidates, and one
of them is chosen as by `replearn.select_hypothesis`. Theory page: semi-replicable.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from replearn.bounds.selection import (
    selection_error_tail_sampled,
    selection_flip_bound_sampled,
    smallest_sample_selection,
)
from replearn.bounds.vc import log_growth
from replearn.checks.fingerprint import fingerprint
from replearn.compat import Interval, validate_data
from replearn.guarantees.promise import (
    CHOICE_ASSUMPTIONS,
    Ledger,
    Promise,
    Task,
    above_budget,
    rounded_up,
)
from replearn.guarantees.selection import choice_scale
from replearn.learners.inputs import all_or_nothing, checked_fit
from replearn.learners.training import warn_if_not_certified
from replearn.paper.hypotheses import HypothesisClass, Stumps
from replearn.paper.hypotheses.hypothesis import canonical_text
from replearn.paper.realizable import cover_distance
from replearn.paper.single_rule import SingleRuleClassifier
from replearn.primitives.candidates import error_sums
from replearn.primitives.selection import Selection, choose_by_errors
from replearn.records.search import smallest_integer

_MAX_ROWS = 10**15
_LARGEST_LOG = 700.0


def selection_budget(
    alpha: float, beta: float, n_shared: int, d: int | None
) -> tuple[float | None, float]:
    """Return what the cover leaves of alpha and beta for the choice; None if no alpha is left.

    >>> selection_budget(0.1, 0.05, 0, None)
    (0.1, 0.05)
    >>> selection_budget(0.1, 0.05, 10, 3)
    (None, 0.025)
    """
    if d is None:
        return alpha, beta
    # theorem: semi-replicable
    rest = alpha - cover_distance(n_shared, d, beta / 2)
    return (rest if rest > 0 else None), beta / 2


def _derive(
    ledger: Ledger,
    n: int,
    n_shared: int,
    d: int | None,
    n_hypotheses: int,
    sharpness: float,
    rho: float,
    alpha: float,
    beta: float,
) -> Promise:
    assumptions = (*CHOICE_ASSUMPTIONS, "candidates-fixed")
    items = {"sharpness": sharpness, "n_hypotheses": n_hypotheses, "m": n}
    flip = ledger.add(selection_flip_bound_sampled, **items)
    missed = above_budget("rho", flip, rho)
    same = (
        f"Two runs on fresh samples of {n} rows, with one shared pool, return different rules with "
        f"probability at most {rounded_up(flip)}."
    )
    rest = alpha
    share = beta
    best = "the best candidate's"
    if d is not None:
        distance = ledger.add(cover_distance, n_shared=n_shared, d=d, beta=beta / 2)
        rest = alpha - distance
        share = beta / 2
        best = "the best of the class's"
    if rest <= 0:
        small = (
            f"a pool of {n_shared} rows is too small for alpha = {alpha:g} (d = {d}, beta = "
            f"{beta:g}): share more rows"
        )
        reasons = (*missed, small)
        return Promise(promises=(same,), rho=flip, reasons=reasons, assumptions=assumptions)
    tail = ledger.add(selection_error_tail_sampled, alpha=rest, **items)
    failure = min(1.0, tail + (beta - share))
    near_best = (
        f"The error exceeds {best} by more than {alpha:g} with probability at most "
        f"{rounded_up(failure)}."
    )
    reasons = missed + above_budget("beta", failure, beta)
    return Promise(
        promises=(same, near_best),
        rho=flip,
        alpha=alpha,
        beta=failure,
        reasons=reasons,
        assumptions=assumptions,
    )


def pool_and_rest(
    alpha: float, beta: float, d: int, n_shared: int | None, *, share: float = 0.5
) -> tuple[int, float]:
    """Return the rows of the pool and what it leaves of alpha, with half of beta spent."""
    if n_shared is None:  # the pool has more than d rows, so there are 2^d candidates or more
        _refuse_too_many(d, alpha, d * math.log(2))
    pool = _pool(share * alpha, d, beta / 2) if n_shared is None else n_shared
    rest = alpha - cover_distance(pool, d, beta / 2)
    if rest <= 0:
        raise ValueError(
            f"n_shared={n_shared} is too small for alpha={alpha:g}, d={d}: leave it out, and the "
            "plan says how many rows to share."
        )
    return pool, rest


def listed_candidates(d: int, alpha: float, pool: int) -> int:
    """Return how many candidates a pool gives at most; more than can be listed are refused."""
    # theorem: semi-replicable (Sauer's bound: the true number of candidates is known from the pool)
    logarithm = log_growth(d, pool)
    _refuse_too_many(d, alpha, logarithm)
    return math.ceil(math.exp(logarithm))


def _refuse_too_many(d: int, alpha: float, logarithm: float) -> None:
    if logarithm > _LARGEST_LOG:  # cut off here, the plan would promise with too few rows
        raise ValueError(
            f"d={d}, alpha={alpha:g} would choose among e^{logarithm:.0f} candidates or more, "
            "which cannot be enumerated: use a smaller class or a larger alpha."
        )


def _pool(distance: float, d: int, beta: float) -> int:
    rows = smallest_integer(lambda u: cover_distance(u, d, beta) <= distance, limit=_MAX_ROWS)
    if rows is None:
        raise ValueError(f"a distance of {distance:g} needs a pool of more than {_MAX_ROWS} rows.")
    return rows


def _solve(
    d: int,
    n: int | None = None,
    rho: float = 0.1,
    alpha: float = 0.1,
    beta: float = 0.05,
    n_shared: int | None = None,
) -> dict[str, Any]:
    pool, rest = pool_and_rest(alpha, beta, d, n_shared)
    n_hypotheses = listed_candidates(d, alpha, pool)
    if n is None:
        n, sharpness = smallest_sample_selection(rho, rest, beta / 2, n_hypotheses)
    else:
        sharpness = choice_scale(n_hypotheses, n, rho, rest, beta / 2)
    choice = {"n_hypotheses": n_hypotheses, "sharpness": float(sharpness)}
    return {"n": n, "n_shared": pool, "d": d, **choice, "rho": rho, "alpha": alpha, "beta": beta}


TASKS = (
    Task(
        "semi",
        _derive,
        _solve,
        learners=("SemiReplicableClassifier",),
        theorem="semi-replicable",
    ),
)


class SemiReplicableClassifier(SingleRuleClassifier):
    """Learn the identical rule in two labs that share an unlabelled pool.

    There is one candidate for each way in which the class can label the pool; one of them is chosen
    by empirical errors and shared random numbers. The rule itself is the same in both labs (equal,
    with the same hash and text), except with probability ``rho``.

    Parameters
    ----------
    hypotheses : HypothesisClass, default=None
        The class. If None, decision stumps over all features.
    rho : float, default=0.1
        Probability that two runs return different rules.
    alpha, beta : float, default=0.1, 0.05
        Excess error over the best of the class, and its failure probability.
    candidates : sequence of Hypothesis, default=None
        A list of candidates instead of the class, for classes that are too large to enumerate.
        Accuracy is then promised relative to the best of the list, and no pool is needed.
    sharpness : float, default=None
        Scale of the errors relative to the shared random numbers. If None, it follows from the
        other parameters.
    classes : array-like, default=None
        The two labels. If None, those in ``y``.
    shared_key : str, bytes, int or SharedKey, default=None
        The source of all randomness. It must be the same in both runs, and fixed before the data
        are seen.
    plan : Plan, default=None
        A plan shared between labs. It sets ``rho``, ``alpha`` and ``beta``, which must then keep
        their defaults here, and the number of rows: a surplus is left out by key.

    Attributes
    ----------
    hypothesis_ : Hypothesis
        The rule, a frozen value: equal and of equal hash in two runs that agree.
    certificate_ : Certificate
        What is promised.
    selection_ : Selection
        Errors of all candidates, scale and margin of the choice.
    classes_ : ndarray
        The labels.

    Examples
    --------
    >>> import numpy as np
    >>> from replearn.paper.semi_replicable import SemiReplicableClassifier
    >>> from replearn.paper.hypotheses import Thresholds
    >>> rng = np.random.default_rng(0)
    >>> pool, X = rng.random((100, 1)), rng.random((60_000, 1))
    >>> model = SemiReplicableClassifier(Thresholds(">"), rho=0.3, alpha=0.25, shared_key="k")
    >>> model.fit(X, X[:, 0] > 0.6, X_shared=pool).rule(), model.certificate_.certified
    ('True if x0 > 0.6, else False', True)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "hypotheses": [HypothesisClass, None],
        **SingleRuleClassifier._parameter_constraints,
        "candidates": [Sequence, None],
        "sharpness": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(
        self,
        hypotheses=None,
        *,
        rho=0.1,
        alpha=0.1,
        beta=0.05,
        candidates=None,
        sharpness=None,
        classes=None,
        shared_key=None,
        plan=None,
    ):
        self.hypotheses = hypotheses
        self.rho = rho
        self.alpha = alpha
        self.beta = beta
        self.candidates = candidates
        self.sharpness = sharpness
        self.classes = classes
        self.shared_key = shared_key
        self.plan = plan

    @checked_fit
    def fit(self, X: Any, y: ArrayLike, X_shared: Any = None, *, groups: ArrayLike | None = None):
        """Choose a rule by its errors and shared random numbers.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            This run's own rows.
        y : array-like of shape (n,)
            Their labels, of two classes.
        X_shared : array-like of shape (u, n_features), default=None
            The unlabelled pool, with the same rows in all runs (in any order). It is needed unless
            ``candidates`` is given.
        groups : array-like of shape (n,), default=None
            One id for each row: rows of one group (one person) are not independent, so that one
            of each group is used, and n counts groups.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            sample = X, y, groups
            X, y = self._check_rows(X, y, groups)
            key = self._key_for_fit()
            # theorem: semi-replicable (one candidate for each labelling of the pool)
            candidates, names, n_shared, d = self._candidates(X, X_shared)
            targets = self._targets()
            alpha, beta = selection_budget(targets["alpha"], targets["beta"], n_shared, d)
            t = self.sharpness
            if t is None:
                rest = alpha or targets["alpha"] / 2
                t = choice_scale(len(candidates), len(y), targets["rho"], rest, beta)
            wrong, n = error_sums(candidates, X, y)
            index, margin = choose_by_errors(wrong / n, names, sharpness=t, key=key)
            self.hypothesis_ = candidates[index]
            pool = None if self.candidates is not None else np.asarray(X_shared, dtype=np.float64)
            shared: dict[str, Any] = {"n_shared": n_shared, "d": d, **targets}
            shared |= {"n": n, "n_hypotheses": len(candidates), "sharpness": float(t)}
            bound = {"hypotheses": fingerprint(self.hypotheses)}
            self._certify("semi", X, y, bound, sample=sample, pool=pool, **shared)
            self.selection_ = Selection(
                index=index,
                candidate=self.hypothesis_,
                name=names[index],
                errors=wrong / n,
                margin=margin,
                sharpness=float(t),
                certificate=self.certificate_,
            )
        warn_if_not_certified(self.certificate_)
        return self

    def _candidates(self, X: Any, X_shared: Any) -> tuple[Any, Any, int, int | None]:
        """Return the candidates, their names, the size of the pool and the VC dimension."""
        if self.candidates is not None:
            listed = list(self.candidates)
            return listed, [canonical_text(rule) for rule in listed], 0, None
        if X_shared is None:
            raise ValueError(
                "X_shared is missing: give fit(X, y, X_shared=pool) the unlabelled rows that all "
                "runs share, or give candidates."
            )
        pool = validate_data(self, X_shared, reset=False, dtype=np.float64)
        hypotheses = Stumps(X.shape[1]) if self.hypotheses is None else self.hypotheses
        cover = hypotheses.cover(pool)
        return cover.rules, cover.identity, len(pool), hypotheses.vc_dimension
