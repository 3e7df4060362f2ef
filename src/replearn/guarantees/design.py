"""What blocks that vote have in common in all runs: the design, solved from a request.

Everything a certificate states follows from these frozen values alone; no data enters.
"""

from dataclasses import dataclass
from typing import Any

from replearn.bounds import ThresholdLaw, least_sharpness
from replearn.exceptions import CertificateError
from replearn.guarantees.request import HeavyStage, Label, PlanRequest
from replearn.records import Reader, read_flat


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
    heavy : HeavyStage or None
        Treatment of heavy points, when there is one.
    sharpness : float or None
        More than two classes: scale of the vote shares against the shared Gumbels.
    """

    request: PlanRequest
    n: int
    n_blocks: int
    law: ThresholdLaw | None
    n_partitions: int = 1
    encoding: str = ""
    heavy: HeavyStage | None = None
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
        """The classes in order, when the plan fixes them."""
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
        in_use = request.wants_accuracy or (request.task == "approximate" and self.heavy is None)
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
            "heavy": None if self.heavy is None else dict(vars(self.heavy)),
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
            heavy=_read_heavy(reader.take_or_none("heavy", dict)),
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
            (
                self.heavy is not None and self.unit == "groups",
                "a heavy stage is for independent rows",
            ),
            (
                self.heavy is not None and not self.heavy.is_whole,
                "a heavy stage has all of alpha, beta, clear and mass, or none of them",
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


def _read_heavy(items: dict[str, Any] | None) -> HeavyStage | None:
    return None if items is None else read_flat(HeavyStage, items, "heavy")


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
