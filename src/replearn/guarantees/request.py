"""The arguments of ``plan`` for blocks that vote: one field each, validated here."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from replearn.bounds import MembershipLaw, ThresholdLaw
from replearn.records import check_choice, check_count, check_fraction, if_given

Label = str | int | float | bool

NOTIONS = ("pointwise", "approximate")
VOTES = ("hard", "soft")
UNITS = ("rows", "groups")
LAWS = ("arcsine", "uniform", "optimal")
STAGES = ("auto", "paper", "off")
SMALL_BLOCKS = ("adapt", "keep")

MIN_BLOCK = 25
"""Below about this many rows most estimators are useless: fewer blocks are used instead.

Down to this size more blocks beat larger ones: the narrower law gains more accuracy than small
blocks lose (COMPAS and Spambase, logistic regression and trees; see docs/benchmarks/)."""

# The arcsine law spends a pointwise budget evenly; the uniform one has the smallest steps, which
# is what the concentration of the approximate notion pays for.
DEFAULT_LAWS = {"pointwise": "arcsine", "approximate": "uniform"}

_CHOICES = {"task": NOTIONS, "vote": VOTES, "unit": UNITS, "small_blocks": SMALL_BLOCKS}
_FRACTIONS = ("rho", "gamma", "alpha", "beta", "width")
_COUNTS = ("n", "d", "n_blocks", "block_size", "n_partitions", "max_fits", "min_block")


@dataclass(frozen=True)
class HeavyStage:
    """How points that occur many times are treated: membership law and number of labels.

    Parameters
    ----------
    low, high : float
        The membership threshold lies between these masses.
    n_labels : int
        Exactly this many labels of a heavy point are used (k).
    band : float
        The label threshold is uniform on [-band, band]; for more than two classes, the scale of
        the shared Gumbels that are added to the shares of the labels.
    kind : str
        ``"sqrt"`` or ``"uniform"``: the scale in which the membership threshold is uniform.
    alpha, beta : float or None
        Accuracy that the stage is there for: excess over the mean error of the block models, and
        the probability that it is larger.
    clear : float or None
        Labels of heavy points whose mean is at least so far from 0 are right (for more classes:
        the label errs at most so much more than the best one); 1: realizable.
    mass : float or None
        Every point of this mass shall be found.

    Examples
    --------
    >>> HeavyStage(low=0.01, high=0.16, n_labels=40, band=0.9).kind
    'sqrt'
    """

    low: float
    high: float
    n_labels: int
    band: float = 1.0
    kind: str = "sqrt"
    alpha: float | None = None
    beta: float | None = None
    clear: float | None = None
    mass: float | None = None

    @property
    def law(self) -> MembershipLaw:
        """Law of the membership threshold."""
        return MembershipLaw(self.kind, self.low, self.high)

    @property
    def is_whole(self) -> bool:
        """Whether the accuracy it is there for is stated in full, or not at all."""
        missing = [item is None for item in (self.alpha, self.beta, self.clear, self.mass)]
        return all(missing) or not any(missing)


@dataclass(frozen=True)
class PlanRequest:
    """The arguments of :func:`replearn.plan` for blocks that vote, validated.

    Parameters
    ----------
    task : {"pointwise", "approximate"}, default="pointwise"
        The same prediction at each fixed point, or on all but a small mass of points.
    n : int, default=None
        Rows (or groups) of each sample; None: the smallest number that meets the targets.
    rho : float, default=None
        Probability that two runs differ; None: the smallest that n allows.
    gamma : float, default=None
        Mass of points on which two models may differ, for task "approximate"; None: the smallest
        that n allows.
    alpha, beta : float, default=None
        Excess error, and the probability that it is larger: over the best hypothesis of a class of
        VC dimension ``d``, or, with ``heavy``, over the mean of the block models.
    d : int, default=None
        VC dimension of the base estimator's class of hypotheses.
    n_blocks : int, default=None
        Number of blocks; None: from n and the targets.
    block_size : int, default=None
        Rows that a block needs at least.
    law : {"arcsine", "uniform", "optimal"} or ThresholdLaw, default=None
        Law of the shared threshold. None: "arcsine" for task "pointwise", "uniform" for task
        "approximate" and where alpha, beta or d is given.
    width : float, default=None
        Half-width of the law; None: the smallest that meets the targets.
    vote : {"hard", "soft"}, default="hard"
        Whether block models vote by label or by predicted probability.
    n_partitions : int, default=None
        Number of random partitions into blocks, derived from the key; None: as many as ``max_fits``
        allows.
    max_fits : int, default=None
        Largest number of base estimators, over all partitions; None: the planner's default.
    classes : sequence, default=None
        The labels, in any order; None: not part of the plan.
    n_classes : int, default=None
        Number of classes; None: that of ``classes``, or 2.
    runs : int, default=2
        How many runs must agree.
    unit : {"rows", "groups"}, default="rows"
        What n counts.
    decimals : int, default=None
        Rounding of numbers before they key thresholds; None: no rounding.
    label_noise : bool, default=True
        False: every point has one label only (the realizable case).
    max_point_mass : float, default=0.0
        Bound on the sum of squared probabilities of single points; 0 for continuous data. ``fit``
        tests it.
    heavy : {"auto", "paper", "off"} or HeavyStage, default=None
        Separate treatment of points that occur often: planned for rho, alpha and beta, with the
        law that needs the fewest rows ("auto") or with the paper's. None: "off".
    min_block : int, default=None
        Rows per block below which fewer blocks are used; None: 25.
    small_blocks : {"adapt", "keep"}, default="adapt"
        Whether leaf sizes of the base estimator that have their default value are made smaller in
        small blocks (at most an eighth of the rows of a block), or kept.

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
    heavy: str | HeavyStage | None = None
    min_block: int | None = None
    small_blocks: str = "adapt"

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
    def stage(self) -> HeavyStage | None:
        """The heavy stage, where it is given itself."""
        return self.heavy if isinstance(self.heavy, HeavyStage) else None

    @property
    def affordable_blocks(self) -> int | None:
        """Blocks of a partition that ``max_fits`` pays for; None: no budget was given."""
        return None if self.max_fits is None else self.max_fits // (self.n_partitions or 1)

    @property
    def smallest_block(self) -> int:
        """Rows per block that are enough without an accuracy target."""
        return self.block_size or self.min_block or MIN_BLOCK

    def with_default_law(self) -> "PlanRequest":
        """Return the request with a law, where none is given."""
        if self.law is not None:
            return self
        if {self.alpha, self.beta, self.d} == {None}:
            return replace(self, law=DEFAULT_LAWS[self.task])
        # theorem: accuracy-factor (only the widest uniform law keeps OPT + alpha as it is)
        return replace(self, law="uniform", width=1.0 if self.width is None else self.width)

    def without_design(self) -> "PlanRequest":
        """Return the request without what a design fixes: rows, blocks, law, partitions, stage."""
        return replace(
            self,
            n=None,
            n_blocks=None,
            block_size=None,
            law=None,
            width=None,
            n_partitions=None,
            max_fits=None,
            heavy=None,
            min_block=None,
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
    if params["heavy"] is not None and not isinstance(params["heavy"], HeavyStage):
        check_choice("heavy", params["heavy"], STAGES)
        values["heavy"] = None if params["heavy"] == "off" else params["heavy"]
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
    if not isinstance(request.heavy, str):
        return
    heavy = f'heavy="{request.heavy}"'
    if request.d is not None:
        raise ValueError(f"d={request.d} and {heavy}: alpha is relative to one of them, give one.")
    if request.rho is None or request.alpha is None:
        raise ValueError(f"{heavy} requires rho and alpha: the stage is planned for them.")


def _check_blocks(request: PlanRequest) -> None:
    if request.n is not None and request.n_blocks is not None and request.n_blocks > request.n:
        raise ValueError(
            f"n_blocks={request.n_blocks} is larger than n={request.n}: every block needs a "
            f"{request.unit.removesuffix('s')}"
        )
    law = request.law
    n_blocks = law.n_blocks if isinstance(law, ThresholdLaw) else request.n_blocks or 1
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
    if request.width is not None and request.binary and law == "optimal":
        raise ValueError(
            f'width={request.width} cannot be set with law="optimal", which has none: leave it out'
        )
    if isinstance(law, ThresholdLaw) and request.n_blocks not in (None, law.n_blocks):
        raise ValueError(f"n_blocks={request.n_blocks}, but the law is for {law.n_blocks} blocks")
    is_continuous = law.is_continuous if isinstance(law, ThresholdLaw) else law != "optimal"
    if request.vote == "soft" and not is_continuous:
        raise ValueError('vote="soft" requires a continuous law: use law="arcsine" or "uniform"')
    if law == "optimal" and (request.task != "pointwise" or request.runs != 2):
        raise ValueError('law="optimal" is for two runs, pointwise: use law="arcsine"')
