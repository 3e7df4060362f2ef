"""Semi-private learning from semi-replicable runs and private selection.

In the paper: ``alg:semi-repl-semi-prev-red``. Runs under several keys, then the mode of their
results is released privately (``thm:private-selection``). Theory pages: private-selection, semi-
private.
"""

from __future__ import annotations

import json
import math
import secrets
import warnings
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from replearn.bounds.numeric import binomial_cdf, upper_probability
from replearn.bounds.selection import (
    selection_error_tail_sampled,
    selection_flip_bound_sampled,
    selection_scale,
    smallest_sample_selection,
)
from replearn.bounds.theorem import theorem
from replearn.checks.choices import pool_digest
from replearn.checks.fingerprint import fingerprint
from replearn.compat import HasMethods, Interval, validate_data
from replearn.exceptions import NotCertifiedWarning
from replearn.guarantees.certificate import Certificate, Identity
from replearn.guarantees.design import plain_labels
from replearn.guarantees.promise import Ledger, Promise, Task, above_budget, derive, rounded_up
from replearn.learners.inputs import all_or_nothing, checked_fit
from replearn.learners.training import COUNT, FollowsPlan, warn_if_not_certified
from replearn.paper.hypotheses import (
    Constant,
    Hypothesis,
    HypothesisClass,
    Stumps,
    canonical_text,
    hypothesis_from_dict,
)
from replearn.paper.realizable import cover_distance
from replearn.paper.semi_replicable import listed_candidates, pool_and_rest, selection_budget
from replearn.paper.single_rule import SingleRuleClassifier, check_two_labels, warn_if_abstains
from replearn.primitives.candidates import error_sums
from replearn.primitives.selection import choose_by_errors
from replearn.randomness.key import SharedKey
from replearn.records.checks import check_count, check_fraction, check_positive
from replearn.records.search import require_integer

# Ends of the search: shares of parts that may differ from the common result, noise that is allowed
# for.
_SHARES = np.linspace(0.05, 0.95, 19)
_NOISE = np.linspace(0.0, 12.0, 17)


def noise_ratio(epsilon: float) -> float:
    """Ratio of neighbouring probabilities of the noise: ``exp(-epsilon / 2)``.

    >>> round(noise_ratio(1.0), 4)
    0.6065
    """
    return math.exp(-check_positive("epsilon", epsilon) / 2.0)


@theorem("private-selection")
def single_release(epsilon: float, threshold: int) -> float:
    """Probability that an item with a count of one reaches the threshold, rounded up.

    >>> single_release(1.0, 28) <= 1e-6 < single_release(1.0, 27)
    True
    """
    check_count("threshold", threshold, least=2)
    ratio = noise_ratio(epsilon)
    return upper_probability(math.exp(-epsilon / 2.0 * (threshold - 1)) / (1.0 + ratio))


@theorem("private-selection")
def release_threshold(epsilon: float, delta: float) -> int:
    """Return the smallest noisy count at which an item is released with (epsilon, delta)-privacy.

    >>> release_threshold(1.0, 1e-6)
    28
    """
    check_fraction("delta", delta, one=False)
    budget = min(delta, -math.expm1(-check_positive("epsilon", epsilon) / 2.0))
    return require_integer(
        lambda level: single_release(epsilon, level) <= budget,
        f"epsilon={epsilon!r} and delta={delta!r} are too small for any threshold below 10**9",
        start=2,
        limit=10**9,
    )


@theorem("semi-private")
def semi_private_miss(
    n_keys: int, n_parts: int, rho: float, threshold: int, epsilon: float
) -> float:
    """Probability that the common result of no key is released.

    ``n_keys`` keys with ``n_parts`` runs each, of an estimator whose runs under one key differ with
    probability ``rho``.

    >>> semi_private_miss(3, 100, 0.1, 28, 1.0) < 0.02
    True
    """
    check_count("n_keys", n_keys)
    check_count("n_parts", n_parts)
    ratio = noise_ratio(epsilon)
    noise = np.ceil(2.0 / epsilon * _NOISE)[:, np.newaxis]  # in units of its scale
    # theorem: semi-private (no good key; too few runs agree under one; too much negative noise)
    no_key = np.minimum(rho / _SHARES, 1.0) ** n_keys
    few = binomial_cdf(threshold + noise - 1, n_parts, 1.0 - _SHARES)
    drowned = np.exp(-epsilon / 2.0 * (noise + 1)) / (1.0 + ratio)
    return upper_probability(float(np.min(no_key + few + drowned)))


@theorem("semi-private")
def semi_private_wrong(n_runs: int, run_beta: float, threshold: int, epsilon: float) -> float:
    """Probability that an inaccurate result is released.

    ``run_beta`` is the probability that one of the ``n_runs`` runs is inaccurate.

    >>> semi_private_wrong(300, 1e-4, 28, 1.0) < 0.01
    True
    """
    check_count("n_runs", n_runs)
    ratio = noise_ratio(epsilon)
    many = np.arange(1, threshold + 1)
    # theorem: semi-private (too many inaccurate runs; noise lifts one of their results)
    runs = n_runs * run_beta / many
    single = (many - 1) * np.exp(-epsilon / 2.0 * (threshold - 1))
    lump = np.where(many > 1, np.exp(-epsilon / 2.0 * (threshold - many + 1)), 0.0)
    lifted = np.maximum(single, lump) / (1.0 + ratio)
    return upper_probability(float(np.min(runs + lifted)))


def run_failure(beta: float, n_runs: int, threshold: int) -> float:
    """Share of beta that one run may take: inaccurate runs stay well below the threshold.

    >>> round(run_failure(0.05, 300, 28), 6)
    0.000292
    """
    return beta * threshold / (16.0 * n_runs)


def fewest_parts(n_keys: int, rho: float, threshold: int, epsilon: float, beta: float) -> int:
    """Return the fewest runs of a key that release the common result, except with beta.

    Raises ValueError if no number is enough: then rho is too large for so few keys.

    >>> fewest_parts(3, 0.1, 28, 1.0, 0.02)
    86
    """
    return require_integer(
        lambda parts: semi_private_miss(n_keys, parts, rho, threshold, epsilon) <= beta,
        f"rho={rho!r} is too large for n_keys={n_keys} and beta={beta!r}",
        limit=10**6,
    )


ASSUMPTIONS = ("one-row-apart", "secret-noise", "no-drift", "random-function")

# What the planner tries: keys, and how often two runs under one key may differ.
_KEYS = (1, 2, 3, 4, 6, 8, 12)
_RHOS = (0.05, 0.1, 0.2, 0.3, 0.4, 0.5)
# Share of alpha that the public rows may take: they are cheaper than private ones.
_POOL_SHARE = 0.2


class PrivateDesign(NamedTuple):
    """How many keys, runs under each key and rows in each run."""

    n_keys: int
    n_parts: int
    part_size: int

    @property
    def rows(self) -> int:
        """Private rows altogether."""
        return self.n_keys * self.n_parts * self.part_size


@lru_cache(maxsize=64)
def private_design(
    epsilon: float, delta: float, rest: float, beta: float, n_hypotheses: int
) -> PrivateDesign:
    """Return the design with the fewest private rows for a choice among this many candidates.

    ``rest`` and ``beta`` are what the public pool leaves of the accuracy.

    >>> private_design(1.0, 1e-6, 0.2, 0.025, 20).n_keys
    6
    """
    level = release_threshold(epsilon, delta)
    designs = []
    for n_keys in _KEYS:
        for rho in _RHOS:
            try:
                n_parts = fewest_parts(n_keys, rho, level, epsilon, 0.7 * beta)
            except ValueError:
                continue
            run_beta = run_failure(beta, n_keys * n_parts, level)
            m, _ = smallest_sample_selection(rho, rest, run_beta, n_hypotheses)
            designs.append(PrivateDesign(n_keys, n_parts, m))
    return min(designs, key=lambda design: design.rows)


def _derive(
    ledger: Ledger,
    n: int,
    n_keys: int,
    n_parts: int,
    epsilon: float,
    delta: float,
    alpha: float,
    beta: float,
    public_classes: bool,
    **cover: Any,
) -> Promise:
    level = ledger.add(release_threshold, epsilon=epsilon, delta=delta)
    loss = ledger.add(single_release, epsilon=epsilon, threshold=level)
    private = (
        f"({epsilon:g}, {rounded_up(loss)})-differentially private in the {n} private rows, by "
        f"discrete Laplace noise on the results of {n_keys * n_parts} disjoint parts and a "
        f"release threshold of {level}."
    )
    leaks = () if public_classes else ("the list of classes was read from the private labels",)
    if not cover:
        unknown = ("nothing is known about the accuracy of this estimator",)
        return Promise(promises=(private,), reasons=leaks + unknown, assumptions=ASSUMPTIONS)
    n_shared = cover.pop("n_shared")
    d = cover.pop("d")
    items = {**cover, "m": max(n // (n_keys * n_parts), 1)}
    shared = {"threshold": level, "epsilon": epsilon}
    distance = ledger.add(cover_distance, n_shared=n_shared, d=d, beta=beta / 2)
    if distance >= alpha or n == 0:
        small = (f"too few rows for alpha = {alpha:g} (public: {n_shared}, private: {n})",)
        return Promise(promises=(private,), reasons=leaks + small, assumptions=ASSUMPTIONS)
    rho = ledger.add(selection_flip_bound_sampled, **items)
    run_beta = ledger.add(selection_error_tail_sampled, alpha=alpha - distance, **items)
    missed = ledger.add(semi_private_miss, n_keys=n_keys, n_parts=n_parts, rho=rho, **shared)
    wrong = ledger.add(semi_private_wrong, n_runs=n_keys * n_parts, run_beta=run_beta, **shared)
    failure = min(1.0, beta / 2 + missed + wrong)
    accurate = (
        f"With a public pool of {n_shared} rows the error exceeds the best of the class's by more "
        f"than {alpha:g}, or nothing is released, with probability at most {rounded_up(failure)}."
    )
    return Promise(
        promises=(private, accurate),
        alpha=alpha,
        beta=failure,
        reasons=leaks + above_budget("beta", failure, beta),
        # Privacy holds for any rows, accuracy for independent ones and a pool apart from them.
        assumptions=(*ASSUMPTIONS, "independent-rows", "candidates-fixed"),
    )


def _solve(
    d: int,
    n: int | None = None,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    alpha: float = 0.1,
    beta: float = 0.05,
    n_shared: int | None = None,
) -> dict[str, Any]:
    pool, rest = pool_and_rest(alpha, beta, d, n_shared, share=_POOL_SHARE)
    n_hypotheses = listed_candidates(d, alpha, pool)
    design = private_design(epsilon, delta, rest, beta / 2, n_hypotheses)
    n_runs = design.n_keys * design.n_parts
    size = design.part_size if n is None else n // n_runs
    failure = run_failure(beta / 2, n_runs, release_threshold(epsilon, delta))
    scale = run_scale(n_hypotheses, rest, failure, max(size, 1))
    return {
        "n": n_runs * size if n is None else n,
        "n_keys": design.n_keys,
        "n_parts": design.n_parts,
        "epsilon": epsilon,
        "delta": delta,
        "alpha": alpha,
        "beta": beta,
        "public_classes": True,
        "n_shared": pool,
        "d": d,
        "n_hypotheses": n_hypotheses,
        "sharpness": scale,
    }


def run_scale(n_hypotheses: int, alpha: float, beta: float, rows: int) -> float:
    """Return the scale at which a run is accurate, or nearly so if it has too few rows."""
    scale = selection_scale(n_hypotheses, alpha, beta, rows)
    return math.log(n_hypotheses / beta) / alpha if scale is None else float(scale)


TASKS = (
    Task(
        "semi-private",
        _derive,
        _solve,
        learners=("SemiPrivateClassifier",),
        theorem="semi-private",
    ),
)

MECHANISM = "discrete Laplace noise on counts and a release threshold (OpenDP)"


@dataclass(frozen=True)
class PrivateSelection:
    """The result of a private selection.

    Parameters
    ----------
    item : object or None
        The item with the largest noisy count; None if no noisy count reached the threshold.
    noisy_count : int
        Its count with noise; 0 if there is no item.
    epsilon, delta : float
        Bounds on what exchanging one item can change.
    threshold : int
        The smallest noisy count that is released.
    mechanism : str
        Where the noise comes from.
    """

    item: Any
    noisy_count: int
    epsilon: float
    delta: float
    threshold: int
    mechanism: str = MECHANISM


def select_privately(items: Iterable[Hashable], epsilon: float, delta: float) -> PrivateSelection:
    """Return an item that occurs often, with (epsilon, delta)-differential privacy.

    Two lists of the same length that differ in one item give any set of results with
    probabilities p and q, ``p <= exp(epsilon) q + delta``. This requires the extra ``privacy``
    (OpenDP).

    Parameters
    ----------
    items : iterable of str, int or tuple
        Hashable items that differ in their ``repr``. Their number is not kept secret.
    epsilon : float
        Privacy loss, above 0.
    delta : float
        Its failure probability, in (0, 1).

    Returns
    -------
    PrivateSelection
        Every call draws fresh noise, so that two calls may differ. Together they reveal more than
        one: their epsilons and deltas add up.

    Examples
    --------
    >>> chosen = select_privately(["a"] * 200 + ["b"] * 3, epsilon=1.0, delta=1e-6)
    >>> chosen.item, chosen.threshold
    ('a', 28)
    >>> select_privately(["a", "b"], epsilon=1.0, delta=1e-6).item is None
    True
    """
    listed = list(items)
    names = {_name(item): item for item in listed}
    level = release_threshold(epsilon, delta)
    # theorem: private-selection
    released = release_counts(Counter(map(_name, listed)), epsilon, level)
    best = max(released, key=lambda name: (released[name], name), default=None)
    if best is None:
        return PrivateSelection(None, 0, float(epsilon), float(delta), level)
    return PrivateSelection(names[best], released[best], float(epsilon), float(delta), level)


def release_counts(counts: Mapping[str, int], epsilon: float, threshold: int) -> dict[str, int]:
    """Add fresh noise of scale 2 / epsilon to each count, and leave out those below the threshold.

    OpenDP draws the noise and applies the threshold. What privacy that gives is computed by
    `replearn.bounds.privacy`, not by OpenDP's own privacy map: that map counts P(noise > threshold
    - 1) for an item with a count of one, while the item is released at the threshold itself.
    """
    check_positive("epsilon", epsilon)
    check_count("threshold", threshold, least=2)
    if not counts:
        return {}
    dp = _opendp()
    space = (
        dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T="i64")),
        dp.l01inf_distance(dp.absolute_distance(T="i64")),
    )
    measurement = dp.m.make_laplace_threshold(*space, scale=2.0 / epsilon, threshold=int(threshold))
    return dict(measurement(dict(counts)))


def _name(item: Hashable) -> str:
    return f"{type(item).__name__}:{item!r}"


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError as error:
        raise ImportError(
            "private selection needs OpenDP: pip install 'replicable-learn[privacy]'"
        ) from error
    dp.enable_features("contrib")
    return dp


_POSITIVE = Interval(Real, 0, None, closed="neither")
# Keys for a classifier of which nothing is known, and how often its runs are taken to differ.
_N_KEYS = 3
_RHO = 0.1


class SemiPrivateClassifier(SingleRuleClassifier):
    """Learn a rule that reveals no single labelled row, with the help of public unlabelled rows.

    The private rows are cut into parts by their position, a replicable estimator runs on each part,
    and a rule that many parts share is released with noise and a threshold. Exchanging one
    private row changes the rule of one part only: the result is (epsilon, delta)-differentially
    private whatever the data are. This requires the extra ``privacy`` (OpenDP).

    Parameters
    ----------
    hypotheses : HypothesisClass or replicable classifier, default=None
        The class, learned by a cover of the public pool. If None, decision stumps over all
        features. A classifier that keeps its rule in ``hypothesis_`` is run on each part as it is;
        nothing is then promised about accuracy.
    epsilon, delta : float, default=1.0, 1e-6
        Privacy loss and its failure probability.
    alpha, beta : float, default=0.1, 0.05
        Excess error over the best of the class, and the probability that it is larger or that no
        rule is released.
    n_keys, n_parts : int, default=None
        Number of shared keys, and of parts that run under each. If None, the numbers that need the
        fewest rows.
    classes : array-like, default=None
        The two labels. If None, those in ``y``, which is not private, as the certificate says.
    shared_key : str, bytes, int or SharedKey, default=None
        The source of randomness of the replicable runs, which need not be secret. The cut and the
        noise do not come from it: they are secret and fresh, so that two fits may give two rules.
    plan : Plan, default=None
        A plan shared between labs. It sets ``epsilon``, ``delta``, ``alpha``, ``beta``, ``n_keys``
        and ``n_parts``, which must then keep their defaults here, and the number of rows: a surplus
        is left out by key.

    Attributes
    ----------
    hypothesis_ : Hypothesis
        The released rule; the constant of the second class if none was released.
    released_ : bool
        Whether a rule was released; if not, ``fit`` warns with `UsefulnessWarning`.
    noisy_count_ : int
        Parts that agree on it, with noise.
    n_keys_, n_parts_, part_size_ : int
        Number of keys, of parts for each key, and of rows of a part.
    certificate_ : Certificate
        What is promised.
    classes_ : ndarray
        The labels.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from replearn.paper.thresholds import ReplicableThresholdClassifier
    >>> from replearn.paper.semi_private import SemiPrivateClassifier
    >>> ages = np.random.default_rng(0).integers(0, 100, (40_000, 1))
    >>> estimator = ReplicableThresholdClassifier(sharpness=2000.0)
    >>> model = SemiPrivateClassifier(estimator, epsilon=2.0, n_keys=1, n_parts=80, classes=[0, 1])
    >>> with warnings.catch_warnings(action="ignore"):  # nothing is promised about accuracy
    ...     model = model.fit(ages, ages[:, 0] > 64)
    >>> print(model.rule(), model.certificate_.promises[0][:40], sep=", ")
    1 if x0 > 64, else 0, (2, 6.079e-07)-differentially private in
    """

    _set_by_plan: ClassVar[tuple[str, ...]] = (
        "epsilon",
        "delta",
        "alpha",
        "beta",
        "n_keys",
        "n_parts",
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "hypotheses": [HypothesisClass, HasMethods(["fit", "predict"]), None],
        **{k: v for k, v in FollowsPlan._parameter_constraints.items() if k != "rho"},
        "epsilon": [_POSITIVE],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "n_keys": [COUNT, None],
        "n_parts": [COUNT, None],
        "classes": ["array-like", None],
    }

    def __init__(
        self,
        hypotheses=None,
        *,
        epsilon=1.0,
        delta=1e-6,
        alpha=0.1,
        beta=0.05,
        n_keys=None,
        n_parts=None,
        classes=None,
        shared_key=None,
        plan=None,
    ):
        self.hypotheses = hypotheses
        self.epsilon = epsilon
        self.delta = delta
        self.alpha = alpha
        self.beta = beta
        self.n_keys = n_keys
        self.n_parts = n_parts
        self.classes = classes
        self.shared_key = shared_key
        self.plan = plan

    @checked_fit
    def fit(self, X: Any, y: ArrayLike, X_shared: Any = None):
        """Run on every part, and release a rule that many parts share.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            The private rows. Their number is not kept secret.
        y : array-like of shape (n,)
            Their labels, of two classes.
        X_shared : array-like of shape (u, n_features), default=None
            Public unlabelled rows, which are needed with a hypothesis class.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        with all_or_nothing(self):
            params = self._in_force()
            X = validate_data(self, X, reset=True, dtype=np.float64)
            codes, self.classes_ = check_two_labels(X, y, self.classes)
            cover = self._cover(X.shape[1], X_shared)
            design = self._design(cover, len(codes))
            self.n_keys_, self.n_parts_, self.part_size_ = design
            # theorem: semi-private (cut by position, never by content)
            parts = cut_secretly(len(codes), design)
            rules = [canonical_text(rule) for rule in self._rules(cover, X, codes == 1, parts)]
            # theorem: private-selection
            chosen = select_privately(rules, params.epsilon, params.delta)
            self.released_ = chosen.item is not None
            self.noisy_count_ = chosen.noisy_count
            text = chosen.item if self.released_ else canonical_text(Constant(True))
            self.hypothesis_ = hypothesis_from_dict(json.loads(text))
            self.certificate_ = self._certificate(cover, X_shared)
        warn_if_not_certified(self.certificate_)
        warn_if_abstains(self, "too few parts agree on one rule")
        return self

    def _cover(self, n_features: int, X_shared: Any) -> _Cover | None:
        """Return the candidates from the public pool; None for a classifier."""
        if self.hypotheses is not None and not isinstance(self.hypotheses, HypothesisClass):
            return None
        if X_shared is None:
            raise ValueError(
                "X_shared is missing: give fit(X, y, X_shared=pool) public unlabelled rows, or a "
                "replicable classifier as hypotheses."
            )
        pool = validate_data(self, X_shared, reset=False, dtype=np.float64)
        hypotheses = Stumps(n_features) if self.hypotheses is None else self.hypotheses
        cover = hypotheses.cover(pool)
        d = hypotheses.vc_dimension
        params = self._in_force()
        rest, beta = selection_budget(params.alpha, params.beta, len(pool), d)
        return _Cover(cover.rules, cover.identity, len(pool), d, rest or params.alpha / 2, beta)

    def _design(self, cover: _Cover | None, available: int) -> PrivateDesign:
        """Return keys and parts, which depend on no row, and the rows that there are for each."""
        params = self._in_force()
        if cover is None:
            level = release_threshold(params.epsilon, params.delta)
            n_parts = fewest_parts(_N_KEYS, _RHO, level, params.epsilon, params.beta / 2)
            best = PrivateDesign(_N_KEYS, n_parts, 1)
        else:
            count = max(len(cover.rules), 2)
            best = private_design(params.epsilon, params.delta, cover.rest, cover.beta, count)
        n_keys = params.n_keys or best.n_keys
        n_parts = params.n_parts or best.n_parts
        size = self._n_planned(available)
        return PrivateDesign(n_keys, n_parts, size // (n_keys * n_parts))

    def _sharpness(self, cover: _Cover) -> float:
        """Return the scale of one run."""
        params = self._in_force()
        level = release_threshold(params.epsilon, params.delta)
        n_runs = self.n_keys_ * self.n_parts_
        beta = run_failure(cover.beta, n_runs, level)
        count = max(len(cover.rules), 2)
        return run_scale(count, cover.rest, beta, max(self.part_size_, 1))

    def _rules(
        self,
        cover: _Cover | None,
        X: NDArray[np.float64],
        y: NDArray[np.bool_],
        parts: NDArray[np.intp],
    ) -> Iterator[Hypothesis]:
        """Run on every part, under the key that it shares with others."""
        keys = [self._key().child("run", k) for k in range(self.n_keys_)]
        for part, rows in enumerate(parts if self.part_size_ else ()):
            key = keys[part // self.n_parts_]
            if cover is None:
                yield _rule_of(self.hypotheses, X[rows], y[rows], key)
            else:
                wrong, m = error_sums(cover.rules, X[rows], y[rows])
                t = self._sharpness(cover)
                index, _ = choose_by_errors(wrong / m, cover.names, sharpness=t, key=key)
                yield cover.rules[index]

    def _certificate(self, cover: _Cover | None, X_shared: Any) -> Certificate:
        """Issue the certificate; nothing on it was read from the private rows."""
        accuracy: dict[str, Any] = {}
        if cover is not None:
            accuracy = {
                "n_shared": cover.n_shared,
                "d": cover.d,
                "n_hypotheses": len(cover.rules),
                "sharpness": float(self._sharpness(cover)),
            }
        params = self._in_force()
        bound = fingerprint(self.hypotheses)
        pool = "" if cover is None else pool_digest(np.asarray(X_shared, dtype=np.float64))
        identity = Identity(
            self._key().fingerprint,
            classes=plain_labels(self.classes_),
            versions=bound.versions,
            hypotheses=bound.digest,
            pool=pool,
            unbound=bound.unbound,
        )
        inputs = {
            "n": self.n_keys_ * self.n_parts_ * self.part_size_,
            "n_keys": self.n_keys_,
            "n_parts": self.n_parts_,
            "epsilon": float(params.epsilon),
            "delta": float(params.delta),
            "alpha": float(params.alpha),
            "beta": float(params.beta),
            "public_classes": self.classes is not None,
            **accuracy,
        }
        return Certificate.of(derive("semi-private", inputs), identity)


class _Cover(NamedTuple):
    """Candidates from the public pool, and what the pool leaves of alpha and beta."""

    rules: Any
    names: Any
    n_shared: int
    d: int
    rest: float
    beta: float


def cut_secretly(n: int, design: PrivateDesign) -> NDArray[np.intp]:
    """Cut n rows into parts by their position, in an order that is secret and fresh.

    >>> cut_secretly(10, PrivateDesign(1, 3, 3)).shape
    (3, 3)
    """
    order = np.random.default_rng(secrets.randbits(128)).permutation(n)
    return order[: design.rows].reshape(design.n_keys * design.n_parts, design.part_size)


def _rule_of(classifier: Any, X: Any, y: Any, key: SharedKey) -> Hypothesis:
    """Fit a clone on one part and return its rule, a value without anything else of the fit."""
    model = clone(classifier)
    known = model.get_params(deep=False)
    own = {"shared_key": key, "classes": [False, True]}
    model.set_params(**{name: value for name, value in own.items() if name in known})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotCertifiedWarning)
        rule = getattr(model.fit(X, y), "hypothesis_", None)
    if not isinstance(rule, Hypothesis):
        raise TypeError(
            f"hypotheses={classifier!r} must be a HypothesisClass or a classifier whose fitted "
            "hypothesis_ is a Hypothesis: only such a rule can be released by its text."
        )
    return rule
