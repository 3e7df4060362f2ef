"""The plan: a promise that labs agree on before anyone has data."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from replearn.guarantees.certificate import Certificate, Identity
from replearn.guarantees.describe import plan_rows
from replearn.guarantees.promise import Promise, derive, fields_of
from replearn.records.checks import check_count, if_given


@dataclass(frozen=True, kw_only=True, repr=False)
class Plan(Promise):
    """The promise that all runs share; made by :func:`plan`.

    It depends on parameters only, never on data, and is saved as JSON. Beside the items of a
    promise it has:

    Parameters
    ----------
    solved : tuple of str
        The arguments that the planner computed.
    advice : tuple of str
        If the targets are out of reach, what n can promise and what they need, in words.
    needed_n : int or None
        Rows that the targets need, if they are out of reach.

    Examples
    --------
    >>> from replearn import plan
    >>> made = plan(n=20_000, rho=0.1)
    >>> made.certified, made.design.n_blocks, made.design.block_size
    (True, 88, 227)
    >>> Plan.from_json(made.to_json()) == made
    True
    """

    KIND: ClassVar[str] = "plan"
    FORMAT: ClassVar[str] = "replearn-plan"
    VERSION: ClassVar[int] = 4

    solved: tuple[str, ...] = ()
    advice: tuple[str, ...] = ()
    needed_n: int | None = None

    @classmethod
    def of(cls, promise: Promise, *, solved: tuple[str, ...] = ()) -> Self:
        """Return a promise as a plan."""
        return cls(**fields_of(promise), solved=solved)

    @classmethod
    def _derived(cls, content: dict[str, Any]) -> Self:
        return cls(
            **fields_of(derive(content["task"], content["inputs"])),
            solved=tuple(map(str, content["solved"])),
            advice=tuple(map(str, content["advice"])),
            needed_n=if_given(check_count, "needed_n", content["needed_n"]),
        )

    @property
    def n(self) -> int:
        """Rows (or groups) of each sample."""
        return int(self.inputs["n"])

    @property
    def reason(self) -> str:
        """Why it is not certified, what this n can promise, and which n the request needs."""
        return "; ".join((*self.reasons, *self.advice))

    def certificate(self, identity: Identity, **changed: Any) -> Certificate:
        """Issue the certificate of one run that follows the plan.

        Parameters
        ----------
        identity : Identity
            Key, estimator, classes and rows of the run; classes and rows default to the plan's.
        **changed
            Inputs in which the run differs from the plan, such as ``unit``.

        Returns
        -------
        Certificate
            With the plan's promise, or what is left of it.

        Examples
        --------
        >>> from replearn import plan
        >>> from replearn.guarantees.certificate import Identity
        >>> plan(n=20_000, rho=0.1).certificate(Identity("0123456789abcdef", "tree")).certified
        True
        """
        classes = None if self.design is None else self.design.classes
        identity = replace(
            identity,
            classes=classes if identity.classes is None else identity.classes,
            n_available=self.n if identity.n_available is None else identity.n_available,
        )
        inputs = {**self.inputs, **changed}
        promise = self if inputs == self.inputs else derive(self.task, inputs)
        return Certificate.of(promise, identity)

    def _rows(self) -> list[tuple[str, str]]:
        return plan_rows(self)
