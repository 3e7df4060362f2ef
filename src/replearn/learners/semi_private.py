"""Semi-private learning: replicable runs on disjoint parts, a private choice among them."""

from __future__ import annotations

import json
import math
import secrets
import warnings
from collections.abc import Iterator
from numbers import Real
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from replearn.binding import bind, pool_digest
from replearn.bounds import fewest_parts, release_threshold, run_failure, selection_scale
from replearn.compat import HasMethods, Interval, validate_data
from replearn.exceptions import NotCertifiedWarning
from replearn.guarantees import (
    Certificate,
    Identity,
    PrivateDesign,
    plain_labels,
    private_design,
    selection_budget,
)
from replearn.hypotheses import (
    Constant,
    Hypothesis,
    HypothesisClass,
    Stumps,
    canonical_text,
    hypothesis_from_dict,
)
from replearn.learners.inputs import all_or_nothing, checked_fit
from replearn.learners.single_rule import (
    SingleRuleClassifier,
    check_two_labels,
    warn_if_abstains,
)
from replearn.learners.training import COUNT, FollowsPlan, warn_if_not_certified
from replearn.primitives import choose_by_errors, error_counts, named_candidates, select_privately
from replearn.randomness import SharedKey

_POSITIVE = Interval(Real, 0, None, closed="neither")
# Keys for a classifier of which nothing is known, and how often its runs are taken to differ.
_KEYS = 3
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
    >>> from replearn.learners import ReplicableThresholdClassifier, SemiPrivateClassifier
    >>> ages = np.random.default_rng(0).integers(0, 100, (40_000, 1))
    >>> estimator = ReplicableThresholdClassifier(sharpness=2000.0)
    >>> model = SemiPrivateClassifier(estimator, epsilon=2.0, n_keys=1, n_parts=80, classes=[0, 1])
    >>> with warnings.catch_warnings(action="ignore"):  # nothing is promised about accuracy
    ...     model = model.fit(ages, ages[:, 0] > 64)
    >>> print(model.rule(), model.certificate_.promises[0][:40], sep=", ")
    1 if x0 > 64, else 0, (2, 6.079e-07)-differentially private in
    """

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
        rules, names = named_candidates(hypotheses.cover(pool), None)
        d = hypotheses.vc_dimension
        params = self._in_force()
        rest, beta = selection_budget(params.alpha, params.beta, len(pool), d)
        return _Cover(rules, names, len(pool), d, rest or params.alpha / 2, beta)

    def _design(self, cover: _Cover | None, available: int) -> PrivateDesign:
        """Return keys and parts, which depend on no row, and the rows that there are for each."""
        params = self._in_force()
        if cover is None:
            level = release_threshold(params.epsilon, params.delta)
            n_parts = fewest_parts(_KEYS, _RHO, level, params.epsilon, params.beta / 2)
            best = PrivateDesign(_KEYS, n_parts, 1)
        else:
            count = max(len(cover.rules), 2)
            best = private_design(params.epsilon, params.delta, cover.rest, cover.beta, count)
        n_keys = params.n_keys or best.n_keys
        n_parts = params.n_parts or best.n_parts
        size = self._n_planned(available)
        return PrivateDesign(n_keys, n_parts, size // (n_keys * n_parts))

    def _sharpness(self, cover: _Cover) -> float:
        """Return the scale at which a run is accurate, or nearly so if its part is too small."""
        params = self._in_force()
        level = release_threshold(params.epsilon, params.delta)
        n_runs = self.n_keys_ * self.n_parts_
        beta = run_failure(cover.beta, n_runs, level)
        count = max(len(cover.rules), 2)
        rows = max(self.part_size_, 1)
        scale = selection_scale(count, cover.rest, beta, rows)
        return math.log(count / beta) / cover.rest if scale is None else scale

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
                wrong, m = error_counts(cover.rules, X[rows], y[rows])
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
        fingerprint = bind(self.hypotheses)
        pool = "" if cover is None else pool_digest(np.asarray(X_shared, dtype=np.float64))
        identity = Identity(
            self._key().fingerprint,
            classes=plain_labels(self.classes_),
            versions=fingerprint.versions,
            hypotheses=fingerprint.digest,
            pool=pool,
            unbound=fingerprint.unbound,
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
        return Certificate.issue("semi-private", inputs, identity)


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
