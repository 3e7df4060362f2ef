"""The path of every estimator that trains on blocks: sample, plan, **train**, rule, certificate.

The sample is cut by key and content, and one estimator is fitted on each block. Where the rows
come from is the sample's affair: they are in memory here, and in files in `replearn.outofcore`.
Both kinds of sample have the same methods, those of `RowSource`, and so have their blocks
(`BlockRows`). A plan depends on the parameters and the number of rows only, never on the data.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from numbers import Integral, Real
from types import MappingProxyType, SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from replearn.binding import (
    PROBES,
    Fingerprint,
    adapted_to_blocks,
    block_condition,
    copy_conditions,
    describe_points,
    family_of,
    has_distinct_column,
    in_words,
    index_of,
    refuted_point_mass,
    rows_needed,
    rows_sketched,
    sample_conditions,
    warn_if_constant,
    without_masses,
)
from replearn.compat import Interval
from replearn.exceptions import ConstantBlocksWarning, NotCertifiedWarning, warn_user
from replearn.execution import RunContext, fit_blocks, make_blocks
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
from replearn.primitives import sample_key, sample_order
from replearn.randomness import HoldsKey, Points, SharedKey, as_points
from replearn.tables import is_sparse, take_rows


class BlockDesign(Protocol):
    """How a sample is cut; a plan, or the cut of an estimator that plans by itself."""

    @property
    def n_blocks(self) -> int:
        """Blocks of one partition."""

    @property
    def block_size(self) -> int:
        """Rows (or groups) of a block."""

    @property
    def n_partitions(self) -> int:
        """In how many ways the same rows are cut."""

    @property
    def decimals(self) -> int | None:
        """Decimals to which features are rounded before they are hashed."""


class OnePartition(NamedTuple):
    """A cut in one way."""

    n_blocks: int
    block_size: int
    n_partitions: int = 1
    decimals: int | None = None


# -- what a fit uses of its rows -------------------------------------------------------------------
class FirstRows(NamedTuple):
    """The first rows of the first partition in keyed order, each with its label and its block."""

    X: Any
    codes: NDArray[Any]
    blocks: NDArray[np.intp]


class RowSource(Protocol):
    """The rows of a fit: `Sample`, or a table in files."""

    @property
    def n(self) -> int:
        """Rows, or groups where there are groups."""

    @property
    def unit(self) -> str:
        """What `n` counts."""

    @property
    def n_columns(self) -> int | None:
        """Columns of a dense table; None for texts and sparse rows."""

    @property
    def class_counts(self) -> NDArray[np.int64]:
        """How often each class occurs."""

    @property
    def groups(self) -> Any:
        """One group id per row, or None."""

    def failed_conditions(self) -> tuple[str, ...]:
        """Return what the rows refute of the conditions of a certificate, and warn about it."""

    def planned(self, key: SharedKey, plan: Any) -> Any:
        """Leave out by key what there is beyond the plan's n."""

    def cut(self, design: Any, key: SharedKey) -> Any:
        """Cut the rows into blocks."""


class BlockRows(Protocol):
    """Rows that are cut into blocks, partition by partition."""

    @property
    def label_counts(self) -> NDArray[np.int64]:
        """How often each label occurs in each block, (blocks, classes)."""

    def fit(self, estimator: Any, keys: list[SharedKey], names: list[str], **run: Any) -> list[Any]:
        """Fit one clone of the estimator on each block."""

    def first_rows(self, count: int, *, independent: bool = False) -> FirstRows:
        """Return some rows; if they must be independent, one of each group."""

    def block(self, index: int) -> tuple[Any, NDArray[Any]]:
        """Return the rows of a block and the codes of their labels."""

    def refuted_point_mass(self, assumed: float) -> str | None:
        """Say in words that equal rows refute a bound on point masses; None if they do not."""


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
    def class_counts(self) -> NDArray[np.int64]:
        """How often each class occurs."""
        return np.bincount(self.codes)

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
        failed = sample_conditions(self.X)
        return failed + copy_conditions(self.X, self.codes, self.groups, self.label_index)

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

    def cut(self, design: BlockDesign, key: SharedKey) -> BlocksInMemory:
        """Cut the rows into disjoint blocks of equal size, partition by partition."""
        points = self.with_params(as_points(self.X, decimals=design.decimals))
        # theorem: content-keyed-partition
        rows = make_blocks(
            key,
            points,
            self.codes,
            design.n_blocks,
            design.block_size,
            partition=range(design.n_partitions),
            groups=self.groups,
        )
        return BlocksInMemory(self, design, points, rows)


def check_sample(X: Any, y: Any, groups: Any, classes: Any) -> tuple[Sample, NDArray[Any]]:
    """Return the sample with its labels as codes, and the list of classes."""
    codes, classes = check_labels(X, y, classes)
    refuse_one_class(classes)
    sample = Sample(X, codes, check_groups(groups, len(codes)), label_index=index_of(y))
    return sample, classes


# -- training --------------------------------------------------------------------------------------
@dataclass(frozen=True, eq=False)
class BlocksInMemory:
    """Blocks of a sample in memory: the positions of their rows, in keyed order."""

    sample: Sample
    design: BlockDesign
    points: Points
    rows: list[NDArray[np.intp]]

    @property
    def label_counts(self) -> NDArray[np.int64]:
        """How often each label occurs in each block, (blocks, classes)."""
        codes = self.sample.codes
        n_classes = max(2, int(codes.max()) + 1)
        return np.array([np.bincount(codes[rows], minlength=n_classes) for rows in self.rows])

    def fit(self, estimator: Any, keys: list[SharedKey], names: list[str], **run: Any) -> list[Any]:
        """Fit one clone of the estimator on each block."""
        sample = self.sample
        return fit_blocks(
            estimator,
            sample.X,
            sample.codes,
            self.rows,
            keys,
            names=names,
            params=sample.params,
            **run,
        )

    def first_rows(self, count: int, *, independent: bool = False) -> FirstRows:
        """Return some rows; if they must be independent, one of each group."""
        first = self.rows[: self.design.n_blocks]
        groups = self.sample.groups if independent else None
        if groups is None:
            ends = np.cumsum([len(block) for block in first])
            first = first[: 1 + int(np.searchsorted(ends, count))]
        rows = np.concatenate(first)
        blocks = np.repeat(np.arange(len(first)), [len(block) for block in first])
        if groups is not None:
            kept = np.sort(np.unique(groups[rows], return_index=True)[1])
            rows = rows[kept]
            blocks = blocks[kept]
        chosen = rows[:count]
        return FirstRows(
            take_rows(self.sample.X, chosen), self.sample.codes[chosen], blocks[:count]
        )

    def block(self, index: int) -> tuple[Any, NDArray[Any]]:
        """Return the rows of a block and the codes of their labels."""
        rows = self.rows[index]
        return take_rows(self.sample.X, rows), self.sample.codes[rows]

    def refuted_point_mass(self, assumed: float) -> str | None:
        """Say in words that equal rows refute a bound on point masses; None if they do not."""
        if self.design.decimals is None and has_distinct_column(self.sample.X):
            return None
        return refuted_point_mass(self.points, assumed, self.sample.groups)


@dataclass(frozen=True, eq=False)
class TrainedBlocks:
    """The blocks of one fit, partition by partition: rows, keys of the seeds, fitted estimators."""

    sample: Any
    design: BlockDesign
    cut: Any  # BlockRows
    keys: list[SharedKey]
    names: list[str]
    estimators: list[Any]

    @property
    def positive_shares(self) -> list[float]:
        """Share of the second class among the rows of each block."""
        return [float(counts[1] / counts.sum()) for counts in self.cut.label_counts]

    @property
    def probe_rows(self) -> Any:
        """Some training rows, by key: what fitted estimators are tried on."""
        return self.cut.first_rows(PROBES).X

    def warn_if_constant(self, estimator: Any) -> bool:
        """Warn if most block estimators are constant, and return whether this was said."""
        n_blocks = self.design.n_blocks
        return warn_if_constant(
            self.estimators[:n_blocks],
            estimator,
            self.probe_rows,
            self.cut.label_counts[:n_blocks].sum(axis=0),
            self.design.block_size,
            self.sample.unit,
        )

    def failed_conditions(self, estimator: Any, fingerprint: Fingerprint) -> tuple[str, ...]:
        """Fit a few blocks again and say if other predictions come out."""
        return block_condition(
            estimator,
            self.cut.block,
            self.keys,
            self.estimators,
            self.names,
            fingerprint,
            self.probe_rows,
        )


def block_indices(design: BlockDesign) -> list[tuple[int, int]]:
    """Return (partition, block) of all blocks, in the order in which they are trained."""
    return [(j, t) for j in range(design.n_partitions) for t in range(design.n_blocks)]


def block_keys(key: SharedKey, design: BlockDesign) -> list[SharedKey]:
    """Return the key of the seeds of each block."""
    return [key.child("seed", *index) for index in block_indices(design)]


def block_names(design: BlockDesign) -> list[str]:
    """Return how errors name each block."""
    return [f"block {t} of partition {j}" for j, t in block_indices(design)]


def train_blocks(
    sample: Any,
    design: BlockDesign,
    key: SharedKey,
    estimator: Any,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
    context: RunContext | None = None,
) -> TrainedBlocks:
    """Cut the sample into disjoint blocks of equal size and fit an estimator on each of them.

    Parameters
    ----------
    sample : RowSource
        The rows that the design counts.
    design : BlockDesign
        Number and size of blocks, number of partitions; never from the data.
    key : SharedKey
        Cuts the rows and seeds the estimators.
    estimator : estimator
        The base estimator; it is cloned.
    n_jobs, verbose, context
        How to run; the fitted estimators do not depend on it.
    """
    cut = sample.cut(design, key)
    keys = block_keys(key, design)
    names = block_names(design)
    run = {"n_jobs": n_jobs, "verbose": verbose, "context": context}
    return TrainedBlocks(sample, design, cut, keys, names, cut.fit(estimator, keys, names, **run))


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
    base: Any,
    fingerprint: Fingerprint,
    classes: NDArray[Any],
    n: int,
    failed: tuple[str, ...],
    schema: dict[str, Any],
) -> Identity:
    """Return what a certificate binds of one run: key, base estimator, classes, rows, points."""
    return Identity(
        key.fingerprint,
        in_words(base),
        fingerprint.digest,
        tuple(classes),
        n,
        versions=fingerprint.versions,
        unbound=fingerprint.unbound,
        failed_conditions=failed,
        **schema,
    )


def describe_blocks(blocks: TrainedBlocks, base: Any) -> dict[str, Any]:
    """Return what a certificate says about the points of the rows that were used."""
    n_columns = len(as_points(blocks.cut.first_rows(1).X).names)
    first = blocks.cut.first_rows(rows_sketched(n_columns), independent=True)
    rows = np.arange(len(first.codes))
    decimals = blocks.design.decimals
    return describe_points(first.X, first.codes, rows=rows, base=base, decimals=decimals)


def certify_plan(plan: Plan, run: Identity, blocks: TrainedBlocks) -> Certificate:
    """Certify what a plan promises; less if equal rows refute what it assumes about masses."""
    unit = blocks.sample.unit
    refuted = None
    if "point-masses" in plan.assumptions:
        refuted = blocks.cut.refuted_point_mass(plan.inputs["max_point_mass"])
    if refuted is None:
        return plan.certificate(run, unit=unit)
    return without_masses(plan, refuted, run, unit=unit)


def warn_if_not_certified(certificate: Certificate) -> None:
    """Say plainly that the sample is too small for the promise."""
    if not certificate.certified:
        hint = "replearn.plan tells how many rows a promise needs"
        warn_user(f"{certificate.reason}; {hint}", NotCertifiedWarning)
