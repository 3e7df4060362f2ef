"""The path of every estimator that trains on blocks: sample, plan, **train**, rule, certificate.

The sample is cut by key and content, and one estimator is fitted on each block. Rows in files have
a sample and blocks of their own with the same methods (`replearn.outofcore.sample`). A plan depends
on the parameters and the number of rows only, never on the data.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from numbers import Integral, Real
from types import MappingProxyType, SimpleNamespace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

import replearn.fastpaths  # noqa: F401 - registers the faster ways to fit and to vote
from replearn.checks.blocks import (
    PROBES,
    adapted_to_blocks,
    block_condition,
    family_of,
    rows_needed,
    warn_if_constant,
)
from replearn.checks.fingerprint import Fingerprint
from replearn.checks.point_masses import (
    has_distinct_column,
    refuted_point_mass,
    without_masses,
)
from replearn.checks.sample import failed_by_sample, index_of
from replearn.compat import Interval
from replearn.exceptions import ConstantBlocksWarning, NotCertifiedWarning, warn_user
from replearn.execution.context import RunContext
from replearn.execution.fitting import fit_blocks, make_blocks
from replearn.guarantees.certificate import Certificate, Identity
from replearn.guarantees.design import MIN_BLOCK, VoteDesign
from replearn.guarantees.plan import Plan
from replearn.guarantees.planner import (
    DEFAULT_BLOCKS,
    partitions_for,
    plan as make_plan,
    plan_votes,
)
from replearn.guarantees.promise import rounded_up
from replearn.learners.inputs import (
    FittedState,
    base_estimator,
    check_classes,
    check_groups,
    check_labels,
    refuse_one_class,
)
from replearn.primitives.candidates import sample_key, sample_order
from replearn.randomness.key import HoldsKey, SharedKey
from replearn.randomness.points import Points, as_points
from replearn.tables.rows import is_sparse, take_rows


class Cut(NamedTuple):
    """How the rows are cut into blocks where no plan of votes says it."""

    n: int
    n_blocks: int
    n_partitions: int = 1
    decimals: int | None = None

    @property
    def block_size(self) -> int:
        """Rows (or groups) of a block."""
        return self.n // self.n_blocks


# -- what a fit uses of its rows -------------------------------------------------------------------
class Sample(NamedTuple):
    """A labelled sample in memory; rows of one group stay together."""

    X: Any
    codes: NDArray[Any]  # labels as codes, or numbers
    groups: NDArray[Any] | None = None
    params: Mapping[str, NDArray[Any]] = MappingProxyType({})  # of fit, one value per row
    label_index: Any = None  # pandas index of the labels as they were passed

    @property
    def n(self) -> int:
        """Rows, or groups where there are groups."""
        return len(self.codes) if self.groups is None else len(np.unique(self.groups))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def unit(self) -> str:
        """What `n` counts."""
        return "rows" if self.groups is None else "groups"

    @property
    def n_columns(self) -> int | None:
        """Columns of a dense table; None for texts and sparse rows, whose columns cost nothing."""
        shape: tuple[int, ...] = getattr(self.X, "shape", ())
        return int(shape[1]) if len(shape) == 2 and not is_sparse(self.X) else None

    @property
    def points(self) -> Points:
        """The rows as points, each beside its group where there are groups."""
        points = self.with_params(as_points(self.X))
        return points if self.groups is None else points.beside(as_points(self.groups))

    def with_params(self, points: Points) -> Points:
        """Return points beside the arguments of fit: a row of another weight is another row."""
        for values in self.params.values():
            points = points.beside(as_points(values))
        return points

    def take(self, rows: NDArray[np.intp]) -> Sample:
        """Return some of the rows, in this order."""
        groups = None if self.groups is None else self.groups[rows]
        params = {name: values[rows] for name, values in self.params.items()}
        return Sample(take_rows(self.X, rows), self.codes[rows], groups, params)

    def failed_conditions(self) -> tuple[str, ...]:
        """Return what the rows refute of the conditions of a certificate, and warn about it."""
        return failed_by_sample(self.X, self.codes, self.groups, self.label_index)

    def planned(self, key: SharedKey, plan: Any) -> Sample:
        """Forget the order of the file, and leave out by key what a lab has beyond the plan's n.

        Labs with different surplus choose independently, labs with the same surplus alike; in both
        cases the flip bound holds (theorem: content-keyed-partition, section "surplus").
        """
        available = self.n
        sample = self._without_file_order(key, plan)
        if available == plan.n:
            return sample
        surplus = key.child("surplus", available)
        if sample.groups is None:
            points = as_points(sample.X, decimals=plan.decimals)
            return sample.take(surplus.order(points, sample.codes)[: plan.n])
        names, group_of_row = np.unique(sample.groups, return_inverse=True)
        kept = np.zeros(len(names), dtype=bool)
        kept[surplus.order(names)[: plan.n]] = True
        return sample.take(np.flatnonzero(kept[group_of_row]))

    def _without_file_order(self, key: SharedKey, plan: Any) -> Sample:
        """Forget the order of the file where rows that count as equal are not interchangeable.

        Of equal rows, the one that came first counts first. Rows that are equal once rounded still
        train differently, and in different groups they go into different blocks.
        """
        if plan.decimals is None and self.groups is None and not self.params:
            return self
        return self.take(key.child("file").order(self.points, self.codes))

    def cut(self, design: VoteDesign | Cut, key: SharedKey) -> Blocks:
        """Cut the rows into disjoint blocks of equal size, partition by partition."""
        # theorem: content-keyed-partition
        rows = make_blocks(
            key,
            self.with_params(as_points(self.X, decimals=design.decimals)),
            self.codes,
            design.n_blocks,
            design.block_size,
            partition=range(design.n_partitions),
            groups=self.groups,
        )
        return Blocks(self, design, key, rows)


def check_sample(X: Any, y: Any, groups: Any, classes: Any) -> tuple[Sample, NDArray[Any]]:
    """Return the sample with its labels as codes, and the list of classes."""
    codes, classes = check_labels(X, y, classes)
    refuse_one_class(classes)
    sample = Sample(X, codes, check_groups(groups, len(codes)), label_index=index_of(y))
    return sample, classes


# -- training --------------------------------------------------------------------------------------
@dataclass(eq=False)
class Blocks:
    """The blocks of one fit, partition by partition, and the estimators trained on them.

    Parameters
    ----------
    sample : Sample
        The rows that the design counts.
    design : VoteDesign or Cut
        Number and size of blocks, number of partitions; never from the data.
    key : SharedKey
        Cuts the rows and seeds the estimators.
    rows : list of ndarray
        The positions of the rows of each block, in keyed order.
    """

    sample: Any
    design: VoteDesign | Cut
    key: SharedKey
    rows: list[NDArray[np.intp]]
    estimators: list[Any] = field(default_factory=list)

    @property
    def indices(self) -> list[tuple[int, int]]:
        """(partition, block) of all blocks, in the order in which they are trained."""
        ways, n_blocks = range(self.design.n_partitions), range(self.design.n_blocks)
        return [(partition, block) for partition in ways for block in n_blocks]

    @property
    def keys(self) -> list[SharedKey]:
        """The key of the seeds of each block."""
        return [self.key.child("seed", *index) for index in self.indices]

    @property
    def names(self) -> list[str]:
        """How errors name each block."""
        return [f"block {block} of partition {partition}" for partition, block in self.indices]

    def train(
        self,
        estimator: Any,
        *,
        n_jobs: int | None = None,
        verbose: int = 0,
        context: RunContext | None = None,
    ) -> None:
        """Fit one clone of the estimator on each block.

        Parameters
        ----------
        estimator : estimator
            The base estimator.
        n_jobs, verbose, context
            How to run; the fitted estimators do not depend on it.
        """
        self.estimators = fit_blocks(
            estimator,
            self.sample.X,
            self.sample.codes,
            self.rows,
            self.keys,
            names=self.names,
            params=self.sample.params,
            n_jobs=n_jobs,
            verbose=verbose,
            context=context,
        )

    def block(self, index: int) -> tuple[Any, NDArray[Any]]:
        """Return the rows of a block and the codes of their labels."""
        rows = self.rows[index]
        return take_rows(self.sample.X, rows), self.sample.codes[rows]

    def first_rows(self, count: int) -> tuple[Any, NDArray[Any], NDArray[np.intp]]:
        """Return the first rows of the first partition in keyed order, with labels and blocks."""
        first = self.rows[: self.design.n_blocks]
        ends = np.cumsum([len(block) for block in first])
        first = first[: 1 + int(np.searchsorted(ends, count))]
        blocks = np.repeat(np.arange(len(first)), [len(block) for block in first])
        chosen = np.concatenate(first)[:count]
        return take_rows(self.sample.X, chosen), self.sample.codes[chosen], blocks[:count]

    @cached_property
    def label_counts(self) -> NDArray[np.int64]:
        """How often each label occurs in each block, (blocks, classes)."""
        codes = self.sample.codes
        n_classes = max(2, int(codes.max()) + 1)
        return np.array([np.bincount(codes[rows], minlength=n_classes) for rows in self.rows])

    def refuted_point_mass(self, assumed: float) -> str | None:
        """Say in words that equal rows refute a bound on point masses; None if they do not."""
        sample = self.sample
        if self.design.decimals is None and has_distinct_column(sample.X):
            return None
        points = as_points(sample.X, decimals=self.design.decimals)
        return refuted_point_mass(points, assumed, sample.groups)

    # -- the same for rows in files --------------------------------------------------------------
    @property
    def positive_shares(self) -> list[float]:
        """Share of the second class among the rows of each block."""
        return [float(counts[1] / counts.sum()) for counts in self.label_counts]

    @property
    def probe_rows(self) -> Any:
        """Some training rows, by key: what fitted estimators are tried on."""
        return self.first_rows(PROBES)[0]

    def warn_if_constant(self, estimator: Any) -> bool:
        """Warn if most block estimators are constant, and return whether this was said."""
        n_blocks = self.design.n_blocks
        return warn_if_constant(
            self.estimators[:n_blocks],
            estimator,
            self.probe_rows,
            self.label_counts[:n_blocks].sum(axis=0),
            self.design.block_size,
            self.sample.unit,
        )

    def failed_conditions(self, estimator: Any) -> tuple[str, ...]:
        """Fit a block again and score rows alone; say if other predictions come out."""
        return block_condition(estimator, self.block, self.keys, self.estimators, self.probe_rows)


# -- from parameters to a request ------------------------------------------------------------------
UNPLANNED = frozenset(
    {
        *("estimator", "threshold", "pos_label", "shared_key", "plan"),
        *("n_jobs", "verbose"),
    }
)
"""Parameters of an estimator that a plan does not set."""


def requested_classes(estimator: Any) -> Any:
    """Return the classes that the parameters or the plan list; None for those of the sample."""
    if estimator.plan is None:
        return estimator.classes
    return design_of(estimator, estimator.plan).classes


def requested_vote(estimator: Any) -> str:
    """Return whether blocks vote by label or by probability, as the parameters or the plan say."""
    if estimator.plan is None:
        return str(estimator.vote)
    return design_of(estimator, estimator.plan).vote


def design_of(estimator: Any, plan: Plan) -> VoteDesign:
    """Return the design of a plan of votes; a plan of another task raises an error."""
    if plan.design is None:
        raise ValueError(
            f"plan is for {' or '.join(plan.learners)}, not for {type(estimator).__name__}."
        )
    return plan.design


def _planned_params(estimator: Any) -> dict[str, Any]:
    """Return the parameters that a plan sets."""
    params = estimator.get_params(deep=False)
    planned = {name: value for name, value in params.items() if name not in UNPLANNED}
    if planned["classes"] is not None:
        planned["classes"] = check_classes(planned["classes"])
    return planned


def changed_params(estimator: Any, names: Collection[str]) -> list[str]:
    """Return which of these parameters do not have their default values."""
    defaults = signature(type(estimator)).parameters
    params = estimator.get_params(deep=False)
    return [name for name in names if not _same(params[name], defaults[name].default)]


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, int | float | str) and value == default)


# -- the plan in force -----------------------------------------------------------------------------
MAX_PARTITIONS = 1023
"""Beyond that the integers of the rule overflow."""


def refuse_planned(names: Sequence[str]) -> None:
    """Raise an error for parameters that a plan sets, instead of ignoring them."""
    if names:
        verb = "is" if len(names) == 1 else "are"
        pronoun = "it" if len(names) == 1 else "them"
        raise ValueError(
            f"{', '.join(names)} {verb} set by `plan`; remove {pronoun} or create a new plan."
        )


def plan_in_force(estimator: Any, sample: Any, classes: NDArray[Any]) -> Plan:
    """Return the plan that the estimator follows, or make one for this sample.

    A given plan that this sample cannot follow raises an error; a plan that is made here and does
    not reach its targets is warned about.
    """
    if estimator.plan is not None:
        _check_followed(estimator, estimator.plan, sample, classes)
        return estimator.plan
    n_classes = max(2, len(classes))
    plan = usual_plan(estimator, sample.n, n_classes, sample.n_columns, sample.unit)
    if not plan.certified:
        warn_user(plan.reason, NotCertifiedWarning)
    return plan


def usual_plan(
    estimator: Any,
    n: int,
    n_classes: int,
    n_columns: int | None = None,
    unit: str = "rows",
) -> Plan:
    """Return the plan that an estimator makes for itself on this many rows.

    It depends on the parameters, the base estimator and the size of the table, never on the data.
    Where useful blocks are too few for the targets, blocks that are just large enough may do.
    """
    given_base = base_estimator(estimator.estimator)
    params = {**_planned_params(estimator), "n": n, "n_classes": n_classes, "unit": unit}

    def plan_with(min_block: int | None = None) -> Plan:
        made = plan_votes("pointwise", **params, min_block=min_block)
        if estimator.max_fits is not None:
            return made
        ways = usual_partitions(given_base, design_of(estimator, made), n_columns)
        return plan_votes("pointwise", **params, min_block=min_block, n_partitions=ways)

    usual = plan_with()
    design = design_of(estimator, usual)
    need = rows_needed(base_for_blocks(given_base, design)) if unit == "rows" else None
    if need is None or estimator.n_blocks is not None or design.block_size >= need.useful:
        return usual
    for n_rows in (need.useful, need.least):
        plan = plan_with(max(n_rows, MIN_BLOCK))
        if plan.certified:
            return plan
    return plan


PARTITIONS = {"any": 8, "forest": 4, "boosting": 2}
"""Partitions at rho = 0.1, by family of the base estimator; fewer where there are more blocks.

Forests and boosting take long to fit. Expected flips of 88 x 2 boosted models are 1.1 to 1.32 times
those of 88 x 8 on three files (docs/speed.md), at the same accuracy; those of 88 x 4 forests 1 to
1.1 times."""

MAX_CELLS = 320_000_000
"""Cells that all partitions train on together by default: 8 partitions of a million rows of 40
columns, five minutes or so with a linear model."""


def usual_partitions(base: Any, design: VoteDesign, n_columns: int | None) -> int:
    """Return the default number of partitions: fewer for slow estimators and large tables."""
    ways = partitions_for(design.n_blocks, DEFAULT_BLOCKS * PARTITIONS[family_of(base)])
    if n_columns is None:
        return ways
    return min(ways, max(1, MAX_CELLS // (design.n * n_columns)))


def base_for_blocks(base: Any, design: VoteDesign) -> Any:
    """Return the base estimator as it is trained on the blocks of a design."""
    if design.unit != "rows" or design.small_blocks == "keep":
        return base
    return adapted_to_blocks(base, design.block_size)


def warn_if_blocks_cannot_learn(task: str, design: VoteDesign, base: Any) -> bool:
    """Say before the fit that blocks are too small for the base estimator as it is set."""
    need = rows_needed(base) if design.unit == "rows" else None
    if need is None or design.block_size >= need.least:
        return False
    n_blocks = design.n // need.least if task == "pointwise" else 0
    message = (
        f"blocks of {design.block_size} rows are too few: {need.reason} predicts a single class if "
        f"it is trained on fewer than {need.least} rows, whatever the features are. "
    )
    if n_blocks > 0:
        rho = make_plan(
            n=design.n,
            rho=design.rho,
            n_classes=design.n_classes,
            n_blocks=n_blocks,
        ).rho
        message += (
            f"n_blocks={n_blocks} (instead of {design.n_blocks}) gives blocks of {need.least} rows"
            + ("" if rho is None else f" and rho = {rounded_up(rho)}")
            + "; "
        )
    warn_user(
        f"{message}{need.useful} rows per block are useful. Or change that parameter.",
        ConstantBlocksWarning,
    )
    return True


def _check_followed(estimator: Any, plan: Plan, sample: Any, classes: NDArray[Any]) -> None:
    design = design_of(estimator, plan)
    refuse_planned(changed_params(estimator, _planned_params(estimator)))
    if design.n_partitions > MAX_PARTITIONS:
        raise ValueError(
            f"n_partitions={design.n_partitions} is too large; use at most {MAX_PARTITIONS}."
        )
    if design.unit == "groups" and sample.groups is None:
        raise ValueError("plan counts groups: pass groups to fit, so that they stay together.")
    if sample.n < design.n:
        raise ValueError(
            f"plan needs n={design.n} {sample.unit}, but the sample has {sample.n}. Make a plan "
            "for the smallest sample among the labs."
        )
    if max(2, len(classes)) != design.n_classes:
        raise ValueError(
            f"plan is for {design.n_classes} classes, but y has {len(classes)}: "
            f"{classes[:5].tolist()}. Name them in the plan (classes=[...]), so that a class that "
            "is missing in a sample is known."
        )


def key_of_blocks(key: SharedKey, sample: Any, plan: Plan) -> SharedKey:
    """Return the key by which rows are left out, cut into blocks and trained on.

    A promise about whole models counts on blocks and seeds that are independent of the other run's,
    also where both samples contain equal rows: their key belongs to the sample (theorem:
    approximate-direct, section "blocks"). A pointwise promise holds with one key for all samples.
    """
    if plan.task == "pointwise":
        return key
    return sample_key(key, sample.points, sample.codes)


# -- parameters in force ---------------------------------------------------------------------------
FRACTION = Interval(Real, 0, 1, closed="right")
COUNT = Interval(Integral, 1, None, closed="left")


class FollowsPlan(FittedState, HoldsKey):
    """Estimators that choose; they may follow a plan that two labs share.

    A subclass has the parameters ``shared_key`` and ``plan``, names those that a plan sets in
    ``_set_by_plan``, reads them from `_in_force`, and fits on `_planned_rows`.
    """

    _set_by_plan: ClassVar[tuple[str, ...]] = ("rho", "alpha", "beta")

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: [FRACTION] for name in ("rho", "alpha", "beta")},
        "shared_key": [str, bytes, Integral, SharedKey, None],
        "plan": [Plan, None],
    }
    shared_key: Any
    plan: Plan | None

    def _in_force(self: Any) -> SimpleNamespace:
        """Return all parameters; those that the plan sets have its values."""
        params = self.get_params(deep=False)
        if self.plan is None:
            return SimpleNamespace(**params)
        if not {kind.__name__ for kind in type(self).__mro__}.intersection(self.plan.learners):
            raise ValueError(
                f"plan is for {' or '.join(self.plan.learners)}, not for {type(self).__name__}."
            )
        refuse_planned(changed_params(self, self._set_by_plan))
        return SimpleNamespace(**(params | {k: self.plan.inputs[k] for k in self._set_by_plan}))

    def _n_planned(self, available: int, unit: str = "rows") -> int:
        """Return the number of rows (or groups) to fit on, of those that are available."""
        if self.plan is None:
            return available
        self._in_force()  # another estimator's plan is said to be one
        if available < self.plan.n:
            raise ValueError(
                f"plan needs n={self.plan.n} {unit}, but the sample has {available}. Make a plan "
                "for the smallest sample among the labs."
            )
        return self.plan.n

    def _targets(self) -> dict[str, float]:
        """Return the targets: rho, alpha and beta, and gamma if the estimator has one."""
        params = vars(self._in_force())
        names = ("rho", "gamma", "alpha", "beta")
        return {name: float(params[name]) for name in names if name in params}

    def _planned_rows(
        self, X: Any, codes: NDArray[Any], unit: str = "rows"
    ) -> tuple[Any, NDArray[Any], Any]:
        """Return the rows to fit on with their labels, and their indices; None for all of them.

        The order is the sample's own: two labs keep independent rows, as every proof assumes.
        """
        size = self._n_planned(len(codes), unit)
        if size == len(codes):
            return X, codes, None
        rows = sample_order(self._key().child("surplus"), X, codes)[:size]
        return take_rows(X, rows), codes[rows], rows


# -- the certificate -------------------------------------------------------------------------------
def identity_of(
    key: SharedKey,
    learner: str,
    fingerprint: Fingerprint,
    classes: NDArray[Any],
    n: int,
    failed: tuple[str, ...],
    schema: dict[str, Any],
) -> Identity:
    """Return what a certificate binds of one run: key, base estimator, classes, rows, points."""
    return Identity(
        key.fingerprint,
        learner,
        fingerprint.digest,
        tuple(classes),
        n,
        versions=fingerprint.versions,
        unbound=fingerprint.unbound,
        failed_conditions=failed,
        schema=schema,
    )


def certify_plan(plan: Plan, run: Identity, blocks: Blocks) -> Certificate:
    """Certify what a plan promises; less if equal rows refute what it assumes about masses."""
    unit = blocks.sample.unit
    refuted = None
    if "point-masses" in plan.assumptions:
        refuted = blocks.refuted_point_mass(plan.inputs["max_point_mass"])
    if refuted is None:
        return plan.certificate(run, unit=unit)
    return without_masses(plan, refuted, run, unit=unit)


def warn_if_not_certified(certificate: Certificate) -> None:
    """Say plainly that the sample is too small for the promise."""
    if not certificate.certified:
        hint = "replearn.plan tells how many rows a promise needs"
        warn_user(f"{certificate.reason}; {hint}", NotCertifiedWarning)
