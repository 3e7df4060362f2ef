"""Learners that choose, built from a plan: every lab fits on the rows that the plan counts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.guarantees import Plan
from replearn.primitives import sample_order
from replearn.randomness import SharedKey


class FollowsChoicePlan:
    """Build the learner from a plan that two labs share.

    A subclass has the parameters ``sample_size`` and ``shared_key`` and fits on `_planned_rows`.
    """

    sample_size: int | None
    shared_key: Any

    @classmethod
    def from_plan(cls, plan: Plan, *args: Any, **params: Any):
        """Build a learner that follows a plan shared between labs.

        Every lab fits it on ``plan.n`` rows: a lab with more leaves the surplus out by key, a lab
        with fewer cannot follow the plan.

        Parameters
        ----------
        plan : Plan
            From `replearn.plan`; fixes rho, alpha, beta, the number of rows and the
            rest of the design.
        *args
            What the learner takes first: an estimator, hypotheses, candidates.
        **params
            Other parameters: ``shared_key``, ``n_jobs``.

        Returns
        -------
        object
            The learner, not yet fitted.
        """
        if cls.__name__ not in plan.learners:
            raise ValueError(
                f"this plan is for {' or '.join(plan.learners)}, not for {cls.__name__}."
            )
        settings = {**plan.settings, "sample_size": plan.n}
        fixed = [name for name in params if name in settings]
        if fixed:
            raise ValueError(f"the plan fixes {', '.join(fixed)}: leave it out, or plan anew.")
        return cls(*args, **settings, **params)

    def _planned_rows(self, X: Any, codes: NDArray[Any]) -> NDArray[np.intp] | None:
        """Return the rows to fit on; None: all of them.

        The order is the sample's own: the rows that are kept are independent rows whatever the
        key, as every proof about a choice assumes, and two labs keep theirs independently.
        """
        size, available = self.sample_size, len(codes)
        if size is None or available == size:
            return None
        if available < size:
            raise ValueError(
                f"sample_size={size} rows are planned, but the sample has {available}. Make a plan "
                "for the smallest sample among the labs."
            )
        return sample_order(SharedKey(self.shared_key).child("surplus"), X, codes)[:size]
