"""What a plan fixes for a learner: the arguments of `plan`, the rows that count, the blocks.

A plan depends on the parameters and the number of rows only, never on the data.
"""

from __future__ import annotations

from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.binding.digests import Bound
from replearn.binding.learner import in_words
from replearn.binding.point_masses import has_distinct_column, refuted_point_mass, without_masses
from replearn.binding.schema import describe_points
from replearn.binding.useful_blocks import rows_needed
from replearn.exceptions import ConstantBlocksWarning, NotCertifiedWarning, warn_user
from replearn.guarantees import Certificate, Identity, Plan
from replearn.guarantees import plan as make_plan
from replearn.guarantees.steps import rounded_up
from replearn.guarantees.wish import MIN_BLOCK
from replearn.learners.inputs import (
    base_estimator,
    check_classes,
    check_groups,
    check_labels,
    refuse_one_class,
)
from replearn.learners.training import Sample, TrainedBlocks
from replearn.primitives import sample_key
from replearn.randomness import Points, SharedKey, as_points
from replearn.records.checks import check_choice

FREE = frozenset({"estimator", "shared_key", "plan", "n_jobs", "verbose"})
"""Parameters that a plan leaves open."""

FROM_SAMPLE = ("n", "n_classes", "unit")
"""Arguments of `plan` that follow from the sample."""

SIZES_OF_BLOCKS = ("n_blocks", "block_size", "min_block")
"""Arguments of `plan` that say how large blocks are; without them the base learner does."""

MAX_PARTITIONS = 1023
"""Beyond that the integers of the rule overflow."""


def check_sample(X: Any, y: Any, groups: Any, classes: Any) -> tuple[Sample, NDArray[Any]]:
    """Return the sample with its labels as codes, and the list of classes."""
    codes, classes = check_labels(X, y, classes)
    refuse_one_class(classes)
    return Sample(X, codes, check_groups(groups, len(codes))), classes


# -- the arguments of plan -------------------------------------------------------------------------
def plan_arguments(estimator: Any) -> dict[str, Any]:
    """Return what a learner asks of `plan`: its parameters, and its ``plan`` if that is a dict.

    A ``Plan`` is followed as it is: only its vote and its classes are returned.
    """
    given = estimator.plan
    if isinstance(given, Plan):
        return {"vote": given.vote, "classes": given.classes}
    params, given = estimator.get_params(deep=False), given or {}
    own = {name: value for name, value in params.items() if name not in FREE}
    twice = [name for name in given if name in _changed(estimator)]
    if twice:
        raise ValueError(
            f"{', '.join(twice)} is given twice, as a parameter and in plan=: leave one out."
        )
    known = [name for name in given if name in FROM_SAMPLE]
    if known:
        raise ValueError(
            f"{', '.join(known)} in plan= follows from the sample: leave it out, or make a Plan "
            "with replearn.plan, which fixes it for all labs."
        )
    asked = own | dict(given)
    if asked["classes"] is not None:
        asked["classes"] = check_classes(asked["classes"])
    return _with_stage(asked)


def _with_stage(asked: dict[str, Any]) -> dict[str, Any]:
    """Say plainly whether a heavy stage is planned; without one, alpha and beta belong to d."""
    heavy = check_choice("heavy", asked.get("heavy", "auto"), ("auto", "paper", "off"))
    if not isinstance(asked.get("label_noise", True), bool | np.bool_):
        raise TypeError(f"label_noise must be True or False, got {asked['label_noise']!r}")
    if _wants_stage(asked):
        return asked | {"heavy": heavy}
    unused = ("alpha", "beta", "label_noise") if asked.get("d") is None else ()
    return {name: asked[name] for name in asked if name not in unused} | {"heavy": "off"}


def _wants_stage(asked: dict[str, Any]) -> bool:
    alone = asked.get("alpha") is not None and asked.get("d") is None
    return alone and asked.get("heavy") != "off"


def wants_heavy_stage(estimator: Any) -> bool:
    """Whether a learner, fitted or not, answers points that occur often by their own labels."""
    plan = getattr(estimator, "plan", None)
    if isinstance(plan, Plan):
        return plan.vote_design.heavy is not None
    return plan is not None and _wants_stage(plan)


def _changed(estimator: Any) -> list[str]:
    """Return the parameters that a plan fixes and that do not have their default values."""
    defaults = signature(type(estimator)).parameters
    return [
        name
        for name, value in estimator.get_params(deep=False).items()
        if name not in FREE and not _same(value, defaults[name].default)
    ]


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, int | float | str) and value == default)


# -- the plan in force -----------------------------------------------------------------------------
def refuse_planned(names: Any) -> None:
    """Refuse parameters that a plan fixes, instead of passing over them."""
    if names:
        raise ValueError(f"the plan fixes {', '.join(names)}: leave it out, or plan anew.")


def plan_in_force(estimator: Any, asked: Any, sample: Any, classes: NDArray[Any]) -> Plan:
    """Return the plan that the learner was given, or make one for this sample.

    A plan that was given and that this sample cannot follow is refused; a plan that is made and
    cannot keep what was asked is warned about.
    """
    followed = isinstance(estimator.plan, Plan)
    if followed:
        _check_followed(estimator, estimator.plan, sample, classes)
    if sample.groups is not None and wants_heavy_stage(estimator):
        raise ValueError(
            "groups cannot be used with a heavy stage (alpha): the rows of one group are not "
            "independent, so counts of equal rows have no known law. Leave alpha out, or keep "
            "one row per group."
        )
    sizes = {"n": sample.n, "n_classes": max(2, len(classes)), "unit": sample.unit}
    plan = estimator.plan if followed else _plan_for_base(estimator, asked, sizes)
    if plan.n_partitions > MAX_PARTITIONS:
        raise ValueError(f"n_partitions={plan.n_partitions} is too large; use at most 1023.")
    if not followed and not plan.certified:
        warn_user(plan.reason, NotCertifiedWarning)
    return plan


def usual_plan(estimator: Any, n: int, n_classes: int) -> Plan:
    """Return the plan that a learner makes for itself on so many rows."""
    sizes = {"n": n, "n_classes": n_classes, "unit": "rows"}
    return _plan_for_base(estimator, plan_arguments(estimator), sizes)


def _plan_for_base(estimator: Any, asked: dict[str, Any], sizes: dict[str, Any]) -> Plan:
    """Make the plan; where blocks are left open, with blocks from which the base learner learns.

    It depends on the learner's parameters and the number of rows, never on the data. Where useful
    blocks are too few for what was asked, blocks that are just large enough may do.
    """
    need = rows_needed(base_estimator(estimator.estimator)) if sizes["unit"] == "rows" else None
    given = [name for name in SIZES_OF_BLOCKS if asked.get(name) is not None]
    usual: Plan = estimator._plan_for(asked, **sizes)
    if need is None or given or usual.block_size >= need.useful:
        return usual
    for rows in (need.useful, need.least):
        made: Plan = estimator._plan_for(asked | {"min_block": max(rows, MIN_BLOCK)}, **sizes)
        if made.certified:
            return made
    return made


def warn_if_blocks_cannot_learn(plan: Plan, base: Any) -> bool:
    """Say before the fit that blocks are too small for the base learner as it is set."""
    need = rows_needed(base) if plan.unit == "rows" else None
    if need is None or plan.block_size >= need.least:
        return False
    n_blocks = plan.n // need.least if plan.task == "pointwise" else 0
    message = (
        f"blocks of {plan.block_size} rows are too few: {need.reason} answers a constant if it is "
        f"trained on fewer than {need.least} rows, whatever the features are. "
    )
    if n_blocks > 0:
        sizes = {"n": plan.n, "n_classes": plan.n_classes, "n_blocks": n_blocks}
        rho = make_plan(rho=plan.vote_design.request.rho, **sizes).rho
        message += (
            f"n_blocks={n_blocks} (instead of {plan.n_blocks}) gives blocks of {need.least} rows"
            + ("" if rho is None else f" and rho = {rounded_up(rho)}")
            + "; "
        )
    warn_user(
        f"{message}{need.useful} rows per block are useful. Or change the learner's parameter.",
        ConstantBlocksWarning,
    )
    return True


def _check_followed(estimator: Any, plan: Plan, sample: Any, classes: NDArray[Any]) -> None:
    refuse_planned(_changed(estimator))
    if plan.task != estimator._notion:
        raise ValueError(f"plan is for the {plan.task} notion, not for {type(estimator).__name__}.")
    if plan.unit == "groups" and sample.groups is None:
        raise ValueError("plan counts groups: pass groups to fit, so that they stay together.")
    if sample.n < plan.n:
        raise ValueError(
            f"plan needs n={plan.n} {sample.unit}, but the sample has {sample.n}. Make a plan "
            "for the smallest sample among the labs."
        )
    if max(2, len(classes)) != plan.n_classes:
        raise ValueError(
            f"plan is for {plan.n_classes} classes, but y has {len(classes)}: "
            f"{classes[:5].tolist()}. Name them in the plan (classes=[...]), so that a class which "
            "a sample misses is known."
        )


def key_of_blocks(key: SharedKey, sample: Sample, plan: Plan) -> SharedKey:
    """Return the key by which rows are left out, cut into blocks and trained on.

    A promise about whole models counts on blocks and seeds that are independent of the other run's,
    also where both samples contain equal rows: their key belongs to the sample (theorem:
    approximate-direct, section "blocks"). A pointwise promise holds with one key for all samples.
    """
    if plan.task == "pointwise":
        return key
    return sample_key(key, sample.points, sample.codes)


# -- the rows that count ---------------------------------------------------------------------------
def planned_rows(key: SharedKey, sample: Sample, plan: Any) -> Sample:
    """Forget the order of the file, and leave out by key what a lab has beyond the plan's n.

    Labs with different surplus choose independently, labs with the same surplus alike; in both
    cases the flip bound holds (theorem: content-keyed-partition, section "surplus").
    """
    available, sample = sample.n, _without_file_order(key, sample, plan)
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


def _without_file_order(key: SharedKey, sample: Sample, plan: Any) -> Sample:
    """Forget the order of the file where rows that count as equal are not interchangeable.

    Equal rows are told apart by which came first. Rounded alike they still train differently, and
    in different groups they go into different blocks.
    """
    if plan.decimals is None and sample.groups is None and not sample.params:
        return sample
    return sample.take(key.child("file").order(sample.points, sample.codes))


# -- the certificate -------------------------------------------------------------------------------
def identity_of(
    key: SharedKey,
    base: Any,
    bound: Bound,
    classes: NDArray[Any],
    n: int,
    failed: tuple[str, ...],
    schema: dict[str, Any],
) -> Identity:
    """Return what a certificate binds of one run: key, base learner, classes, rows, points."""
    return Identity(
        key.fingerprint,
        in_words(base),
        bound.digest,
        tuple(classes),
        n,
        versions=bound.versions,
        unbound=bound.unbound,
        failed_conditions=failed,
        **schema,
    )


def describe_blocks(blocks: TrainedBlocks, base: Any) -> dict[str, Any]:
    """Return what a certificate says about the points of the rows that were used."""
    sample = blocks.sample
    return describe_points(
        sample.X,
        sample.codes,
        groups=sample.groups,
        base=base,
        decimals=blocks.design.decimals,
        rows=np.concatenate(blocks.first_partition),
    )


def certify_plan(plan: Plan, run: Identity, points: Points, sample: Sample) -> Certificate:
    """Certify what a plan promises; less if equal rows refute what it assumes about masses."""
    design, refuted = plan.vote_design, None
    if design.assumes_point_masses and (
        plan.decimals is not None or not has_distinct_column(sample.X)
    ):
        refuted = refuted_point_mass(points, design.max_point_mass, sample.groups)
    if refuted is None:
        return plan.certificate(run, unit=sample.unit)
    return without_masses(plan, refuted, run, unit=sample.unit)
