"""What blocks that vote have in common in all runs: the design, solved from a request.

A `PlanRequest` has one validated field for each argument of ``plan``.
Everything a certificate states follows from these frozen values alone; no data enters.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from replearn.bounds import ThresholdLaw, least_sharpness
from replearn.exceptions import CertificateError
from replearn.records import Reader, check_choice, check_count, check_fraction, if_given

Label = str | int | float | bool

NOTIONS = ("pointwise", "approximate")
VOTES = ("hard", "soft")
UNITS = ("rows", "groups")
LAWS = ("arcsine", "uniform")
SMALL_BLOCKS = ("adapt", "keep")
FAMILIES = ("any", "forest", "boosting")

MIN_BLOCK = 25
"""Below about this many rows most estimators are useless: fewer blocks are used instead.

Down to this size more blocks beat larger ones: the narrower law gains more accuracy than small
blocks lose (COMPAS and Spambase, logistic regression and trees; see docs/benchmarks/)."""

# The arcsine law spends a pointwise budget evenly; the uniform one has the smallest steps, which
# is what the concentration of the approximate notion pays for.
DEFAULT_LAWS = {"pointwise": "arcsine", "approximate": "uniform"}

_CHOICES = {
    "task": NOTIONS,
    "vote": VOTES,
    "unit": UNITS,
    "small_blocks": SMALL_BLOCKS,
    "family": FAMILIES,
}
_FRACTIONS = ("rho", "gamma", "alpha", "beta", "width")
_COUNTS = (
    *("n", "d", "n_blocks", "block_size", "n_partitions", "max_fits", "min_block"),
    "n_columns",
)


@dataclass(frozen=True)
class PlanRequest:
    """The arguments of :func:`replearn.plan` for blocks that vote, validated.

    Parameters
    ----------
    task : {"pointwise", "approximate"}, default="pointwise"
        The same prediction at each fixed point, or on all but a small mass of points.
    n : int, default=None
        Rows (or groups) of each sample. If None, the smallest number that meets the targets.
    rho : float, default=None
        Probability that two runs differ. If None, the smallest one that n allows.
    gamma : float, default=None
        Mass of points on which two models may differ, for task "approximate". If None, the
        smallest one that n allows.
    alpha, beta : float, default=None
        Excess error over the best hypothesis of a class of VC dimension ``d``, and the probability
        that it is exceeded.
    d : int, default=None
        VC dimension of the base estimator's class of hypotheses.
    n_blocks : int, default=None
        Number of blocks. If None, it follows from n and the targets.
    block_size : int, default=None
        Smallest number of rows of a block.
    law : {"arcsine", "uniform"} or ThresholdLaw, default=None
        Law of the shared threshold. If None, "arcsine" for task "pointwise", and "uniform" for task
        "approximate" or if alpha, beta or d is given.
    width : float, default=None
        Half-width of the law. If None, the smallest one that meets the targets.
    vote : {"hard", "soft"}, default="hard"
        Whether block models vote by label or by predicted probability.
    n_partitions : int, default=None
        Number of random partitions into blocks, which are derived from the key. If None, as many
        as ``max_fits`` allows.
    max_fits : int, default=None
        Largest number of base estimators, over all partitions. If None, the planner's default.
    classes : sequence, default=None
        The labels, in any order. If None, they are not part of the plan.
    n_classes : int, default=None
        Number of classes. If None, that of ``classes``, or 2.
    runs : int, default=2
        Number of runs that must agree.
    unit : {"rows", "groups"}, default="rows"
        What n counts.
    decimals : int, default=None
        Number of decimals to which numbers are rounded before they key thresholds. If None, they
        are not rounded.
    label_noise : bool, default=True
        Whether one point may have different labels; False is the realizable case.
    max_point_mass : float, default=0.0
        Bound on the sum of squared probabilities of single points; 0 for continuous data. ``fit``
        tests it.
    min_block : int, default=None
        Number of rows per block below which fewer blocks are used. If None, 25.
    small_blocks : {"adapt", "keep"}, default="adapt"
        Whether leaf sizes and bins of the base estimator that have their default value are made
        smaller in small blocks, or kept.
    family : {"any", "forest", "boosting"}, default="any"
        Family of the base estimator, for the default number of partitions: forests and gradient
        boosting take longer to fit.
    n_columns : int, default=None
        Number of columns of the table: large tables have fewer partitions. If None, the default
        number of partitions is used.

    Examples
    --------
    >>> PlanRequest(rho=0.1, classes=["yes", "no"]).classes
    ('no', 'yes')
    >>> PlanRequest(rho=2)
    Traceback (most recent call last):
    ...
    ValueError: rho=2 must lie in (0, 1]
    """

    task: str = "pointwise"
    n: int | None = None
    rho: float | None = None
    gamma: float | None = None
    alpha: float | None = None
    beta: float | None = None
    d: int | None = None
    n_blocks: int | None = None
    block_size: int | None = None
    law: str | ThresholdLaw | None = None
    width: float | None = None
    vote: str = "hard"
    n_partitions: int | None = None
    max_fits: int | None = None
    classes: tuple[Label, ...] | None = None
    n_classes: int = None  # type: ignore[assignment]  # None becomes a number below
    runs: int = 2
    unit: str = "rows"
    decimals: int | None = None
    label_noise: bool = True
    max_point_mass: float = 0.0
    min_block: int | None = None
    small_blocks: str = "adapt"
    family: str = "any"
    n_columns: int | None = None

    def __post_init__(self) -> None:
        for name, value in _validated(**vars(self)).items():
            object.__setattr__(self, name, value)
        _check_targets(self)
        _check_blocks(self)
        _check_law(self)

    @property
    def binary(self) -> bool:
        """Whether there are two classes, so that thresholds are used."""
        return self.n_classes == 2

    @property
    def wants_accuracy(self) -> bool:
        """Whether alpha, beta and d are all given."""
        return None not in (self.alpha, self.beta, self.d)

    @property
    def realizable(self) -> bool:
        """Whether some hypothesis of the class makes no error at all."""
        return not self.label_noise

    @property
    def affordable_blocks(self) -> int | None:
        """Blocks of a partition that ``max_fits`` allows; None if no budget is given."""
        return None if self.max_fits is None else self.max_fits // (self.n_partitions or 1)

    @property
    def smallest_block(self) -> int:
        """Rows per block that are enough without an accuracy target."""
        return self.block_size or self.min_block or MIN_BLOCK

    def with_default_law(self) -> "PlanRequest":
        """Return the request with the default law, if no law is given."""
        if self.law is not None:
            return self
        if {self.alpha, self.beta, self.d} == {None}:
            return replace(self, law=DEFAULT_LAWS[self.task])
        # theorem: accuracy-factor (only the widest uniform law keeps OPT + alpha as it is)
        return replace(self, law="uniform", width=1.0 if self.width is None else self.width)

    def without_design(self) -> "PlanRequest":
        """Return the request without what a design fixes: rows, blocks, law, partitions.

        Family and columns are left out as well, since they only decide on partitions.
        """
        return replace(
            self,
            n=None,
            n_blocks=None,
            block_size=None,
            law=None,
            width=None,
            n_partitions=None,
            max_fits=None,
            min_block=None,
            family="any",
            n_columns=None,
        )


# -- one argument at a time ------------------------------------------------------------------------
def _validated(**params: Any) -> dict[str, Any]:
    """Return the arguments as plain Python values."""
    values = dict(params)
    for name in _FRACTIONS:
        values[name] = if_given(check_fraction, name, params[name])
    for name in _COUNTS:
        values[name] = if_given(check_count, name, params[name])
    for name, choices in _CHOICES.items():
        values[name] = check_choice(name, params[name], choices)
    values["runs"] = check_count("runs", params["runs"], least=2)
    values["decimals"] = if_given(check_count, "decimals", params["decimals"], least=0)
    mass = check_fraction("max_point_mass", params["max_point_mass"], zero=True)
    values["max_point_mass"] = mass
    values["classes"] = _sorted_classes(plain_labels(params["classes"]))
    values["n_classes"] = _number_of_classes(params["n_classes"], values["classes"])
    if not isinstance(params["label_noise"], bool | np.bool_):
        raise TypeError(f"label_noise must be True or False, got {params['label_noise']!r}")
    values["label_noise"] = bool(params["label_noise"])
    if params["law"] is not None and not isinstance(params["law"], ThresholdLaw):
        check_choice("law", params["law"], LAWS)
    return values


def plain_labels(classes: Any) -> tuple[Label, ...] | None:
    """Return class labels as JSON values: numpy scalars unpacked, other objects as text.

    >>> plain_labels(np.array([0, 1])), plain_labels(["no", "yes"])
    ((0, 1), ('no', 'yes'))
    """
    if classes is None:
        return None
    return tuple(_plain_label(item) for item in classes)


def _plain_label(label: Any) -> Label:
    value = label.item() if isinstance(label, np.generic) else label
    return value if isinstance(value, str | int | float | bool) else str(value)


def _sorted_classes(classes: tuple[Label, ...] | None) -> tuple[Label, ...] | None:
    """Sort the classes, as every estimator does: labs may list them in any order."""
    try:
        return None if classes is None else tuple(sorted(classes))
    except TypeError:  # of several types
        return classes


def _number_of_classes(n_classes: Any, classes: tuple[Label, ...] | None) -> int:
    if classes is None:
        return check_count("n_classes", 2 if n_classes is None else n_classes, least=2)
    if len(set(classes)) != len(classes):
        raise ValueError(f"classes must be different from each other, got {classes}")
    n_listed = max(2, len(classes))
    if n_classes is not None and n_classes != n_listed:
        raise ValueError(f"n_classes={n_classes} does not match classes={classes}")
    return n_listed


# -- arguments that belong together ----------------------------------------------------------------
def _check_targets(request: PlanRequest) -> None:
    if request.task == "pointwise" and request.gamma is not None:
        raise ValueError(
            f"gamma={request.gamma!r} belongs to the approximate notion: "
            'call plan("approximate", ...), or leave gamma out'
        )
    if request.task == "approximate" and request.runs != 2:
        raise ValueError(
            f"runs={request.runs} is for the pointwise notion; the approximate one compares two"
        )


def _check_blocks(request: PlanRequest) -> None:
    if request.n is not None and request.n_blocks is not None and request.n_blocks > request.n:
        raise ValueError(
            f"n_blocks={request.n_blocks} is larger than n={request.n}: every block needs a "
            f"{request.unit.removesuffix('s')}"
        )
    law = request.law
    n_blocks = law.n_blocks if isinstance(law, ThresholdLaw) else request.n_blocks or 1
    if request.n is not None and request.block_size is not None:
        n_needed = n_blocks * request.block_size
        if n_needed > request.n:
            raise ValueError(
                f"n_blocks={n_blocks} with block_size={request.block_size} need {n_needed} "
                f"{request.unit}, but n={request.n}: give fewer or smaller blocks"
            )
    n_partitions = request.n_partitions or 1
    n_fits = n_blocks * n_partitions
    if request.max_fits is not None and n_fits > request.max_fits:
        raise ValueError(
            f"max_fits={request.max_fits} is not enough for {n_blocks} blocks in {n_partitions} "
            f"partitions ({n_fits} fits): raise max_fits, or lower n_blocks or n_partitions"
        )


def _check_law(request: PlanRequest) -> None:
    law = request.law
    if request.width is not None and request.binary and isinstance(law, ThresholdLaw):
        raise ValueError(f"width={request.width} cannot be set: the given law has its own width")
    if isinstance(law, ThresholdLaw) and request.n_blocks not in (None, law.n_blocks):
        raise ValueError(f"n_blocks={request.n_blocks}, but the law is for {law.n_blocks} blocks")
    if request.vote == "soft" and isinstance(law, ThresholdLaw) and not law.is_continuous:
        raise ValueError('vote="soft" requires a continuous law: use law="arcsine" or "uniform"')


@dataclass(frozen=True)
class Design:
    """The items that all runs of one promise share.

    Parameters
    ----------
    request : PlanRequest
        What was requested, without what the design fixes: targets, classes, vote, unit, decimals.
    n : int
        Number of rows (or groups) of each sample.
    n_blocks : int
        Number of blocks, T.
    law : ThresholdLaw or None
        Law of the shared threshold; None for more than two classes.
    n_partitions : int
        Number of random partitions into blocks, derived from the key.
    encoding : str
        Version of the canonical encoding.
    sharpness : float or None
        More than two classes: scale of the vote shares against the shared Gumbels.
    """

    request: PlanRequest
    n: int
    n_blocks: int
    law: ThresholdLaw | None
    n_partitions: int = 1
    encoding: str = ""
    sharpness: float | None = None

    # -- fixed by the request --------------------------------------------------------------------
    @property
    def task(self) -> str:
        """Name of the task: "pointwise" or "approximate"."""
        return self.request.task

    @property
    def vote(self) -> str:
        """Whether block models vote by label ("hard") or by predicted probability ("soft")."""
        return self.request.vote

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.request.n_classes

    @property
    def classes(self) -> tuple[Label, ...] | None:
        """The classes in order, if the plan fixes them."""
        return self.request.classes

    @property
    def unit(self) -> str:
        """What n counts: "rows" or "groups"."""
        return self.request.unit

    @property
    def decimals(self) -> int | None:
        """Rounding of numbers in the canonical encoding of a point."""
        return self.request.decimals

    @property
    def small_blocks(self) -> str:
        """Whether leaf sizes of the base estimator follow the size of small blocks."""
        return self.request.small_blocks

    @property
    def max_point_mass(self) -> float:
        """Bound on the sum of squared masses of single points (0 for continuous data)."""
        return self.request.max_point_mass

    # -- what follows ----------------------------------------------------------------------------
    @property
    def block_size(self) -> int:
        """Rows (or groups) per block, m."""
        return self.n // self.n_blocks

    @property
    def n_used(self) -> int:
        """Rows (or groups) that are used; the rest is left out by key."""
        return self.n_blocks * self.block_size

    @property
    def error_name(self) -> str:
        """What statements about the error take the mean of, over the block models."""
        return "error" if self.vote == "hard" else "absolute error of the scores"

    @property
    def assumes_point_masses(self) -> bool:
        """Whether the promise rests on ``max_point_mass``; a bound of 1 is always true."""
        request = self.request
        in_use = request.wants_accuracy or request.task == "approximate"
        return in_use and self.max_point_mass < 1

    # -- JSON ------------------------------------------------------------------------------------
    def to_dict(self) -> dict[str, Any]:
        """Return the design as JSON values; a design that contradicts itself raises an error."""
        self.validate()
        values = {
            "request": _targets_to_dict(self.request),
            "n": self.n,
            "n_blocks": self.n_blocks,
            "law": None if self.law is None else self.law.to_dict(),
            "vote": self.vote,
            "n_partitions": self.n_partitions,
            "n_classes": self.n_classes,
            "classes": None if self.classes is None else list(self.classes),
            "unit": self.unit,
            "decimals": self.decimals,
            "encoding": self.encoding,
            "max_point_mass": self.max_point_mass,
        }
        if self.sharpness is not None:  # more than two classes only
            values["sharpness"] = self.sharpness
        if self.small_blocks != "adapt":
            values["small_blocks"] = self.small_blocks
        return {**values, "block_size": self.block_size, "n_used": self.n_used}

    @classmethod
    def from_dict(cls, items: Any) -> "Design":
        """Read a design from JSON values; anything unexpected raises a CertificateError."""
        reader = Reader(items, "design")
        design = cls(
            request=_read_request(reader),
            n=reader.take("n", int),
            n_blocks=reader.take("n_blocks", int),
            law=_read_law(reader.take_or_none("law", dict)),
            n_partitions=reader.take("n_partitions", int),
            encoding=reader.take("encoding", str),
            sharpness=reader.take_if_there("sharpness", float),
        )
        design.validate()
        for name in ("block_size", "n_used"):
            stored = reader.take(name, int)
            computed = getattr(design, name)
            if stored != computed:
                raise CertificateError(f"design: {name} is {stored}, but n and T give {computed}")
        reader.finish()
        return design

    def validate(self) -> None:
        """Raise a CertificateError if the design contradicts itself; the message names the item."""
        problem = next((text for failed, text in self._conditions() if failed), None)
        if problem is not None:
            raise CertificateError(f"design: {problem}")

    def _conditions(self) -> list[tuple[bool, str]]:
        law_blocks = None if self.law is None else self.law.n_blocks
        binary = self.request.binary
        return [
            (self.n_blocks < 1, f"n_blocks must be at least 1, got {self.n_blocks}"),
            (self.n < self.n_blocks, f"n = {self.n} is smaller than n_blocks = {self.n_blocks}"),
            (self.n_partitions < 1, f"n_partitions must be at least 1, got {self.n_partitions}"),
            (binary and self.law is None, "two classes need a threshold law"),
            (not binary and self.law is not None, "more than two classes have no threshold law"),
            (binary and self.sharpness is not None, "sharpness is for more than two classes"),
            (
                not binary and self.sharpness is None,
                f"{self.n_classes} classes need a sharpness; older plans had none and drew the "
                "label from the vote shares: make the plan again",
            ),
            (
                self.sharpness is not None
                and self.sharpness < least_sharpness(self.n_classes) * (1 - 1e-12),
                f"sharpness {self.sharpness} lets unanimous votes be overruled",
            ),
            (
                binary and law_blocks != self.n_blocks,
                f"the law is for {law_blocks} blocks, n_blocks is {self.n_blocks}",
            ),
            (
                self.request.wants_accuracy
                and (not binary or self.vote == "soft" or self.unit == "groups"),
                "alpha, beta and d are for two classes, hard votes and independent rows",
            ),
        ]


def _targets_to_dict(request: PlanRequest) -> dict[str, Any]:
    """Return the targets under their names in JSON."""
    return {
        "notion": request.task,
        "rho": request.rho,
        "gamma": request.gamma,
        "alpha": request.alpha,
        "beta": request.beta,
        "d": request.d,
        "realizable": request.realizable,
        "runs": request.runs,
    }


def _read_request(reader: Reader) -> PlanRequest:
    """Take what the request fixes out of a design."""
    targets = Reader(reader.take("request", dict), "request")
    params: dict[str, Any] = {
        "task": targets.take("notion", str),
        "rho": targets.take_or_none("rho", float),
        "gamma": targets.take_or_none("gamma", float),
        "alpha": targets.take_or_none("alpha", float),
        "beta": targets.take_or_none("beta", float),
        "d": targets.take_or_none("d", int),
        "label_noise": not targets.take("realizable", bool),
        "runs": targets.take("runs", int),
        "vote": reader.take("vote", str),
        "n_classes": reader.take("n_classes", int),
        "classes": reader.take_or_none("classes", list),
        "unit": reader.take("unit", str),
        "decimals": reader.take_or_none("decimals", int),
        "max_point_mass": reader.take("max_point_mass", float),
        "small_blocks": reader.take_if_there("small_blocks", str, "adapt"),
    }
    targets.finish()
    try:
        return PlanRequest(**params)
    except (ValueError, TypeError) as error:
        raise CertificateError(f"design: {error}") from error


def _read_law(items: dict[str, Any] | None) -> ThresholdLaw | None:
    if items is None:
        return None
    try:
        law = ThresholdLaw.from_dict(items)
        if law.to_dict() != items or (law.width is not None and not law.is_continuous):
            raise ValueError("the record has items that a law of this kind does not have")
        return law
    except (ValueError, TypeError, KeyError, OverflowError, MemoryError) as error:
        raise CertificateError(f"law: {error}") from error
