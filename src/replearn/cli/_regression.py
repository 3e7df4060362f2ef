"""``replearn audit --resolution``: the audit of a target that is a quantity."""

from __future__ import annotations

import argparse
from typing import Any

from replearn.cli._inputs import Named, Sample, base_model
from replearn.randomness import SharedKey
from replearn.records import check_positive

REGRESSORS: Named = {
    "ridge": ("sklearn.linear_model", "Ridge", {}, False),
    "hgb": ("sklearn.ensemble", "HistGradientBoostingRegressor", {}, True),
    "forest": ("sklearn.ensemble", "RandomForestRegressor", {}, True),
    "tree": ("sklearn.tree", "DecisionTreeRegressor", {}, True),
}

NOT_FOR_NUMBERS = (
    *("contenders", "subgroup", "budget", "resume", "time_budget", "group_by"),
    *("clean_labels", "hide_values"),
)
"""Options of the audit of classes that an audit of numbers does not have."""


def check_options(args: argparse.Namespace) -> None:
    """Refuse options that an audit of a regressor does not have."""
    if args.resolution is None:
        if args.y_range is not None:
            raise ValueError(
                "--y-range is for a target that is a quantity: give --resolution NUMBER too, how "
                "far apart rounded predictions are."
            )
        return
    check_positive("--resolution", args.resolution)
    given = [name for name in NOT_FOR_NUMBERS if getattr(args, name)]
    if given:
        options = ", ".join(f"--{name.replace('_', '-')}" for name in given)
        raise ValueError(f"{options} cannot be used with --resolution (an audit of numbers).")


def audit_numbers(
    args: argparse.Namespace, sample: Sample, key: SharedKey | None, train_size: int | None
) -> tuple[Any, str]:
    """Audit a regressor; return the result, and the name of the one that gates judge."""
    from replearn.auditing import audit_regression

    name = "ridge" if args.model == "logreg" else args.model  # the command's default
    model = base_model(name, sample.columns, known=REGRESSORS)
    regressors, judged = _contenders(args, model, key)
    result = audit_regression(
        regressors,
        sample.features_for(model),
        sample.y,
        resolution=args.resolution,
        y_range=None if args.y_range is None else tuple(args.y_range),
        n_pairs=args.pairs,
        design={"rows": args.rows, "train_size": train_size},
        # The audit's own workers get it, and nobody else.
        shared_key=0 if key is None else key.allow_pickle(),
        n_jobs=args.jobs,
        verbose=-1 if args.quiet else 0,
    )
    return result, judged


def _contenders(args: argparse.Namespace, model: Any, key: SharedKey | None) -> tuple[Any, str]:
    """Return the model beside its replicable version, and which of them gates judge."""
    from replearn.auditing.regression import BASELINE, OURS
    from replearn.learners import PointwiseReplicableRegressor

    if not isinstance(model, PointwiseReplicableRegressor):
        ours = PointwiseReplicableRegressor(
            model,
            rho=args.rho,
            resolution=args.resolution,
            y_range=None if args.y_range is None else tuple(args.y_range),
            shared_key=0 if key is None else key.allow_pickle(),
        )
        return {BASELINE: model, OURS: ours}, BASELINE
    if float(model.resolution) != args.resolution:
        raise ValueError(
            f"--resolution {args.resolution:g} is not that of {args.model}, {model.resolution:g}."
        )
    return model, OURS
