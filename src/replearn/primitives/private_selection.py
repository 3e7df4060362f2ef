"""Private selection: an item that occurs often, released without revealing any single entry.

A stable histogram: counts with noise, and a threshold below which nothing is said. The noise comes
from OpenDP and the operating system; it is secret and fresh, and has nothing to do with the key
that replicable runs share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from replearn.bounds import release_threshold
from replearn.records import check_count, check_positive

MECHANISM = "discrete Laplace noise on counts and a release threshold (OpenDP)"


@dataclass(frozen=True)
class PrivateSelection:
    """The result of a private selection.

    Parameters
    ----------
    item : object or None
        The item with the largest noisy count; None if no noisy count reached the threshold.
    noisy_count : int
        Its count with noise; 0 if there is no item.
    epsilon, delta : float
        Bounds on what exchanging one item can change.
    threshold : int
        The smallest noisy count that is released.
    mechanism : str
        Where the noise comes from.
    """

    item: Any
    noisy_count: int
    epsilon: float
    delta: float
    threshold: int
    mechanism: str = MECHANISM


def select_privately(items: Iterable[Hashable], epsilon: float, delta: float) -> PrivateSelection:
    """Return an item that occurs often, with (epsilon, delta)-differential privacy.

    Two lists of the same length that differ in one item give any set of results with
    probabilities p and q, ``p <= exp(epsilon) q + delta``. This requires the extra ``privacy``
    (OpenDP).

    Parameters
    ----------
    items : iterable of str, int or tuple
        Hashable items that differ in their ``repr``. Their number is not kept secret.
    epsilon : float
        Privacy loss, above 0.
    delta : float
        Its failure probability, in (0, 1).

    Returns
    -------
    PrivateSelection
        Every call draws fresh noise, so that two calls may differ. Together they reveal more than
        one: their epsilons and deltas add up.

    Examples
    --------
    >>> chosen = select_privately(["a"] * 200 + ["b"] * 3, epsilon=1.0, delta=1e-6)
    >>> chosen.item, chosen.threshold
    ('a', 28)
    >>> select_privately(["a", "b"], epsilon=1.0, delta=1e-6).item is None
    True
    """
    listed = list(items)
    names = {_name(item): item for item in listed}
    level = release_threshold(epsilon, delta)
    # theorem: private-selection
    released = release_counts(Counter(map(_name, listed)), epsilon, level)
    best = max(released, key=lambda name: (released[name], name), default=None)
    if best is None:
        return PrivateSelection(None, 0, float(epsilon), float(delta), level)
    return PrivateSelection(names[best], released[best], float(epsilon), float(delta), level)


def release_counts(counts: Mapping[str, int], epsilon: float, threshold: int) -> dict[str, int]:
    """Add fresh noise of scale 2 / epsilon to each count, and leave out those below the threshold.

    OpenDP draws the noise and applies the threshold. What privacy that gives is computed by
    `replearn.bounds.privacy`, not by OpenDP's own privacy map: that map counts P(noise > threshold
    - 1) for an item with a count of one, while the item is released at the threshold itself.
    """
    check_positive("epsilon", epsilon)
    check_count("threshold", threshold, least=2)
    if not counts:
        return {}
    dp = _opendp()
    space = (
        dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T="i64")),
        dp.l01inf_distance(dp.absolute_distance(T="i64")),
    )
    measurement = dp.m.make_laplace_threshold(*space, scale=2.0 / epsilon, threshold=int(threshold))
    return dict(measurement(dict(counts)))


def _name(item: Hashable) -> str:
    return f"{type(item).__name__}:{item!r}"


def _opendp() -> Any:
    try:
        import opendp.prelude as dp
    except ImportError as error:
        raise ImportError(
            "private selection needs OpenDP: pip install 'replicable-learn[privacy]'"
        ) from error
    dp.enable_features("contrib")
    return dp
