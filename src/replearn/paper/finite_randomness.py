"""Finitely many shared random bits (``thm:apx-repl-finite-r``, ``alg:non-uniform-replicability``).

R shared thresholds make R candidates from one vote, and one of them is chosen replicably. Theory
page: finite-randomness.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted

from replearn.bounds.numeric import upper_probability
from replearn.bounds.pairs import central_binomial
from replearn.bounds.selection import selection_flip_bound_sampled
from replearn.bounds.theorem import theorem
from replearn.checks.choices import certify_choice
from replearn.checks.fingerprint import bind_estimator
from replearn.compat import HasMethods, Interval
from replearn.execution.constant import ConstantVote
from replearn.execution.context import RunContext
from replearn.execution.fitting import random_state_names
from replearn.execution.voting import BlockEnsemble
from replearn.guarantees.promise import (
    BLOCK_ASSUMPTIONS,
    Ledger,
    Promise,
    Task,
    above_budget,
    rounded_up,
)
from replearn.learners.inputs import (
    all_or_nothing,
    base_estimator,
    check_features,
    check_n_models,
    checked_fit,
    with_base_tags,
)
from replearn.learners.training import (
    COUNT,
    FRACTION,
    Cut,
    FollowsPlan,
    Sample,
    warn_if_not_certified,
)
from replearn.paper.single_rule import check_two_labels
from replearn.primitives.candidates import sample_order
from replearn.primitives.selection import choose_by_errors
from replearn.randomness.key import SharedKey
from replearn.records.checks import check_count, check_fraction
from replearn.records.search import require_integer
from replearn.tables.rows import n_rows, take_rows

_MAX_BLOCKS = 10_000_000
_MAX_ROWS = 10**15


@theorem("finite-randomness")
def finite_randomness_flip_bound(
    n_blocks: int, n_candidates: int, sharpness: float, m: int, gamma: float | None
) -> float:
    """Probability that the models of two runs differ, at one point or on a mass above ``gamma``.

    Returns ``R f(T) / gamma + tanh((t / 2) (R f(T) + sqrt(ln R / m)))`` for R thresholds that are
    compared on m rows, rounded up; gamma None (one fixed point) counts as 1.

    >>> finite_randomness_flip_bound(1000, 10, 30.0, 10_000, 0.1)
    1.0
    >>> round(finite_randomness_flip_bound(10_000_000, 4, 30.0, 10_000_000, 0.1), 3)
    0.023
    """
    check_count("n_candidates", n_candidates)
    moved = n_candidates * central_binomial(n_blocks)
    alike = moved if gamma is None else moved / check_fraction("gamma", gamma)
    differ = selection_flip_bound_sampled(sharpness, n_candidates, m, drift=moved)
    return upper_probability(alike + differ)


def blocks_needed(n_candidates: int, sharpness: float, rho: float, gamma: float | None) -> int:
    """Return about how many blocks a promise needs, however many rows are held out.

    >>> blocks_needed(8, 50.0, 0.1, 0.1)
    2495550
    """
    cost = n_candidates * ((1.0 if gamma is None else 1.0 / gamma) + sharpness / 2.0)
    return math.ceil((cost / rho) ** 2 / math.pi)


def _derive(
    ledger: Ledger,
    n: int,
    n_test: int,
    n_blocks: int,
    n_candidates: int,
    sharpness: float,
    rho: float,
    gamma: float | None,
    test_share: float | None = None,
) -> Promise:
    if n < n_blocks + n_test:
        raise ValueError(f"n={n} is too small for {n_blocks} blocks and {n_test} rows held out")
    items = {
        "n_blocks": n_blocks,
        "n_candidates": n_candidates,
        "sharpness": sharpness,
        "m": n_test,
    }
    flip = ledger.add(finite_randomness_flip_bound, gamma=None, **items)
    promises = [
        "Two models predict one fixed point differently with probability at most "
        f"{rounded_up(flip)}."
    ]
    if gamma is not None:
        flip = ledger.add(finite_randomness_flip_bound, gamma=gamma, **items)
        promises.append(
            f"Two models differ on a mass above {gamma:g} with probability at most "
            f"{rounded_up(flip)}."
        )
    needed = blocks_needed(n_candidates, sharpness, rho, gamma)
    reasons = tuple(
        f"{text} (at least {needed} blocks are needed, there are {n_blocks})"
        for text in above_budget("rho", flip, rho)
    )
    return Promise(
        promises=tuple(promises),
        rho=flip,
        gamma=gamma,
        reasons=reasons,
        assumptions=BLOCK_ASSUMPTIONS,
    )


def _solve(
    n: int | None = None,
    rho: float = 0.1,
    gamma: float | None = None,
    alpha: float = 0.1,
    beta: float = 0.05,
    n_candidates: int = 8,
    block_size: int = 100,
) -> dict[str, Any]:
    sharpness = math.log(n_candidates / beta) / alpha

    def flip(n_blocks: int, m: int) -> float:
        return finite_randomness_flip_bound(n_blocks, n_candidates, sharpness, m, gamma)

    blocks = require_integer(
        lambda count: flip(count, _MAX_ROWS) <= 0.9 * rho,
        f"rho={rho:g} needs more than {_MAX_BLOCKS} blocks: raise it",
        limit=_MAX_BLOCKS,
    )
    tests = require_integer(
        lambda m: flip(blocks, m) <= rho,
        f"rho={rho:g} needs more than {_MAX_ROWS} rows: raise it",
        limit=_MAX_ROWS,
    )
    rows = blocks * block_size + tests
    if n is not None and n < rows:
        tests = max(1, n * tests // rows)
        blocks = max(1, min(blocks, n - tests))
        rows = n
    return {
        "n": rows if n is None else n,
        "n_test": tests,
        "n_blocks": blocks,
        "n_candidates": n_candidates,
        "sharpness": sharpness,
        "test_share": tests / rows,
        "rho": rho,
        "gamma": gamma,
    }


TASKS = (
    Task(
        "finite randomness",
        _derive,
        _solve,
        learners=("FiniteRandomnessClassifier",),
        theorem="finite-randomness",
    ),
)

THRESHOLD_BITS = 30
GUMBEL_BITS = 52
KEY_BITS = 128
SEED_BITS = 32


class FiniteRandomnessClassifier(FollowsPlan, MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Let blocks vote, and decide for every point by one of a few shared thresholds.

    `PointwiseReplicableClassifier` draws a random threshold for each point. Here only a few
    thresholds are drawn, and one of them is chosen replicably on rows that were held out. The
    number of shared random bits is finite and reported.

    Parameters
    ----------
    estimator : classifier, default=None
        The base estimator, with its preprocessing inside; ``LogisticRegression(max_iter=1000)`` if
        None.
    n_candidates : int, default=8
        Number of shared thresholds, R.
    n_blocks : int, default=32
        Number of voting blocks, T.
    rho, gamma : float, default=0.1, 0.1
        Two models differ on a mass above gamma (or at one fixed point, if gamma is None) with
        probability at most rho. At practical sizes this is not certified (see Notes).
    alpha, beta : float, default=0.1, 0.05
        Excess error over the best candidate, and its failure probability: the choice has sharpness
        ``t = ln(n_candidates / beta) / alpha``.
    test_share : float, default=0.3
        Share of the rows held out for the choice.
    classes : array-like, default=None
        The two labels. If None, those in ``y``.
    shared_key : str, bytes, int or SharedKey, default=None
        The source of the shared random bits, the same in both runs.
    plan : Plan, default=None
        A plan shared between labs. It sets ``n_candidates``, ``n_blocks``, ``rho``, ``gamma``,
        ``alpha``, ``beta`` and ``test_share``, which must then keep their defaults here, and the
        number of rows: a surplus is left out by key.
    n_jobs : int, default=None
        Number of joblib workers.

    Attributes
    ----------
    random_bits_ : dict of str to int
        Number of shared random bits by purpose.
    n_random_bits_ : int
        Their sum. It depends on R, T and the base estimator, not on the data or the domain.
    keyed_threshold_ : float
        The chosen threshold on the vote share.
    keyed_thresholds_ : ndarray of float
        All of them, multiples of 2**-30.
    errors_ : ndarray
        Errors of the candidates on the rows held out.
    estimators_ : list of classifier
        The fitted base estimators.
    certificate_ : Certificate
        What is promised; at practical sizes "not certified".
    classes_ : ndarray
        The labels.

    Notes
    -----
    The bound needs about ``(n_candidates (1 / gamma + t / 2) / rho)**2 / pi`` blocks, 2.5 million
    by default, so that the verdict is "not certified". Points near the threshold flip together.

    Examples
    --------
    >>> import warnings
    >>> from sklearn.datasets import make_classification
    >>> from replearn.exceptions import NotCertifiedWarning
    >>> from replearn.paper.finite_randomness import FiniteRandomnessClassifier
    >>> X, y = make_classification(3000, random_state=0)
    >>> model = FiniteRandomnessClassifier(n_candidates=4, n_blocks=16, shared_key="k")
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", NotCertifiedWarning)
    ...     model = model.fit(X, y)
    >>> model.random_bits_
    {'thresholds': 120, 'choice': 208, 'partition': 128, 'seeds': 512}
    """

    _private_state: ClassVar[tuple[str, ...]] = ("_ensemble",)
    _derived_state: ClassVar[tuple[str, ...]] = ("_ensemble",)
    _set_by_plan: ClassVar[tuple[str, ...]] = (
        "rho",
        "gamma",
        "n_blocks",
        "n_candidates",
        "test_share",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict"]), None],
        **FollowsPlan._parameter_constraints,
        "n_candidates": [COUNT],
        "n_blocks": [COUNT],
        "gamma": [FRACTION, None],
        "test_share": [Interval(Real, 0, 1, closed="neither")],
        "classes": ["array-like", None],
        "n_jobs": [Integral, None],
    }

    def __init__(  # noqa: PLR0913
        self,
        estimator=None,
        *,
        n_candidates=8,
        n_blocks=32,
        rho=0.1,
        gamma=0.1,
        alpha=0.1,
        beta=0.05,
        test_share=0.3,
        classes=None,
        shared_key=None,
        plan=None,
        n_jobs=None,
    ):
        self.estimator = estimator
        self.n_candidates = n_candidates
        self.n_blocks = n_blocks
        self.test_share = test_share
        self.rho = rho
        self.gamma = gamma
        self.alpha = alpha
        self.beta = beta
        self.classes = classes
        self.shared_key = shared_key
        self.plan = plan
        self.n_jobs = n_jobs

    @checked_fit
    def fit(self, X: Any, y: ArrayLike, *, context: RunContext | None = None):
        """Fit the blocks and choose a threshold.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The sample.
        y : array-like of shape (n,)
            Labels of two classes.
        context : RunContext, default=None
            How to run: a store of finished blocks, a time limit. It does not change the result.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            params = self._in_force()
            base = base_estimator(self.estimator)
            key = self._key_for_fit()
            X = check_features(self, X, reset=True)
            fingerprint = bind_estimator(base)
            codes, self.classes_ = check_two_labels(X, y, self.classes)
            given = X, y
            X, codes, _ = self._planned_rows(X, codes)
            train, test = held_out(key, X, codes, params.test_share)
            if len(train) < params.n_blocks or len(test) < 1:
                raise ValueError(
                    f"n_blocks={params.n_blocks} and test_share={params.test_share} need more than "
                    f"n_samples={len(codes)} rows."
                )
            sample = Sample(take_rows(X, train), codes[train])
            cut = Cut(len(train), int(params.n_blocks))
            blocks = sample.cut(cut, key)
            blocks.train(base, n_jobs=self.n_jobs, context=context)
            blocks.warn_if_constant(base)
            self.estimators_ = blocks.estimators
            check_unseen_rows(sample.X, blocks.rows, self.estimators_)
            self._ensemble = self._make_ensemble()

            # theorem: finite-randomness (a few thresholds, one of them chosen replicably)
            units = shared_thresholds(key, params.n_candidates)
            votes = self._ensemble.vote_counts(take_rows(X, test), n_jobs=self.n_jobs)[:, 0]
            predictions = above(votes, units[:, np.newaxis], params.n_blocks)
            self.errors_ = (predictions != (codes[test] == 1)).mean(axis=1)
            t = math.log(params.n_candidates / params.beta) / params.alpha
            chosen, _ = choose_by_errors(
                self.errors_, np.arange(params.n_candidates), sharpness=t, key=key
            )
            self.keyed_thresholds_ = units / 2**THRESHOLD_BITS
            self.keyed_threshold_ = float(self.keyed_thresholds_[chosen])
            self.random_bits_ = count_bits(base, params.n_candidates, params.n_blocks)
            self.n_random_bits_ = sum(self.random_bits_.values())
            self.certificate_ = certify_choice(
                "finite randomness",
                key,
                X,
                codes,
                fingerprints={"learner": fingerprint},
                sample=given,
                n=len(codes),
                n_test=len(test),
                n_blocks=int(params.n_blocks),
                n_candidates=int(params.n_candidates),
                sharpness=t,
                rho=float(params.rho),
                gamma=None if params.gamma is None else float(params.gamma),
            )
        warn_if_not_certified(self.certificate_)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels by comparing vote shares with the chosen threshold.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        votes = self._votes(X)
        units = np.int64(self.keyed_threshold_ * 2**THRESHOLD_BITS)  # exact: a multiple of 2**-30
        codes = above(votes, units, self._ensemble.n_blocks).astype(np.intp)
        return self.classes_[np.minimum(codes, len(self.classes_) - 1)]

    def vote_share(self, X: Any) -> NDArray[np.float64]:
        """Return the share of the blocks that vote for the second class.

        Parameters
        ----------
        X : array-like, frame or sparse matrix of shape (n, n_features)
            The points.

        Returns
        -------
        ndarray of shape (n,)
            Shares in [0, 1].
        """
        return self._votes(X) / self._ensemble.n_blocks

    def _make_ensemble(self) -> BlockEnsemble:
        return BlockEnsemble(self.estimators_, np.arange(2))

    def _derive(self, key: SharedKey) -> None:
        check_n_models(self.estimators_, self.certificate_.inputs["n_blocks"], 1)
        if not 0.0 <= self.keyed_threshold_ < 1.0:
            raise ValueError(
                f"keyed_threshold_={self.keyed_threshold_!r} of the file must be in [0, 1)."
            )
        self._ensemble = self._make_ensemble()

    def _votes(self, X: Any) -> NDArray[np.int32]:
        check_is_fitted(self)
        X = check_features(self, X, reset=False)
        return self._ensemble.vote_counts(X, n_jobs=self.n_jobs)[:, 0]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimators_")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True
        return with_base_tags(tags, self.estimator) if self.estimator is not None else tags


def held_out(
    key: SharedKey, X: Any, codes: NDArray[np.intp], test_share: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows that train and the rows that choose, in an order of this sample alone.

    A row that occurs in both samples must not be held out in both: given the models of both runs
    the rows that choose would not be fresh (theorem: finite-randomness).
    """
    order = sample_order(key.child("hold out"), X, codes)
    n_test = round(test_share * len(order))
    return order[n_test:], order[:n_test]


def check_unseen_rows(X: Any, blocks: Sequence[NDArray[np.intp]], models: Sequence[Any]) -> None:
    """Show a base estimator the rows that none was trained on, so that it may refuse them.

    Surplus rows are in no block, and a block of one class is not handed to the base estimator: a
    missing value there would go unnoticed, or not, depending on the key.
    """
    trained = [not isinstance(model, ConstantVote) for model in models]
    if not any(trained):
        return
    unseen = np.ones(n_rows(X), dtype=bool)
    for block, seen in zip(blocks, trained, strict=True):
        unseen[block] &= not seen
    if unseen.any():
        models[trained.index(True)].predict(take_rows(X, np.flatnonzero(unseen)))


def shared_thresholds(key: SharedKey, count: int) -> NDArray[np.int64]:
    """Return this many thresholds of 30 random bits each."""
    uniforms = key.child("thresholds").uniforms(np.arange(count))
    return np.floor(uniforms * 2**THRESHOLD_BITS).astype(np.int64)


def above(votes: NDArray[Any], units: Any, n_blocks: int) -> NDArray[np.bool_]:
    """Whether the vote share exceeds a threshold in units of 2**-30, in exact integers."""
    return votes.astype(np.int64) << THRESHOLD_BITS > units * n_blocks


def count_bits(base: Any, n_candidates: int, n_blocks: int) -> dict[str, int]:
    """Return the number of shared random bits by purpose."""
    seeds = len(random_state_names(base)) if hasattr(base, "get_params") else 0
    return {
        "thresholds": THRESHOLD_BITS * n_candidates,
        "choice": GUMBEL_BITS * n_candidates,
        "partition": KEY_BITS,
        "seeds": SEED_BITS * seeds * n_blocks,
    }
