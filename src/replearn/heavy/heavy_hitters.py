"""Find the points that occur often: point by point, or as a whole set."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.bounds import MembershipLaw, SetLaw
from replearn.guarantees import TASKS as HEAVY_TASKS, Certificate, certify
from replearn.heavy.counting import PointIndex, count_points
from replearn.primitives import below_levels
from replearn.randomness import Points, SharedKey, as_points
from replearn.records import check_choice, check_fraction, if_given
from replearn.tables import n_rows, take_rows

_NOTIONS = ("pointwise", "replicable", "approximate")


@dataclass(frozen=True, eq=False)
class HeavyHitters:
    """The heavy points of a sample, most frequent first.

    Parameters
    ----------
    values : container of rows
        One row for each member, in a container of the same kind as the sample.
    points : Points
        The same in canonical encoding.
    counts : ndarray of int
        Occurrences in the sample.
    thresholds : ndarray of float
        Shared number u of each member.
    core : ndarray of bool
        Members of the set that is identical in both runs (S_gamma); all False for the pointwise
        notion, all True for the replicable one.
    n : int
        Rows of the sample.
    law : MembershipLaw or SetLaw
        Law of the thresholds outside the core or, for the replicable notion, of the one threshold.
    gamma_prime : float or None
        Level of the core (approximate notion).
    certificate : Certificate
        What is promised.
    """

    values: Any
    points: Points
    counts: NDArray[np.int64]
    thresholds: NDArray[np.float64]
    core: NDArray[np.bool_]
    n: int
    law: MembershipLaw | SetLaw
    gamma_prime: float | None
    certificate: Certificate

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def notion(self) -> str:
        """What two runs agree on: "pointwise", "replicable" or "approximate"."""
        return _NOTIONS[HEAVY_TASKS.index(self.certificate.task)]

    @property
    def core_law(self) -> SetLaw | None:
        """Law of the one threshold of the core, if there is a core."""
        return None if self.gamma_prime is None else SetLaw.standard(self.gamma_prime)

    @property
    def masses(self) -> NDArray[np.float64]:
        """Frequencies in the sample."""
        return self.counts / self.n

    def locate(self, X: Any) -> NDArray[np.intp]:
        """Return which member each point is, or -1.

        Parameters
        ----------
        X : container of rows, or Points
            Any points.
        """
        return self._index.locate(as_points(X))

    @cached_property
    def _index(self) -> PointIndex:
        return PointIndex(self.points)

    def contains(self, X: Any) -> NDArray[np.bool_]:
        """Whether each point is a member."""
        return self.locate(X) >= 0


def find_heavy_hitters(
    points: Any,
    nu: float,
    *,
    key: SharedKey | str | bytes | int,
    notion: str = "pointwise",
    rho: float | None = None,
    beta: float = 0.05,
    gamma: float = 0.1,
    law: str | MembershipLaw = "standard",
    decimals: int | None = None,
) -> HeavyHitters:
    """Find the points of mass about nu and more.

    Parameters
    ----------
    points : container of rows
        The sample.
    nu : float
        Points of this mass are heavy, in (0, 1].
    key : SharedKey, str, bytes or int
        The same in both runs.
    notion : {"pointwise", "replicable", "approximate"}, default="pointwise"
        What two runs agree on: the membership of each fixed point (about 1/nu rows); the whole
        set, with one threshold for all points (about 1/nu^3 rows); or a core of very heavy points
        as a whole, and the rest up to a mass gamma.
    rho : float, default=None
        Requested probability of disagreement. If None, it is only stated.
    beta : float, default=0.05
        Failure probability of completeness and soundness.
    gamma : float, default=0.1
        Mass on which the sets may differ (approximate notion only).
    law : {"standard", "paper"} or MembershipLaw, default="standard"
        Law of the thresholds of single points: uniform in the square root of the frequency on
        [nu/16, nu], or that of the paper, uniform on [nu/2, 2 nu].
    decimals : int, default=None
        Number of decimals to which numbers are rounded before points are compared.

    Examples
    --------
    >>> sample = [1] * 600 + [2] * 300 + list(range(10, 110))
    >>> heavy = find_heavy_hitters(sample, 0.25, key="a")
    >>> heavy.values, heavy.counts.tolist()
    ([1, 2], [600, 300])
    """
    for name, value in (("nu", nu), ("beta", beta), ("gamma", gamma)):
        check_fraction(name, value)
    if_given(check_fraction, "rho", rho)
    check_choice("notion", notion, _NOTIONS)
    key = SharedKey(key)
    single = _membership_law(law, nu)
    core_law = _core_law(notion, nu, gamma, rho)
    # The pointwise law plays no part in the replicable notion, the core none in the pointwise one.
    both = (None if notion == "replicable" else single, core_law)
    laws = [law for law in both if law is not None]
    low = min(law.low for law in laws)
    least = max(1, math.ceil(n_rows(points) * low * (1.0 - 1e-12)))
    counted = count_points(points, at_least=least, decimals=decimals)
    member, uniforms = draw_members(counted.points, counted.counts, counted.n, single, key)
    core = np.zeros(len(counted.counts), dtype=bool)
    if core_law is not None:
        shared = key.child("core membership").uniforms(["one threshold for all points"])[0]
        core = counted.counts >= core_law.least_count(float(shared), counted.n)
    rows = np.flatnonzero(core if notion == "replicable" else core | member)
    return HeavyHitters(
        values=take_rows(counted.values, rows),
        points=counted.points.take(rows),
        counts=counted.counts[rows],
        thresholds=uniforms[rows],
        core=core[rows],
        n=counted.n,
        law=laws[0],
        gamma_prime=None if core_law is None else 2.0 * core_law.low,
        certificate=certify(
            HEAVY_TASKS[_NOTIONS.index(notion)],
            key.fingerprint,
            n=counted.n,
            rho=rho,
            beta=float(beta),
            **_law_inputs(notion, single, core_law, gamma),
        ),
    )


def draw_members(
    points: Points, counts: NDArray[np.int64], n: int, law: MembershipLaw, key: SharedKey
) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
    """Return which points are members, by one shared threshold for each, and the thresholds.

    >>> law = MembershipLaw("sqrt", 0.2, 0.3)
    >>> draw_members(as_points([5, 6]), np.array([1, 9]), 10, law, SharedKey(0))[0]
    array([False,  True])
    """
    uniforms = key.child("membership").uniforms(points)
    # theorem: heavy-membership
    return below_levels(uniforms, law.table(counts, n)), uniforms


def _membership_law(law: str | MembershipLaw, nu: float) -> MembershipLaw:
    if isinstance(law, MembershipLaw):
        return law
    if law == "standard":
        return MembershipLaw.standard(nu)
    if law == "paper":
        return MembershipLaw.paper(nu)
    raise ValueError(f'law={law!r} must be "standard", "paper" or a MembershipLaw.')


def _core_law(notion: str, nu: float, gamma: float, rho: float | None) -> SetLaw | None:
    if notion == "pointwise":
        return None
    if notion == "replicable":
        return SetLaw.standard(nu)
    budget = 0.1 if rho is None else rho
    return SetLaw.standard(round(gamma / (2.0 * math.log(2.0 / min(budget, 0.5))), 12))


def _law_inputs(
    notion: str, law: MembershipLaw, core: SetLaw | None, gamma: float
) -> dict[str, Any]:
    """Return what the certificate says of the laws in use."""
    inputs: dict[str, Any] = {}
    if notion != "replicable":
        inputs |= {"kind": law.kind, "low": law.low, "high": law.high}
    if core is not None:
        inputs |= {"core_low": core.low, "core_high": core.high}
    if notion == "approximate":
        inputs["gamma"] = float(gamma)
    return inputs
