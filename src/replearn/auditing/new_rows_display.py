"""Changed predictions against the share of new rows: one picture of how often to retrain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from replearn.auditing._audit import audit
from replearn.auditing._statistics import Estimate
from replearn.auditing.displays import Display

SHARES = (0.01, 0.1, 0.5, 1.0)


@dataclass(eq=False)
class NewRowsDisplay(Display):
    """Share of predictions that change, against the share of training rows that are new.

    Parameters
    ----------
    shares : sequence of float
        Shares of new rows.
    changed : dict of str to list of Estimate
        Share of changed predictions of each contender, for each share of new rows.
    """

    shares: Sequence[float]
    changed: Mapping[str, list[Estimate]]

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        shares: Sequence[float] = SHARES,
        contenders: Sequence[str] | None = ("baseline",),
        **options: Any,
    ) -> Self:
        """Audit an estimator once for each share: ``2 * n_pairs`` trainings of each contender.

        Parameters
        ----------
        estimator, X, y, contenders
            As for `audit`; by default the estimator alone.
        shares : sequence of float, default=(0.01, 0.1, 0.5, 1.0)
            Shares of new rows.
        **options
            Other parameters of `audit`, such as ``n_pairs``. All audits have the same test rows,
            and the first samples of their pairs are the same.

        Returns
        -------
        NewRowsDisplay
            Limits of different shares are not independent: the audits share rows.

        Examples
        --------
        >>> from sklearn.datasets import make_classification
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from replearn.auditing import NewRowsDisplay
        >>> X, y = make_classification(1200, flip_y=0.2, random_state=0)
        >>> tree = DecisionTreeClassifier(max_depth=3)
        >>> display = NewRowsDisplay.from_estimator(tree, X, y, shares=(0.1, 1.0), n_pairs=2)
        >>> few, all_new = display.changed["baseline"]
        >>> few.value < all_new.value
        True
        """
        chosen = None if isinstance(estimator, Mapping) else contenders
        options = {"sources": False, **options}
        results = [
            audit(estimator, X, y, contenders=chosen, new_rows=share, **options) for share in shares
        ]
        names = [contender.name for contender in results[0].contenders]
        return cls(
            tuple(shares), {name: [found.flip_rate(name) for found in results] for name in names}
        )

    def _columns(self) -> dict[str, Any]:
        lines = [
            (name, share, estimate.value, estimate.lower, estimate.upper)
            for name, estimates in self.changed.items()
            for share, estimate in zip(self.shares, estimates, strict=True)
        ]
        names = ("contender", "new_rows", "changed", "lower", "upper")
        return dict(zip(names, zip(*lines, strict=True), strict=True))

    def _draw(self, ax: Any) -> None:
        for name, estimates in self.changed.items():
            values = [estimate.value for estimate in estimates]
            below = [estimate.value - estimate.lower for estimate in estimates]
            above = [estimate.upper - estimate.value for estimate in estimates]
            ax.errorbar(self.shares, values, yerr=[below, above], fmt="o-", label=name)
        ax.set(xlabel="share of new rows", ylabel="changed predictions", xscale="log")
        ax.set_ylim(bottom=0)
