"""What is promised: a frozen value that says nothing about how it was computed."""

from dataclasses import dataclass
from typing import Any

from replearn.exceptions import CertificateError
from replearn.guarantees._assumptions import Assumption
from replearn.records.json import Reader, read_flat
from replearn.records.text import rounded_up


@dataclass(frozen=True)
class Claim:
    """A promise about several runs on fresh samples with one shared key.

    Parameters
    ----------
    notion : str
        ``"pointwise"``: each fixed point gets the same answer. ``"approximate"``: two models
        agree on all but a small mass of points.
    rho : float
        Probability that the promise fails.
    gamma : float or None
        Mass of points on which two models may differ (approximate notion only).
    alpha, beta : float or None
        Excess error of the block models and its failure probability, when asked for.
    runs : int
        How many runs the probability counts.
    assumptions : tuple of Assumption
        What the promise rests on.

    Examples
    --------
    >>> print(Claim("pointwise", rho=0.1).sentence())
    Two runs on fresh samples give one fixed point different answers with probability at most 0.1.
    """

    notion: str
    rho: float
    gamma: float | None = None
    alpha: float | None = None
    beta: float | None = None
    runs: int = 2
    assumptions: tuple[Assumption, ...] = ()

    def sentence(self) -> str:
        """Return the promise in one sentence.

        Examples
        --------
        >>> print(Claim("approximate", rho=0.05, gamma=0.2).sentence())
        Except with probability 0.05, two models trained on fresh samples answer at most \
a share of 0.2 of the population differently.
        """
        if self.notion == "approximate":
            return (
                f"Except with probability {rounded_up(self.rho)}, two models trained on fresh "
                f"samples answer at most a share of {rounded_up(self.gamma or 0.0)} of the "
                "population differently."
            )
        if self.runs == 2:
            return (
                "Two runs on fresh samples give one fixed point different answers with "
                f"probability at most {rounded_up(self.rho)}."
            )
        return (
            f"{self.runs} runs on fresh samples do not all give one fixed point the same answer "
            f"with probability at most {rounded_up(self.rho)}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the claim as JSON values.

        Examples
        --------
        >>> Claim("pointwise", rho=0.1).to_dict()["rho"]
        0.1
        """
        values: dict[str, Any] = {
            name: getattr(self, name)
            for name in ("notion", "rho", "gamma", "alpha", "beta", "runs")
        }
        values["assumptions"] = [
            {"code": item.code, "text": item.text} for item in self.assumptions
        ]
        return values

    @classmethod
    def from_dict(cls, items: Any) -> "Claim":
        """Read a claim from JSON values; anything unexpected is refused.

        Examples
        --------
        >>> claim = Claim("pointwise", rho=0.1)
        >>> Claim.from_dict(claim.to_dict()) == claim
        True
        """
        reader = Reader(items, "claim")
        claim = cls(
            notion=reader.take("notion", str),
            rho=reader.take("rho", float),
            gamma=reader.take_or_none("gamma", float),
            alpha=reader.take_or_none("alpha", float),
            beta=reader.take_or_none("beta", float),
            runs=reader.take("runs", int),
            assumptions=tuple(
                read_flat(Assumption, item, "assumption")
                for item in reader.take("assumptions", list)
            ),
        )
        reader.finish()
        if not 0 <= claim.rho <= 1:
            raise CertificateError(f"claim: rho must lie in [0, 1], got {claim.rho}")
        return claim
