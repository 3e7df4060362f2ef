"""Blocks that vote: the fit that the pointwise and the approximate learner share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.linear_model import LogisticRegression

from replearn.compat import fit_context
from replearn.exceptions import NotCertifiedWarning
from replearn.execution import Panel, fit_blocks, make_blocks
from replearn.guarantees import HeavyStage, Plan, heavy_stage
from replearn.heavy import fit_heavy
from replearn.learners._constant_blocks import PROBES, warn_if_constant
from replearn.learners._followed_plan import check_followed
from replearn.learners._foresight import foreseen_variance
from replearn.learners._inputs import (
    check_base,
    check_classes,
    check_features,
    check_groups,
    check_labels,
    describe_learner,
)
from replearn.learners._predictions import VotePredictions
from replearn.learners._single_rule import forget_fit
from replearn.learners._traps import float_precision, warn_if_preprocessed
from replearn.learners._warn import warn_user
from replearn.randomness import SharedKey, as_points
from replearn.tables import take_rows


class BlockVotingClassifier(VotePredictions):
    """Train the base learner on keyed blocks, as a plan says.

    A subclass stores its parameters and makes the plan.
    """

    def _stage(
        self, n: int, n_classes: int, rho: float, gamma: float | None = None
    ) -> HeavyStage | None:
        """Plan the treatment of heavy points: on exactly when alpha is given."""
        if self.alpha is None or self.heavy == "off":
            return None
        return heavy_stage(
            n=n,
            rho=rho,
            alpha=self.alpha,
            beta=self.beta,
            realizable=self.setting == "realizable",
            paper=self.heavy == "paper",
            gamma=gamma,
            n_classes=n_classes,
        )

    def _listed_classes(self) -> Any:
        """List of classes that the caller gave, for the plan; None: they are read from the data."""
        return None if self.classes is None else check_classes(self.classes)

    @abstractmethod
    def _plan_for(self, n: int, n_classes: int, unit: str) -> Plan:
        """Make the plan from the parameters and the number of units, never from the data."""

    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: ArrayLike, groups: ArrayLike | None = None):
        """Train the base learner on every block.

        Parameters
        ----------
        X : array-like, frame, sparse matrix or list of text of shape (n, n_features)
            The sample.
        y : array-like of shape (n,)
            Labels of any kind.
        groups : array-like of shape (n,), default=None
            Rows of one group (one patient) stay in one block; the certificate then counts groups.

        Returns
        -------
        self : object
            The fitted learner.
        """
        self._forget()
        try:
            X = check_features(self, X, reset=True)
            fitted = self._fit(X, y, groups)
        except BaseException:
            # Also on Ctrl-C: no half-fitted learner is left behind.
            self._forget()
            raise
        self.__dict__.update(fitted)
        return self

    def _forget(self) -> None:
        forget_fit(self)
        for name in ("_dtype", "_panel"):
            self.__dict__.pop(name, None)

    def _fit(self, X: Any, y: ArrayLike, groups: ArrayLike | None) -> dict[str, Any]:
        base = LogisticRegression(max_iter=1000) if self.estimator is None else self.estimator
        check_base(base, self.vote if self.plan is None else self.plan.vote)
        codes, classes = check_labels(
            X, y, self.classes if self.plan is None else self.plan.classes
        )
        groups = check_groups(groups, len(codes))
        warn_if_preprocessed(X)
        key = SharedKey(self.shared_key)
        available = len(codes) if groups is None else len(np.unique(groups))
        unit = "rows" if groups is None else "groups"
        if groups is not None:
            self._check_no_stage()
        made = self._resolve_plan(available, unit, classes)
        stage = made.design.heavy
        sample = _planned_rows(key, _without_file_order(key, _Sample(X, codes, groups), made), made)
        estimators, probes = self._train(base, sample, made, key)
        panel = Panel(estimators, np.arange(max(2, len(classes))), made.n_partitions)
        learner, digest = describe_learner(base)
        certificate = made.certificate(
            key_fingerprint=key.fingerprint,
            learner=learner,
            learner_digest=digest,
            n_available=available,
            classes=classes.tolist(),
            unit=unit,
        )
        heavy = None
        if stage is not None:
            heavy = fit_heavy(sample.X, sample.codes, classes, stage, key, made.decimals)
        return {
            "plan_": made,
            "heavy_": heavy,
            "certificate_": certificate,
            "classes_": classes,
            "estimators_": estimators,
            "_dtype": float_precision(X),
            "joint_variance_": foreseen_variance(
                panel, take_rows(sample.X, probes), made, self.n_jobs
            ),
            "_panel": panel,
        }

    def _check_no_stage(self) -> None:
        asked = self.alpha is not None and self.heavy != "off"
        if asked if self.plan is None else self.plan.design.heavy is not None:
            raise ValueError(
                "groups cannot be used with a heavy stage (alpha): the rows of one group are not "
                "independent, so counts of equal rows have no known law. Leave alpha out, or keep "
                "one row per group."
            )

    def _resolve_plan(self, available: int, unit: str, classes: NDArray[Any]) -> Plan:
        if self.plan is not None:
            check_followed(self, available, unit, classes)
            return self.plan
        made = self._plan_for(available, max(2, len(classes)), unit)
        if not made.certified:
            warn_user(made.reason, NotCertifiedWarning)
        return made

    def _train(
        self, base: Any, sample: _Sample, made: Plan, key: SharedKey
    ) -> tuple[list[Any], NDArray[np.intp]]:
        """Return the models of all blocks, and a few rows in keyed order."""
        points = as_points(sample.X, decimals=made.decimals)
        blocks, keys, names = [], [], []
        for j in range(made.n_partitions):
            blocks += make_blocks(
                key,
                points,
                sample.codes,
                made.n_blocks,
                made.block_size,
                partition=j,
                groups=sample.groups,
            )
            keys += [key.child("seed", j, block) for block in range(made.n_blocks)]
            names += [f"block {block} of partition {j}" for block in range(made.n_blocks)]
        models = fit_blocks(
            base,
            sample.X,
            sample.codes,
            blocks,
            keys,
            names=names,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        warn_if_constant(
            models,
            base,
            sample.X,
            sample.codes,
            blocks[: made.n_blocks],
            block_size=made.block_size,
            unit=made.unit,
        )
        return models, np.concatenate(blocks[: made.n_blocks])[:PROBES]


class _Sample(NamedTuple):
    X: Any
    codes: NDArray[np.intp]
    groups: NDArray[Any] | None


def _without_file_order(key: SharedKey, sample: _Sample, made: Plan) -> _Sample:
    """Forget the order of the file where rows that count as equal are not interchangeable.

    Equal rows are told apart by which came first. Rounded alike they still train differently, and
    in different groups they go into different blocks.
    """
    if made.decimals is None and sample.groups is None:
        return sample
    points = as_points(sample.X)
    if sample.groups is not None:
        points = points.beside(as_points(sample.groups))
    rows = key.child("file").order(points, sample.codes)
    groups = None if sample.groups is None else sample.groups[rows]
    return _Sample(take_rows(sample.X, rows), sample.codes[rows], groups)


def _planned_rows(key: SharedKey, sample: _Sample, made: Plan) -> _Sample:
    """Leave out by key what a lab has beyond the plan's n.

    The key of this choice depends on how many units there are: two labs with different surplus
    choose independently, two labs with the same surplus choose alike, and in both cases the flip
    bound holds (theorem: content-keyed-partition, section "surplus").
    """
    available = len(sample.codes) if sample.groups is None else len(np.unique(sample.groups))
    surplus = key.child("surplus", available)
    if sample.groups is None:
        if len(sample.codes) == made.n:
            return sample
        points = as_points(sample.X, decimals=made.decimals)
        rows = surplus.order(points, sample.codes)[: made.n]
    else:
        names, group_of_row = np.unique(sample.groups, return_inverse=True)
        if len(names) == made.n:
            return sample
        kept = np.zeros(len(names), dtype=bool)
        kept[surplus.order(names)[: made.n]] = True
        rows = np.flatnonzero(kept[group_of_row])
    groups = None if sample.groups is None else sample.groups[rows]
    return _Sample(take_rows(sample.X, rows), sample.codes[rows], groups)
