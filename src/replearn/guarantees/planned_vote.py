"""Plans of blocks that vote: their design, item by item, and the certificates of their runs."""

from functools import cached_property
from typing import Any

from replearn.bounds import ThresholdLaw
from replearn.guarantees.certificate import Certificate
from replearn.guarantees.design import NOTIONS, Design, HeavyStage, Label, plain_labels
from replearn.guarantees.identity import Identity
from replearn.guarantees.steps import Derived, Ledger
from replearn.guarantees.votes import conclude
from replearn.records.json import digest_of


class PlannedVote:
    """What a plan of blocks that vote fixes; a plan of another task refuses to answer."""

    task: str
    inputs: dict[str, Any]

    @cached_property
    def _derived(self) -> Derived:
        ledger = Ledger()
        conclusion = conclude(ledger, self.vote_design)
        return tuple(ledger.steps), conclusion

    @cached_property
    def design(self) -> Design | None:
        """Blocks, law and partitions of a vote; None for other tasks."""
        return Design.from_dict(self.inputs) if self.task in NOTIONS else None

    @property
    def vote_design(self) -> Design:
        """The design of a vote; a plan of another task has none and raises AttributeError."""
        if self.design is None:
            raise AttributeError(f"a plan of task {self.task!r} has no blocks that vote")
        return self.design

    @property
    def n_blocks(self) -> int:
        """Number of blocks, T."""
        return self.vote_design.n_blocks

    @property
    def block_size(self) -> int:
        """Rows (or groups) per block, m."""
        return self.vote_design.block_size

    @property
    def n_partitions(self) -> int:
        """In how many keyed ways the rows are cut into blocks."""
        return self.vote_design.n_partitions

    @property
    def law(self) -> ThresholdLaw | None:
        """Law of the shared threshold; None for more than two classes."""
        return self.vote_design.law

    @property
    def vote(self) -> str:
        """Whether block models vote with labels or with scores."""
        return self.vote_design.vote

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.vote_design.n_classes

    @property
    def classes(self) -> tuple[Label, ...] | None:
        """The classes in order, when the plan fixes them."""
        return self.vote_design.classes

    @property
    def unit(self) -> str:
        """What n counts."""
        return self.vote_design.unit

    @property
    def decimals(self) -> int | None:
        """Rounding of numbers in the canonical encoding of a point."""
        return self.vote_design.decimals

    @property
    def heavy(self) -> HeavyStage | None:
        """Separate treatment of points that occur often."""
        return self.vote_design.heavy

    def certificate(
        self,
        *,
        key_fingerprint: str,
        learner: str,
        learner_digest: str | None = None,
        n_available: int | None = None,
        classes: Any = None,
        unit: str | None = None,
        bound: dict[str, Any] | None = None,
        max_point_mass: float | None = None,
    ) -> Certificate:
        """Issue the certificate of one run of blocks that vote.

        Parameters
        ----------
        key_fingerprint : str
            Fingerprint of the shared key.
        learner : str
            Description of the base learner and its parameters.
        learner_digest : str or None
            Digest of the parameters; None: digest of the description.
        n_available : int or None
            Rows this run had; the surplus over n was left out.
        classes : sequence or None
            Classes of this run, in order; None: those of the plan.
        unit : {"rows", "groups"} or None
            What n counts in this run; None: as planned.
        bound : dict or None
            Other fields of `Identity`: versions, schema of the points, failed conditions.
        max_point_mass : float or None
            Bound on the sum of squared probabilities of single points, where the sample refutes the
            planned one; None: as planned.

        Returns
        -------
        Certificate
            With the plan's promise, or what is left of it.

        Examples
        --------
        >>> from replearn import plan
        >>> made = plan(n=20_000, rho=0.1)
        >>> made.certificate(key_fingerprint="0123456789abcdef", learner="tree").certified
        True
        """
        labels = plain_labels(classes)
        identity = Identity(
            key_fingerprint,
            learner,
            digest_of(learner) if learner_digest is None else learner_digest,
            self.classes if labels is None else labels,
            self.vote_design.n if n_available is None else n_available,
            **(bound or {}),
        )
        given = {"unit": unit, "max_point_mass": max_point_mass}
        inputs = self.inputs | {name: item for name, item in given.items() if item is not None}
        derived = self._derived if inputs == self.inputs else None
        return Certificate.issue(self.task, inputs, identity, derived)
