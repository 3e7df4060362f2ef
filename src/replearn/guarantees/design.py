"""What blocks that vote have in common in all runs: the request, and the design.

Everything a certificate states follows from these frozen values alone; no data enters.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from replearn.bounds import MembershipLaw, ThresholdLaw
from replearn.bounds.multiclass import least_sharpness
from replearn.exceptions import CertificateError
from replearn.records.json import Reader, read_flat

Label = str | int | float | bool

NOTIONS = ("pointwise", "approximate")
VOTES = ("hard", "soft")
UNITS = ("rows", "groups")


@dataclass(frozen=True)
class Request:
    """What was asked for; None where nothing was asked.

    Parameters
    ----------
    notion : str
        ``"pointwise"`` or ``"approximate"``.
    rho, gamma, alpha, beta : float or None
        Targets, in the letters of the glossary.
    d : int or None
        VC dimension of the base learner's class.
    realizable : bool
        Whether some hypothesis of the class makes no error at all.
    runs : int
        How many runs shall agree.

    Examples
    --------
    >>> Request(rho=0.1).runs
    2
    """

    notion: str = "pointwise"
    rho: float | None = None
    gamma: float | None = None
    alpha: float | None = None
    beta: float | None = None
    d: int | None = None
    realizable: bool = False
    runs: int = 2

    @property
    def asks_accuracy(self) -> bool:
        """Whether alpha, beta and d are all given."""
        return None not in (self.alpha, self.beta, self.d)


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
        stated = [item is None for item in (self.alpha, self.beta, self.clear, self.mass)]
        return all(stated) or not any(stated)


@dataclass(frozen=True)
class Design:
    """The items that all runs of one promise share.

    Parameters
    ----------
    request : Request
        What was asked for.
    n : int
        Number of rows (or groups) of each sample.
    n_blocks : int
        Number of blocks, T.
    law : ThresholdLaw or None
        Law of the shared threshold; None for more than two classes.
    vote : str
        ``"hard"`` or ``"soft"``.
    n_partitions : int
        In how many keyed ways the rows are cut into blocks.
    n_classes : int
        Number of classes.
    classes : tuple or None
        The classes in order, when the plan fixes them.
    unit : str
        ``"rows"`` or ``"groups"``: what n counts.
    decimals : int or None
        Rounding of numbers in the canonical encoding of a point.
    encoding : str
        Version of the canonical encoding.
    max_point_mass : float
        Bound on the sum of squared masses of single points (0 for continuous data).
    heavy : HeavyStage or None
        Treatment of heavy points, when there is one.
    sharpness : float or None
        More than two classes: scale of the vote shares against the shared Gumbels.
    """

    request: Request
    n: int
    n_blocks: int
    law: ThresholdLaw | None
    vote: str = "hard"
    n_partitions: int = 1
    n_classes: int = 2
    classes: tuple[Label, ...] | None = None
    unit: str = "rows"
    decimals: int | None = None
    encoding: str = ""
    max_point_mass: float = 0.0
    heavy: HeavyStage | None = None
    sharpness: float | None = None

    @property
    def task(self) -> str:
        """Name of the task: the notion of the request."""
        return self.request.notion

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
        in_use = request.asks_accuracy or (request.notion == "approximate" and self.heavy is None)
        return in_use and self.max_point_mass < 1

    def to_dict(self) -> dict[str, Any]:
        """Return the design as JSON values; one that contradicts itself is refused."""
        self.validate()
        values = dict(vars(self))
        values["request"] = dict(vars(self.request))
        values["law"] = None if self.law is None else self.law.to_dict()
        values["classes"] = None if self.classes is None else list(self.classes)
        values["heavy"] = None if self.heavy is None else dict(vars(self.heavy))
        if self.sharpness is None:  # two classes: no item of theirs
            del values["sharpness"]
        values["block_size"] = self.block_size
        values["n_used"] = self.n_used
        return values

    @classmethod
    def from_dict(cls, items: Any) -> "Design":
        """Read a design from JSON values; anything unexpected is refused."""
        if isinstance(items, dict):  # an item of more than two classes only
            items = {"sharpness": None, **items}
        reader = Reader(items, "design")
        design = reader.read(
            cls,
            request=partial(read_flat, Request, what="request"),
            heavy=partial(read_flat, HeavyStage, what="heavy"),
            law=_read_law,
        )
        design.validate()
        for name in ("block_size", "n_used"):
            stored, computed = reader.take(name, int), getattr(design, name)
            if stored != computed:
                raise CertificateError(f"design: {name} is {stored}, but n and T give {computed}")
        reader.finish()
        return design

    def validate(self) -> None:
        """Refuse a design that contradicts itself; the message names the item."""
        problem = next((text for failed, text in self._conditions() if failed), None)
        if problem is not None:
            raise CertificateError(f"design: {problem}")

    def _conditions(self) -> list[tuple[bool, str]]:
        law_blocks = None if self.law is None else self.law.n_blocks
        binary = self.n_classes == 2
        return [
            (self.request.notion not in NOTIONS, f"unknown notion {self.request.notion!r}"),
            (self.request.runs < 2, f"runs must be at least 2, got {self.request.runs}"),
            (self.n_blocks < 1, f"n_blocks must be at least 1, got {self.n_blocks}"),
            (self.n < self.n_blocks, f"n = {self.n} is smaller than n_blocks = {self.n_blocks}"),
            (self.n_partitions < 1, f"n_partitions must be at least 1, got {self.n_partitions}"),
            (self.vote not in VOTES, f"unknown vote {self.vote!r}"),
            (self.unit not in UNITS, f"unknown unit {self.unit!r}"),
            (self.n_classes < 2, f"n_classes must be at least 2, got {self.n_classes}"),
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
                and self.sharpness < least_sharpness(max(2, self.n_classes)) * (1 - 1e-12),
                f"sharpness {self.sharpness} lets unanimous votes be overruled",
            ),
            (
                binary and law_blocks != self.n_blocks,
                f"the law is for {law_blocks} blocks, n_blocks is {self.n_blocks}",
            ),
            (
                self.request.asks_accuracy
                and (not binary or self.vote == "soft" or self.unit == "groups"),
                "alpha, beta and d are for two classes, hard votes and independent rows",
            ),
            (
                self.heavy is not None and self.unit == "groups",
                "a heavy stage is for independent rows",
            ),
            (
                self.heavy is not None and not self.heavy.is_whole,
                "a heavy stage has all of alpha, beta, clear and mass, or none of them",
            ),
            (
                not 0 <= self.max_point_mass <= 1,
                f"max_point_mass must lie in [0, 1], got {self.max_point_mass}",
            ),
            (
                self.classes is not None and len(self.classes) > self.n_classes,
                f"n_classes is {self.n_classes}, but classes lists {self.classes}",
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


def _read_law(items: dict[str, Any]) -> ThresholdLaw:
    try:
        law = ThresholdLaw.from_dict(items)
        if law.to_dict() != items or (law.width is not None and not law.is_continuous):
            raise ValueError("the record has items that a law of this kind does not have")
        return law
    except (ValueError, TypeError, KeyError, OverflowError, MemoryError) as error:
        raise CertificateError(f"law: {error}") from error
