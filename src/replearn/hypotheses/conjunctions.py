"""Conjunctions of thresholds: every feature on the right side of its own cut."""

from dataclasses import dataclass

from replearn.hypotheses._tight import Side
from replearn.hypotheses.base import check_feature_count
from replearn.hypotheses.boxes import BoxFamily


@dataclass(frozen=True)
class Conjunctions(BoxFamily):
    """All rules "x0 > t0 and x1 > t1 and ...", with the direction of each feature given.

    A condition may be absent (its cut at infinity).

    Parameters
    ----------
    n_features : int
        Number of columns, which is also the VC dimension.
    directions : tuple of {">", "<="}, optional
        One direction for each feature; ">" for all by default.

    Notes
    -----
    `erm` is exact: O(n log n) for one feature, at most O(n^2) in the plane, O(n^d) for d.
    `consistent` is O(n d log n) in any dimension.

    Examples
    --------
    >>> both = Conjunctions(2, directions=(">", "<="))
    >>> X = [[30, 1], [50, 1], [60, 2], [70, 9]]
    >>> print(both.erm(X, [0, 1, 1, 0]).rule(["age", "dose"]))
    age > 40 and dose <= 6
    """

    n_features: int
    directions: tuple[Side, ...] | None = None

    def __post_init__(self) -> None:
        check_feature_count(self.n_features)
        given = (">",) * self.n_features if self.directions is None else tuple(self.directions)
        if len(given) != self.n_features or not set(given) <= {">", "<="}:
            raise ValueError(
                f"directions is {self.directions!r}: give '>' or '<=' for each of "
                f"{self.n_features} features"
            )
        # Stored in one form, so that equal classes compare equal.
        object.__setattr__(self, "directions", given)

    @property
    def _sides(self) -> tuple[Side, ...]:
        assert self.directions is not None
        return self.directions
