"""What a plan sets for an estimator: the request, the blocks, the certificate.

A plan depends on the parameters and the number of rows only, never on the data.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.binding import (
    Fingerprint,
    adapted_to_blocks,
    describe_points,
    family_of,
    in_words,
    index_of,
    rows_needed,
    rows_sketched,
    without_masses,
)
from replearn.exceptions import ConstantBlocksWarning, NotCertifiedWarning, warn_user
from replearn.guarantees import (
    MIN_BLOCK,
    Certificate,
    Identity,
    Plan,
    PlanRequest,
    plan as make_plan,
    rounded_up,
)
from replearn.learners.inputs import (
    base_estimator,
    check_classes,
    check_groups,
    check_labels,
    refuse_one_class,
)
from replearn.learners.training import Sample, TrainedBlocks
from replearn.primitives import sample_key
from replearn.randomness import SharedKey, as_points

UNPLANNED = frozenset(
    {
        *("estimator", "threshold", "pos_label", "check_price", "shared_key", "plan"),
        *("n_jobs", "verbose"),
    }
)
"""Parameters of an estimator that a plan does not set."""

MAX_PARTITIONS = 1023
"""Beyond that the integers of the rule overflow."""


def check_sample(X: Any, y: Any, groups: Any, classes: Any) -> tuple[Sample, NDArray[Any]]:
    """Return the sample with its labels as codes, and the list of classes."""
    codes, classes = check_labels(X, y, classes)
    refuse_one_class(classes)
    sample = Sample(X, codes, check_groups(groups, len(codes)), label_index=index_of(y))
    return sample, classes


# -- from parameters to a request ------------------------------------------------------------------
def plan_request(estimator: Any) -> PlanRequest:
    """Return the request that the parameters of an estimator stand for, before a sample is known.

    A ``Plan`` is followed as it is: its own request is returned.
    """
    if estimator.plan is not None:
        _check_task(estimator, estimator.plan)
        return estimator.plan.vote_design.request
    params = _planned_params(estimator)
    if params["classes"] is not None:
        params["classes"] = check_classes(params["classes"])
    names = {field.name for field in fields(PlanRequest)} - {"heavy"}
    named = {name: value for name, value in params.items() if name in names}
    return _with_stage(PlanRequest(estimator._notion, **named), params["heavy"])


def _with_stage(request: PlanRequest, heavy: str) -> PlanRequest:
    """Plan a heavy stage for alpha alone; without one, alpha and beta belong to d."""
    if request.d is not None:
        return request
    if request.alpha is None or heavy == "off":
        return replace(request, alpha=None, beta=None, label_noise=True)
    return replace(request, heavy=heavy)


def requested_classes(estimator: Any) -> Any:
    """Return the classes that the parameters or the plan list; None for those of the sample."""
    if estimator.plan is None:
        return estimator.classes
    _check_task(estimator, estimator.plan)
    return estimator.plan.classes


def wants_heavy_stage(estimator: Any) -> bool:
    """Whether points that occur often are predicted by their own labels."""
    if not hasattr(estimator, "heavy"):
        return False
    request = plan_request(estimator) if estimator.plan is None else estimator.plan
    return request.heavy is not None


def _planned_params(estimator: Any) -> dict[str, Any]:
    """Return the parameters that a plan sets."""
    params = estimator.get_params(deep=False)
    return {name: value for name, value in params.items() if name not in UNPLANNED}


def changed_params(estimator: Any, names: Collection[str]) -> list[str]:
    """Return which of these parameters do not have their default values."""
    defaults = signature(type(estimator)).parameters
    params = estimator.get_params(deep=False)
    return [name for name in names if not _same(params[name], defaults[name].default)]


def _same(value: Any, default: Any) -> bool:
    return value is default or (isinstance(value, int | float | str) and value == default)


# -- the plan in force -----------------------------------------------------------------------------
def refuse_planned(names: Sequence[str]) -> None:
    """Raise an error for parameters that a plan sets, instead of ignoring them."""
    if names:
        verb = "is" if len(names) == 1 else "are"
        pronoun = "it" if len(names) == 1 else "them"
        raise ValueError(
            f"{', '.join(names)} {verb} set by `plan`; remove {pronoun} or create a new plan."
        )


def plan_in_force(estimator: Any, request: PlanRequest, sample: Any, classes: NDArray[Any]) -> Plan:
    """Return the plan that the estimator follows, or make one for this sample.

    A given plan that this sample cannot follow raises an error; a plan that is made here and does
    not reach its targets is warned about.
    """
    given_plan = estimator.plan if isinstance(estimator.plan, Plan) else None
    if given_plan is not None:
        _check_followed(estimator, given_plan, sample, classes)
    if sample.groups is not None and wants_heavy_stage(estimator):
        raise ValueError(
            "groups cannot be used with a heavy stage (alpha): the rows of one group are not "
            "independent, so counts of equal rows have no known law. Remove alpha, or keep "
            "one row per group."
        )
    if given_plan is not None:
        return _check_partitions(given_plan)
    sized = replace(
        request,
        n=sample.n,
        n_classes=max(2, len(classes)),
        unit=sample.unit,
        n_columns=sample.n_columns,
    )
    plan = _check_partitions(_plan_for_base(estimator, sized))
    if not plan.certified:
        warn_user(plan.reason, NotCertifiedWarning)
    return plan


def _check_partitions(plan: Plan) -> Plan:
    if plan.n_partitions > MAX_PARTITIONS:
        raise ValueError(
            f"n_partitions={plan.n_partitions} is too large; use at most {MAX_PARTITIONS}."
        )
    return plan


def usual_plan(estimator: Any, n: int, n_classes: int, n_columns: int | None = None) -> Plan:
    """Return the plan that an estimator makes for itself on this many rows."""
    request = replace(plan_request(estimator), n=n, n_classes=n_classes, n_columns=n_columns)
    return _plan_for_base(estimator, request)


def _plan_for_base(estimator: Any, request: PlanRequest) -> Plan:
    """Make the plan; where blocks are left open, with blocks from which the base estimator learns.

    It depends on the parameters, the base estimator and the size of the table, never on the data.
    Where useful blocks are too few for the targets, blocks that are just large enough may do.
    """
    given_base = base_estimator(estimator.estimator)
    request = replace(request, family=family_of(given_base))
    usual: Plan = estimator._plan_for(request)
    base = base_for_blocks(given_base, usual)
    need = rows_needed(base) if request.unit == "rows" else None
    is_sized = any((request.n_blocks, request.block_size, request.min_block))
    if need is None or is_sized or usual.block_size >= need.useful:
        return usual
    for n_rows in (need.useful, need.least):
        plan: Plan = estimator._plan_for(replace(request, min_block=max(n_rows, MIN_BLOCK)))
        if plan.certified:
            return plan
    return plan


def base_for_blocks(base: Any, plan: Plan) -> Any:
    """Return the base estimator as it is trained on the blocks of a plan."""
    if plan.unit != "rows" or plan.vote_design.small_blocks == "keep":
        return base
    return adapted_to_blocks(base, plan.block_size)


def warn_if_blocks_cannot_learn(plan: Plan, base: Any) -> bool:
    """Say before the fit that blocks are too small for the base estimator as it is set."""
    need = rows_needed(base) if plan.unit == "rows" else None
    if need is None or plan.block_size >= need.least:
        return False
    n_blocks = plan.n // need.least if plan.task == "pointwise" else 0
    message = (
        f"blocks of {plan.block_size} rows are too few: {need.reason} predicts a single class if "
        f"it is trained on fewer than {need.least} rows, whatever the features are. "
    )
    if n_blocks > 0:
        rho = make_plan(
            n=plan.n,
            rho=plan.vote_design.request.rho,
            n_classes=plan.n_classes,
            n_blocks=n_blocks,
        ).rho
        message += (
            f"n_blocks={n_blocks} (instead of {plan.n_blocks}) gives blocks of {need.least} rows"
            + ("" if rho is None else f" and rho = {rounded_up(rho)}")
            + "; "
        )
    warn_user(
        f"{message}{need.useful} rows per block are useful. Or change that parameter.",
        ConstantBlocksWarning,
    )
    return True


def _check_task(estimator: Any, plan: Plan) -> None:
    if plan.task != estimator._notion:
        raise ValueError(
            f"plan is for {' or '.join(plan.learners)}, not for {type(estimator).__name__}."
        )


def _check_followed(estimator: Any, plan: Plan, sample: Any, classes: NDArray[Any]) -> None:
    refuse_planned(changed_params(estimator, _planned_params(estimator)))
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
    design = plan.vote_design
    unit = blocks.sample.unit
    refuted = None
    if design.assumes_point_masses:
        refuted = blocks.cut.refuted_point_mass(design.max_point_mass)
    if refuted is None:
        return plan.certificate(run, unit=unit)
    return without_masses(plan, refuted, run, unit=unit)
