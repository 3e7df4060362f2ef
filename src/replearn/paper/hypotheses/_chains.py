"""Points that decision stumps shatter: chains of sets that together contain every set.

A feature orders the points; the sets {x > t} are then the beginnings of that order, a chain.
n points are shattered iff the chains of all features contain every subset (up to complements, if
both directions are allowed). By Sperner that takes at least C(n, n // 2) chains, or half as many;
the symmetric chains of Greene and Kleitman (1976) show that this is enough.
"""

from itertools import combinations
from math import comb

import numpy as np

from replearn.paper.hypotheses._inputs import Floats


def largest_shattered(n_chains: int) -> int:
    """Return the largest n with C(n, n // 2) <= n_chains.

    >>> [largest_shattered(chains) for chains in (1, 2, 6, 60)]
    [1, 2, 4, 7]
    """
    size = 1
    while comb(size + 1, (size + 1) // 2) <= n_chains:
        size += 1
    return size


def shattered_by_stumps(n_features: int, both_directions: bool) -> Floats:
    """Return the largest set of points that stumps shatter, one row for each point."""
    n_points = largest_shattered(n_features * (2 if both_directions else 1))
    half = n_points // 2
    layer = [frozenset(chosen) for chosen in combinations(range(n_points), half)]
    everything = frozenset(range(n_points))
    if both_directions:
        orders = []
        for first, second in _disjoint_pairs(layer, everything, n_features):
            middle = sorted(everything - first - second)
            back = _chain(second, n_points)[0][::-1]
            orders.append(_chain(first, n_points)[0] + middle + back)
    else:
        orders = [[*below, *above] for below, above in (_chain(a, n_points) for a in layer)]
    points = np.zeros((n_points, n_features))
    for feature, order in enumerate(orders):
        points[order, feature] = np.arange(n_points, 0, -1)
    return points


def _chain(chosen: frozenset[int], n_points: int) -> tuple[list[int], list[int]]:
    """Order the chosen and the other elements: beginnings of both are the symmetric chain.

    Each chosen element is matched with a free one before it; what stays unmatched moves along
    the chain.
    """
    open_free: list[int] = []
    alone: list[int] = []
    for element in range(n_points):
        if element not in chosen:
            open_free.append(element)
        elif open_free:
            open_free.pop()
        else:
            alone.append(element)
    matched_free = set(range(n_points)) - chosen - set(open_free)
    return sorted(chosen - set(alone)) + alone, open_free + sorted(matched_free)


def _disjoint_pairs(
    layer: list[frozenset[int]], everything: frozenset[int], n_pairs: int
) -> list[tuple[frozenset[int], frozenset[int]]]:
    """Pair the middle sets so that partners are disjoint, in at most n_pairs pairs.

    A set without a partner is paired with the empty set.
    """
    if 2 * len(layer[0]) == len(everything):
        return [(a, everything - a) for a in layer if 0 in a]
    neighbours = {a: [everything - a - {e} for e in sorted(everything - a)] for a in layer}
    partner = _matching(neighbours)
    pairs = [(a, b) for a, b in partner.items() if min(a | b) in a]
    alone = [(a, frozenset[int]()) for a in layer if a not in partner]
    if len(pairs) + len(alone) > n_pairs:  # the odd graphs have near-perfect matchings
        raise RuntimeError(f"no matching of {len(layer)} middle sets in {n_pairs} pairs found")
    return pairs + alone


def _matching(
    neighbours: dict[frozenset[int], list[frozenset[int]]],
) -> dict[frozenset[int], frozenset[int]]:
    """Return a matching that simple alternating paths cannot enlarge."""
    partner: dict[frozenset[int], frozenset[int]] = {}
    for start in neighbours:
        if start in partner:
            continue
        path = _alternating_path(start, neighbours, partner)
        for left, right in zip(path[::2], path[1::2], strict=False):
            partner[left] = right
            partner[right] = left
    return partner


def _alternating_path(
    start: frozenset[int],
    neighbours: dict[frozenset[int], list[frozenset[int]]],
    partner: dict[frozenset[int], frozenset[int]],
) -> list[frozenset[int]]:
    """Return start, free, matched, free, ... up to an unmatched set; empty if none is reached."""
    path = [start]
    seen = {start}
    choices = [iter(neighbours[start])]
    while choices:
        step = next((b for b in choices[-1] if b not in seen), None)
        if step is None:
            choices.pop()
            del path[-2:]
            continue
        seen.add(step)
        mate = partner.get(step)
        if mate is None:
            return [*path, step]
        if mate not in seen:
            seen.add(mate)
            path += [step, mate]
            choices.append(iter(neighbours[mate]))
    return []
