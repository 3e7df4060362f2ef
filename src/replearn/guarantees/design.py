"""What blocks that vote have in common in all runs: the design, validated once.

Everything a certificate states about votes follows from these frozen values alone; no data enters.
"""

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from replearn.bounds.laws import ThresholdLaw
from replearn.bounds.multiclass import least_sharpness
from replearn.exceptions import CertificateError
from replearn.randomness.kinds import ENCODING_VERSION
from replearn.records.checks import check_choice, check_count, check_fraction, if_given
from replearn.records.json import read_fields

Label = str | int | float | bool

TASKS_OF_VOTES = ("pointwise", "approximate")
VOTES = ("hard", "soft")
UNITS = ("rows", "groups")
LAWS = ("arcsine", "uniform")
SMALL_BLOCKS = ("adapt", "keep")
TARGETS = ("rho", "gamma", "alpha", "beta", "d", "label_noise")
"""What was requested: two runs of one promise may have requested different numbers."""

MIN_BLOCK = 25
"""Below about this many rows most estimators are useless: fewer blocks are used instead.

Down to this size more blocks beat larger ones: the narrower law gains more accuracy than small
blocks lose (COMPAS and Spambase, logistic regression and trees; see docs/benchmarks/)."""

OPEN: Any = None
"""What a plan is to solve."""

_CHOICES = {"vote": VOTES, "unit": UNITS, "small_blocks": SMALL_BLOCKS}
_FRACTIONS = ("rho", "gamma", "alpha", "beta")
_COUNTS = ("n", "d", "n_blocks", "n_partitions")


@dataclass(frozen=True, kw_only=True)
class VoteDesign:
    """What all runs of blocks that vote share.

    :func:`replearn.plan` begins with one in which ``n``, ``n_blocks``, ``law``, ``n_partitions``
    and ``sharpness`` may be open (None), and ends with one in which they are fixed.

    Parameters
    ----------
    n : int
        Rows (or groups) of each sample.
    rho : float, default=None
        Requested probability that two runs differ. If None, the smallest one that n allows.
    gamma : float, default=None
        Requested mass of points on which two models may differ, for task "approximate".
    alpha, beta : float, default=None
        Excess error over the best hypothesis of a class of VC dimension ``d``, and the probability
        that it is exceeded.
    d : int, default=None
        VC dimension of the base estimator's class of hypotheses.
    n_blocks : int
        Number of blocks, T.
    law : ThresholdLaw or None
        Law of the shared threshold; None for more than two classes.
    vote : {"hard", "soft"}, default="hard"
        Whether block models vote by label or by predicted probability.
    n_partitions : int
        Number of random partitions into blocks, which are derived from the key.
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
        Bound on the sum of squared probabilities of single points; 0 for continuous data.
    small_blocks : {"adapt", "keep"}, default="adapt"
        Whether leaf sizes and bins of the base estimator that have their default value are made
        smaller in small blocks, or kept.
    encoding : str
        Version of the canonical encoding of points.
    sharpness : float or None
        More than two classes: scale of the vote shares against the shared random numbers.

    Examples
    --------
    >>> VoteDesign.of(rho=0.1, classes=["yes", "no"]).classes
    ('no', 'yes')
    >>> VoteDesign.of(rho=2)
    Traceback (most recent call last):
    ...
    ValueError: rho=2 must lie in (0, 1]
    """

    n: int = OPEN
    rho: float | None = None
    gamma: float | None = None
    alpha: float | None = None
    beta: float | None = None
    d: int | None = None
    n_blocks: int = OPEN
    law: ThresholdLaw | None = None
    vote: str = "hard"
    n_partitions: int = OPEN
    classes: tuple[Label, ...] | None = None
    n_classes: int = 2
    runs: int = 2
    unit: str = "rows"
    decimals: int | None = None
    label_noise: bool = True
    max_point_mass: float = 0.0
    small_blocks: str = "adapt"
    encoding: str = str(ENCODING_VERSION)
    sharpness: float | None = None

    @classmethod
    def of(cls, *, n_classes: int | None = None, **params: Any) -> "VoteDesign":
        """Check the arguments one by one and return them as plain Python values."""
        classes = _sorted_classes(plain_labels(params.pop("classes", None)))
        design = cls(**params, classes=classes, n_classes=_number_of_classes(n_classes, classes))
        checked: dict[str, Any] = {
            **{name: if_given(check_fraction, name, params.get(name)) for name in _FRACTIONS},
            **{name: if_given(check_count, name, params.get(name)) for name in _COUNTS},
            **{
                name: check_choice(name, getattr(design, name), choices)
                for name, choices in _CHOICES.items()
            },
            "runs": check_count("runs", design.runs, least=2),
            "decimals": if_given(check_count, "decimals", design.decimals, least=0),
            "max_point_mass": check_fraction("max_point_mass", design.max_point_mass, zero=True),
        }
        if not isinstance(design.label_noise, bool | np.bool_):
            raise TypeError(f"label_noise must be True or False, got {design.label_noise!r}")
        return replace(design, **checked, label_noise=bool(design.label_noise))

    # -- what follows ----------------------------------------------------------------------------
    @property
    def binary(self) -> bool:
        """Whether there are two classes, so that thresholds are used."""
        return self.n_classes == 2

    @property
    def wants_accuracy(self) -> bool:
        """Whether alpha, beta and d are all given."""
        return None not in (self.alpha, self.beta, self.d)

    @cached_property
    def block_size(self) -> int:
        """Rows (or groups) per block, m."""
        return self.n // self.n_blocks

    @cached_property
    def n_used(self) -> int:
        """Rows (or groups) that are used; the rest is left out by key."""
        return self.n_blocks * self.block_size

    # -- JSON ------------------------------------------------------------------------------------
    def to_dict(self) -> dict[str, Any]:
        """Return the design as JSON values; a design that contradicts itself raises an error."""
        self.validate()
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        classes = None if self.classes is None else list(self.classes)
        law = None if self.law is None else self.law.to_dict()
        return {**values, "classes": classes, "law": law}

    @classmethod
    def from_dict(cls, items: Any) -> "VoteDesign":
        """Read a design from JSON values; anything unexpected raises a CertificateError."""
        read = read_fields(cls, items, "design", law=_read_law)
        try:
            design = cls.of(**{item.name: getattr(read, item.name) for item in fields(cls)})
        except (ValueError, TypeError) as error:
            raise CertificateError(f"design: {error}") from error
        design.validate()
        return design

    def validate(self) -> None:
        """Raise a CertificateError if the design contradicts itself; the message names the item."""
        problem = next((text for failed, text in self._contradictions() if failed), None)
        if problem is not None:
            raise CertificateError(f"design: {problem}")

    def _contradictions(self) -> list[tuple[bool, str]]:
        if None in (self.n, self.n_blocks, self.n_partitions):
            return [(True, "n, n_blocks and n_partitions must be given")]
        law_blocks = None if self.law is None else self.law.n_blocks
        binary = self.binary
        return [
            (self.n < self.n_blocks, f"n = {self.n} is smaller than n_blocks = {self.n_blocks}"),
            (binary and self.law is None, "two classes need a threshold law"),
            (not binary and self.law is not None, "more than two classes have no threshold law"),
            (binary and self.sharpness is not None, "sharpness is for more than two classes"),
            (not binary and self.sharpness is None, "more than two classes need a sharpness"),
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
                self.wants_accuracy
                and (not binary or self.vote == "soft" or self.unit == "groups"),
                "alpha, beta and d are for two classes, hard votes and independent rows",
            ),
        ]


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


def _read_law(items: dict[str, Any]) -> ThresholdLaw:
    try:
        law = ThresholdLaw.from_dict(items)
        if law.to_dict() != items or (law.width is not None and not law.is_continuous):
            raise ValueError("the record has items that a law of this kind does not have")
        return law
    except (ValueError, TypeError, KeyError, OverflowError, MemoryError) as error:
        raise CertificateError(f"law: {error}") from error
