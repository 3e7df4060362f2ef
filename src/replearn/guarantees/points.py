"""Whether two runs mean the same by a point: names of the columns, rounding, and coarse sketches.

A sketch of a column is a handful of quantiles or shares. Two sketches of one population differ by
more than `slack` with probability at most `FALSE_ALARM` for all columns of both runs together, by
the inequality of Dvoretzky, Kiefer and Wolfowitz with Massart's constant (theorem: dkw).
"""

import math
from typing import Any

FALSE_ALARM = 1e-9
"""Probability that two runs on one population are told apart by their sketches."""

FEWEST_ROWS = 200
"""Fewer rows are not sketched: quantiles would be the cells of persons, and prove nothing."""

RARE = 0.01
MOST_LEVELS = 15
"""Texts that are rarer are not listed, nor are more than so many."""

ROUNDED_ROWS = 1024
"""Rows whose decimals are counted."""

_STATEMENTS = 6  # per column: kinds, decimals, and quantiles and levels of two sets of rows


def compare_points(
    here: dict[str, Any] | None, there: dict[str, Any] | None
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Say in words where two descriptions of points differ, and what could not be compared.

    Examples
    --------
    >>> array = {"encoding": "1", "decimals": None, "columns": None, "n_columns": 2, "rows": 0}
    >>> frame = {**array, "columns": ["age", "sex"]}
    >>> compare_points(array, frame)[0]
    ("columns: by position here, by name ('age', 'sex') there",)
    """
    if here is None and there is None:
        return (), ()
    if here is None or there is None:
        return (), ("the points are described on one certificate only",)
    differences = [
        f"{name} of the points: {here[name]} here, {there[name]} there"
        for name in ("encoding", "decimals", "n_columns")
        if here[name] != there[name]
    ]
    if here["columns"] != there["columns"]:
        differences.append(f"columns: {_order(here)} here, {_order(there)} there")
    if differences:
        return tuple(differences), ()
    if not (here["rows"] and there["rows"]):
        return (), ()
    pairs = zip(here["sketch"], there["sketch"], strict=False)
    found = [text for one, two in pairs for text in _column(one, two, here, there)]
    return (*found, *_texts(here, there)), ()


def slack(n_here: int, n_there: int, n_columns: int) -> float:
    """Return by how much two empirical distribution functions of one population may differ.

    Examples
    --------
    >>> round(slack(8000, 8000, 20), 3)
    0.082
    """
    # theorem: dkw (a union over the columns and statements of both runs)
    logs = math.log(2 * 2 * _STATEMENTS * max(n_columns, 1) / FALSE_ALARM)
    return math.sqrt(logs / (2 * n_here)) + math.sqrt(logs / (2 * n_there))


def _order(schema: dict[str, Any]) -> str:
    names = schema["columns"]
    if names is None:
        return "by position"
    shown = [*map(repr, names[:5]), *(["..."] if len(names) > 5 else [])]
    return f"by name ({', '.join(shown)})"


def _column(
    one: dict[str, Any], two: dict[str, Any], here: dict[str, Any], there: dict[str, Any]
) -> list[str]:
    """Name what differs between two sketches of one column; the first finding is enough."""
    place, columns = f"column {one['name']!r}", here["n_columns"]
    rows = slack(here["rows"], there["rows"], columns)
    few = slack(min(here["rows"], ROUNDED_ROWS), min(there["rows"], ROUNDED_ROWS), columns)
    kinds = _shares_differ(one["kinds"], two["kinds"], 2 * rows)
    if kinds:
        return [f"{place}: {kinds}"]
    for group, n in (("all", rows), ("second", None)):
        if group not in one or group not in two:
            continue
        width = slack(here["second"], there["second"], columns) if n is None else n
        where = "" if n is not None else " among rows of the second class"
        if quantiles_differ(one[group]["quantiles"], two[group]["quantiles"], width):
            mine, yours = (_middle(item[group]["quantiles"]) for item in (one, two))
            return [f"{place}: other values{where} (median {mine} here, {yours} there)"]
        levels = _shares_differ(one[group]["levels"], two[group]["levels"], 2 * width, RARE)
        if levels:
            return [f"{place}: other texts{where}"]
    for what, mine in one["steps"].items():
        yours = two["steps"].get(what, 0.0)
        if abs(mine - yours) > few:
            return [f"{place}: {mine:.0%} of the cells are {what} here, {yours:.0%} there"]
    return []


def _texts(here: dict[str, Any], there: dict[str, Any]) -> list[str]:
    """Name what texts look like in one run only: texts that differ in form are other points."""
    mine, yours = (min(schema["rows"], ROUNDED_ROWS) for schema in (here, there))
    width = slack(mine, yours, here["n_columns"])
    return [
        f"texts: {share:.0%} of the rows have some {name} here, "
        f"{there['texts'].get(name, 0.0):.0%} there"
        for name, share in here["texts"].items()
        if abs(share - there["texts"].get(name, 0.0)) > width
    ]


def quantiles_differ(here: list[Any], there: list[Any], width: float) -> bool:
    """Whether no distribution is within ``width`` of both lists of quantiles.

    A quantile at level p lies below one at level q of the other list although p exceeds q by more
    than ``width``: impossible for two samples of one population. None counts as plus infinity.

    Examples
    --------
    >>> quantiles_differ([1, 2, 3], [1, 2, 4], 0.3), quantiles_differ([1, 2, 3], [10, 20, 30], 0.3)
    (False, True)
    """
    mine, yours = ([math.inf if q is None else q for q in items] for items in (here, there))
    step = 1 / (len(mine) + 1)
    far = [
        (high, low)
        for high in range(len(mine))
        for low in range(min(high + 1, len(yours)))
        if (high - low) * step > width
    ]
    return any(mine[h] < yours[w] or yours[h] < mine[w] for h, w in far)


def _shares_differ(
    here: dict[str, float], there: dict[str, float], width: float, unlisted: float = 0.0
) -> str:
    """Name the first share that differs; what is not listed has a share below ``unlisted``."""
    for one, two in ((here, there), (there, here)):
        full = len(two) >= MOST_LEVELS
        rest = max(unlisted, min(two.values())) if two and full else unlisted
        for name, share in one.items():
            if abs(share - two.get(name, min(share, rest))) > width:
                mine, yours = here.get(name, 0.0), there.get(name, 0.0)
                return f"{mine:.0%} of the cells are {name} here, {yours:.0%} there"
    return ""


def _middle(quantiles: list[Any]) -> str:
    middle = quantiles[len(quantiles) // 2]
    return "none" if middle is None else f"{middle:g}"
