"""What certificates and plans have in common: a design, and what follows from it."""

from typing import TYPE_CHECKING

from replearn.bounds import ThresholdLaw
from replearn.guarantees._claims import Claim
from replearn.guarantees._steps import Step
from replearn.records.text import rounded_up

if TYPE_CHECKING:
    from replearn.guarantees._derivation import Derivation
    from replearn.guarantees._design import Design


class Promised:
    """The items of a design and of its derivation as attributes, for certificates and plans."""

    if TYPE_CHECKING:
        design: Design

        @property
        def derivation(self) -> Derivation: ...

    def __repr__(self) -> str:
        blocks = f"n={self.n}, n_blocks={self.n_blocks}, block_size={self.block_size}"
        promise = f"rho={rounded_up(self.claim.rho)}"
        if self.claim.gamma is not None:
            promise += f", gamma={rounded_up(self.claim.gamma)}"
        return (
            f"{type(self).__name__}({self.claim.notion!r}, {promise}, {blocks}, "
            f"certified={self.certified})"
        )

    @property
    def claim(self) -> Claim:
        """The promise that holds."""
        return self.derivation.claim

    @property
    def steps(self) -> tuple[Step, ...]:
        """Every number the promise uses, with theorem and inputs."""
        return self.derivation.steps

    @property
    def certified(self) -> bool:
        """Whether the promise is what was asked for."""
        return self.derivation.certified

    @property
    def accuracy(self) -> str:
        """Which statement about the error holds."""
        return self.derivation.accuracy

    @property
    def n(self) -> int:
        """Rows (or groups) of each sample."""
        return self.design.n

    @property
    def n_used(self) -> int:
        """Rows (or groups) in use."""
        return self.design.n_used

    @property
    def n_blocks(self) -> int:
        """Number of blocks, T."""
        return self.design.n_blocks

    @property
    def block_size(self) -> int:
        """Rows (or groups) per block, m."""
        return self.design.block_size

    @property
    def law(self) -> ThresholdLaw | None:
        """Law of the shared threshold; None for more than two classes."""
        return self.design.law

    @property
    def law_digest(self) -> str | None:
        """Digest of the law's table."""
        return None if self.design.law is None else self.design.law.digest

    @property
    def width(self) -> float | None:
        """Half-width of the law."""
        return None if self.design.law is None else self.design.law.width

    @property
    def vote(self) -> str:
        """Whether block models vote with labels or with scores."""
        return self.design.vote

    @property
    def n_partitions(self) -> int:
        """In how many keyed ways the rows are cut into blocks."""
        return self.design.n_partitions

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.design.n_classes

    @property
    def unit(self) -> str:
        """What n counts."""
        return self.design.unit

    @property
    def decimals(self) -> int | None:
        """Rounding of numbers in the canonical encoding of a point."""
        return self.design.decimals

    @property
    def encoding(self) -> str:
        """Version of the canonical encoding."""
        return self.design.encoding

    @property
    def requested_rho(self) -> float | None:
        """The rho that was asked for."""
        return self.design.request.rho

    @property
    def requested_gamma(self) -> float | None:
        """The gamma that was asked for."""
        return self.design.request.gamma
