"""The arguments of ``plan``, checked: what is given, what is to be solved."""

from dataclasses import MISSING, dataclass, fields
from typing import Any

from replearn.bounds import ThresholdLaw
from replearn.guarantees.design import (
    NOTIONS,
    UNITS,
    VOTES,
    Design,
    HeavyStage,
    Label,
    Request,
    plain_labels,
)
from replearn.records.checks import check_choice, check_count, check_fraction, if_given

MIN_BLOCK = 25
"""Below about this many rows most learners are useless: fewer blocks are used instead.

Down to this size more blocks beat larger ones: the narrower law gains more accuracy than small
blocks lose (COMPAS and Spambase, logistic regression and trees; see docs/benchmarks.md)."""

LAWS = ("arcsine", "uniform", "optimal")

# The arcsine law spends a pointwise budget evenly; the uniform one has the smallest steps, which
# is what the concentration of the approximate notion pays for.
DEFAULT_LAWS = {"pointwise": "arcsine", "approximate": "uniform"}


@dataclass(frozen=True)
class Wish:
    """Everything ``plan`` was given; None where the planner decides or solves."""

    request: Request
    n: int | None
    heavy: HeavyStage | None
    law: str | ThresholdLaw
    n_classes: int
    n_blocks: int | None = None
    block_size: int | None = None
    width: float | None = None
    vote: str = "hard"
    n_partitions: int | None = None
    max_fits: int | None = None
    classes: tuple[Label, ...] | None = None
    unit: str = "rows"
    decimals: int | None = None
    max_point_mass: float = 0.0
    min_block: int = MIN_BLOCK

    @property
    def binary(self) -> bool:
        """Whether there are two classes, so that thresholds are used."""
        return self.n_classes == 2

    @property
    def affordable_blocks(self) -> int | None:
        """Blocks of a partition that ``max_fits`` pays for; None: no budget was given."""
        return None if self.max_fits is None else self.max_fits // (self.n_partitions or 1)

    @property
    def smallest_block(self) -> int:
        """Rows per block that are enough without an accuracy target."""
        return self.min_block if self.block_size is None else self.block_size

    def design(self, **items: Any) -> Design:
        """Return a design with what was given, and these items."""
        given = ("request", "vote", "n_classes", "classes", "unit", "decimals", "max_point_mass")
        shared = {name: getattr(self, name) for name in (*given, "heavy")}
        return Design(**shared, **items)


def _in_order(classes: tuple[Label, ...] | None) -> tuple[Label, ...] | None:
    """Sort the classes, as every learner does: labs may list them in any order."""
    try:
        return None if classes is None else tuple(sorted(classes))
    except TypeError:  # of several types
        return classes


def make_request(
    notion: str,
    targets: dict[str, float | None],
    d: int | None,
    realizable: bool,
    runs: int,
) -> Request:
    """Check the targets and put them together."""
    checked = {name: if_given(check_fraction, name, value) for name, value in targets.items()}
    request = Request(
        notion=check_choice("notion", notion, NOTIONS),
        d=if_given(check_count, "d", d),
        realizable=bool(realizable),
        runs=check_count("runs", runs, least=2),
        **checked,
    )
    if request.notion == "pointwise" and request.gamma is not None:
        raise ValueError(
            f"gamma={request.gamma!r} belongs to the approximate notion: "
            'call plan("approximate", ...), or leave gamma out'
        )
    if request.notion == "approximate" and request.runs != 2:
        raise ValueError(
            f"runs={request.runs} is for the pointwise notion; the approximate one compares two"
        )
    return request


_OPTIONS: dict[str, Any] = {
    item.name: None if item.default is MISSING else item.default
    for item in fields(Wish)
    if item.name not in ("request", "n", "heavy")
}


def make_wish(request: Request, *, n: Any, heavy: HeavyStage | None, **options: Any) -> Wish:
    """Check all other arguments of ``plan``."""
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        takes = ", ".join((*_OPTIONS, "runs", "label_noise", "heavy"))
        raise TypeError(
            f"plan({request.notion!r}) does not take {unknown}; its options are {takes}"
        )
    given: dict[str, Any] = {**_OPTIONS, **options, "n": n, "heavy": heavy}
    given["classes"] = _in_order(plain_labels(given["classes"]))
    given["n_classes"] = _number_of_classes(given["n_classes"], given["classes"])
    for name in ("n", "n_blocks", "block_size", "n_partitions", "max_fits", "min_block"):
        given[name] = if_given(check_count, name, given[name])
    given["decimals"] = if_given(check_count, "decimals", given["decimals"], least=0)
    given["width"] = if_given(check_fraction, "width", given["width"])
    check_choice("vote", given["vote"], VOTES)
    check_choice("unit", given["unit"], UNITS)
    mass = check_fraction("max_point_mass", given["max_point_mass"], zero=True)
    given["max_point_mass"] = mass
    if given["law"] is None:
        given["law"], given["width"] = _default_law(request, given["width"])
    if not isinstance(given["law"], ThresholdLaw):
        check_choice("law", given["law"], LAWS)
    wish = Wish(request=request, **given)
    _check_together(wish)
    return wish


def _default_law(request: Request, width: float | None) -> tuple[str, float | None]:
    if {request.alpha, request.beta, request.d} == {None}:
        return DEFAULT_LAWS[request.notion], width
    # theorem: accuracy-factor (only the widest uniform law keeps OPT + alpha as it is)
    return "uniform", 1.0 if width is None else width


def _number_of_classes(n_classes: Any, classes: tuple[Label, ...] | None) -> int:
    if classes is None:
        return check_count("n_classes", 2 if n_classes is None else n_classes, least=2)
    if len(set(classes)) != len(classes):
        raise ValueError(f"classes must be different from each other, got {classes}")
    found = max(2, len(classes))
    if n_classes is not None and n_classes != found:
        raise ValueError(f"n_classes={n_classes} does not match classes={classes}")
    return found


def _check_together(wish: Wish) -> None:
    if wish.n is not None and wish.n_blocks is not None and wish.n_blocks > wish.n:
        raise ValueError(
            f"n_blocks={wish.n_blocks} is larger than n={wish.n}: every block needs a "
            f"{wish.unit.removesuffix('s')}"
        )
    _check_budget(wish)
    if wish.width is not None and wish.binary and not isinstance(wish.law, str):
        raise ValueError(f"width={wish.width}, but the law that was given has a width of its own")
    if wish.width is not None and wish.binary and wish.law == "optimal":
        raise ValueError(
            f'width={wish.width} cannot be set with law="optimal", which has none: leave it out'
        )
    if isinstance(wish.law, ThresholdLaw) and wish.n_blocks not in (None, wish.law.n_blocks):
        raise ValueError(
            f"n_blocks={wish.n_blocks}, but the law is made for {wish.law.n_blocks} blocks"
        )
    if wish.vote == "soft" and not _continuous(wish.law):
        raise ValueError('vote="soft" needs a continuous law: use law="arcsine" or "uniform"')
    request = wish.request
    if wish.law == "optimal" and (request.notion != "pointwise" or request.runs != 2):
        raise ValueError('law="optimal" is made for two runs, pointwise: use law="arcsine"')


def _check_budget(wish: Wish) -> None:
    law = wish.law
    n_blocks = law.n_blocks if isinstance(law, ThresholdLaw) else wish.n_blocks or 1
    fits = n_blocks * (wish.n_partitions or 1)
    if wish.max_fits is not None and fits > wish.max_fits:
        raise ValueError(
            f"max_fits={wish.max_fits} is not enough for {n_blocks} blocks in "
            f"{wish.n_partitions or 1} partitions ({fits} fits): raise max_fits, or lower n_blocks "
            "or n_partitions"
        )


def _continuous(law: str | ThresholdLaw) -> bool:
    return law.is_continuous if isinstance(law, ThresholdLaw) else law != "optimal"
