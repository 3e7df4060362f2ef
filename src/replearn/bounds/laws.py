"""Laws of the shared threshold: frozen tables, not the results of a computation at fit time.

A law is the distribution function G of the threshold on the vote share: with B of T votes for
class 1 the prediction is 1 with probability ``G_B`` over the key. A table holds ``G_k * 2**30`` as
integers, so a law is the same on every machine, has a digest, and ``u < G_k`` has exactly the
probability ``G_k`` for a 53-bit uniform ``u``.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from replearn.bounds.numeric import Floats
from replearn.bounds.theorem import theorem
from replearn.exceptions import CertificateError
from replearn.records.checks import check_choice, check_count, check_fraction

LAW_BITS = 30
LAW_VERSION = "replearn-law-1"
ONE = 1 << LAW_BITS

# Beyond this many blocks nothing has been checked.
MAX_BLOCKS = 10_000_000

# Votes of a block: 0 or 1, or a score in between.
VOTES = ("hard", "soft")

# How much rounding both ends of a difference of two G values can add (float noise included).
ROUNDING = 2.0**-LAW_BITS * (1.0 + 2.0**-20)


def frozen(values: NDArray[Any]) -> NDArray[Any]:
    """Return the array itself, made read-only."""
    values.flags.writeable = False
    return values


@dataclass(frozen=True, eq=False)
class ThresholdLaw:
    """A frozen distribution function of the shared threshold.

    Build one with `uniform_law`, `arcsine_law` or `table_law`.

    Parameters
    ----------
    name : {"uniform", "arcsine", "table"}
        Where the table comes from.
    n_blocks : int
        Number of blocks T, which is the number of votes.
    width : float or None
        Half-width of the law on the scale p = 2 B / T - 1; None for a free table.
    table : ndarray of int64, shape (n_blocks + 1,)
        ``G_k * 2**30`` for k = 0, ..., T: nondecreasing, from 0 to ``2**30``.

    Examples
    --------
    >>> from replearn.bounds.laws import uniform_law
    >>> law = uniform_law(4)
    >>> law.probabilities.tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    >>> law == type(law).from_dict(law.to_dict())
    True
    """

    name: str
    n_blocks: int
    width: float | None
    table: NDArray[np.int64]

    def __post_init__(self) -> None:
        check_choice("name", self.name, ("uniform", "arcsine", "table"))
        check_count("n_blocks", self.n_blocks, most=MAX_BLOCKS)
        table = np.array(self.table, dtype=np.int64)
        if table.shape != (self.n_blocks + 1,):
            raise ValueError(
                f"table must hold n_blocks + 1 = {self.n_blocks + 1} values, got {table.shape}"
            )
        if table[0] != 0 or table[-1] != ONE or np.any(np.diff(table) < 0):
            raise ValueError(
                "table must rise from 0 to 2**30 without falling: unanimous votes are never "
                f"overruled; got {table[0]} ... {table[-1]}"
            )
        object.__setattr__(self, "table", frozen(table))

    @cached_property
    def probabilities(self) -> Floats:
        """G_k for k = 0, ..., T: the chance of prediction 1 after k votes for 1 (exact floats)."""
        return frozen(self.table / ONE)

    @cached_property
    def steps(self) -> Floats:
        """The T steps dG_k = G_{k+1} - G_k (exact floats)."""
        return frozen(np.diff(self.table) / ONE)

    @cached_property
    def largest_step(self) -> float:
        """The largest step g: how much one changed vote can move the prediction's probability."""
        return float(self.steps.max())

    @cached_property
    def is_symmetric(self) -> bool:
        """Whether G_k + G_{T-k} = 1, so that both classes are treated alike."""
        return bool(np.all(self.table + self.table[::-1] == ONE))

    @property
    def is_continuous(self) -> bool:
        """Whether the law may be used between the vote shares k / T (soft votes)."""
        return self.name in LAWS_OF_A_WIDTH

    @property
    def lipschitz(self) -> float | None:
        """Lipschitz constant in p of what `at` computes, or None for a law with atoms.

        `at` interpolates the rounded table linearly, so the constant is that of the steepest
        line, ``g * T / 2``, which is right for what is computed, including rounding.
        """
        if not self.is_continuous:
            return None
        return float(np.nextafter(self.largest_step * self.n_blocks / 2.0, np.inf))

    @cached_property
    def digest(self) -> str:
        """SHA-256 of version, T and table, in hexadecimal digits: equal for equal laws only."""
        head = f"{LAW_VERSION}:{self.n_blocks}:".encode()
        return hashlib.sha256(head + self.table.astype("<i8").tobytes()).hexdigest()

    def at(self, share: ArrayLike) -> Floats:
        """Probability of prediction 1 at any vote share in [0, 1]; linear between table values.

        >>> from replearn.bounds.laws import uniform_law
        >>> uniform_law(4).at([0.25, 0.3]).round(6).tolist()
        [0.25, 0.3]
        """
        if not self.is_continuous:
            raise ValueError(
                f"a law of kind {self.name!r} has atoms and is not defined between vote shares: "
                "use hard votes, or the uniform or arcsine law"
            )
        shares = np.asarray(share, dtype=np.float64)
        if not np.all((shares >= 0.0) & (shares <= 1.0)):
            raise ValueError("share must be in [0, 1]")
        position = shares * self.n_blocks
        below = np.minimum(position.astype(np.int64), self.n_blocks - 1)
        return self.probabilities[below] + (position - below) * self.steps[below]

    def to_dict(self) -> dict[str, Any]:
        """Return the law as JSON data: parameters if they suffice, otherwise the whole table."""
        data: dict[str, Any] = {
            "name": self.name,
            "n_blocks": self.n_blocks,
            "width": self.width,
            "digest": self.digest,
        }
        if not self.is_continuous:
            data["table"] = self.table.tolist()
        return data

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "ThresholdLaw":
        """Rebuild a law from `to_dict`, and fail if its digest does not follow from it."""
        name = data["name"]
        n_blocks = data["n_blocks"]
        if name in LAWS_OF_A_WIDTH:
            law = LAWS_OF_A_WIDTH[name](n_blocks, data["width"])
        else:
            law = cls(name, n_blocks, data["width"], np.asarray(data["table"], dtype=np.int64))
        if law.digest != data["digest"]:
            raise CertificateError(
                f"the law's table has digest {law.digest[:16]}..., its record says "
                f"{str(data['digest'])[:16]}...: the record was changed"
            )
        return law

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ThresholdLaw) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        width = "" if self.width is None else f", width={self.width!r}"
        return f"ThresholdLaw({self.name!r}, n_blocks={self.n_blocks}{width}, {self.digest[:12]})"


def uniform_law(n_blocks: int, width: float = 1.0) -> ThresholdLaw:
    """Return the law with a threshold uniform on [-width, width] on the scale p = 2 B / T - 1.

    Parameters
    ----------
    n_blocks : int
        Number of blocks T.
    width : float, default=1.0
        Half-width, in (0, 1].

    Examples
    --------
    >>> uniform_law(4, width=0.5).probabilities.tolist()
    [0.0, 0.0, 0.5, 1.0, 1.0]
    """
    n_blocks = check_count("n_blocks", n_blocks, most=MAX_BLOCKS)
    width = check_fraction("width", width)
    scale = max(width, 1e-300)  # the table is the same, and nothing overflows
    lower = (_lower_half(n_blocks) + scale) / (2.0 * scale)
    return ThresholdLaw("uniform", n_blocks, width, _symmetric_table(lower, n_blocks))


def arcsine_law(n_blocks: int, width: float) -> ThresholdLaw:
    """Return the law that is uniform in the arcsine scale, on abs(asin p) <= asin(width).

    The arcsine stabilises the variance of a vote share, so the flip budget is spent evenly.

    Parameters
    ----------
    n_blocks : int
        Number of blocks T.
    width : float
        Half-width sin(phi) on the scale p = 2 B / T - 1, in (0, 1].

    Examples
    --------
    >>> arcsine_law(4, width=1.0).probabilities.round(4).tolist()
    [0.0, 0.3333, 0.5, 0.6667, 1.0]
    """
    n_blocks = check_count("n_blocks", n_blocks, most=MAX_BLOCKS)
    width = check_fraction("width", width)
    half_angle = portable_arcsine(np.array([max(width, 1e-300)]))[0]
    lower = 0.5 + portable_arcsine(_lower_half(n_blocks)) / (2.0 * half_angle)
    return ThresholdLaw("arcsine", n_blocks, width, _symmetric_table(lower, n_blocks))


LAWS_OF_A_WIDTH = {"uniform": uniform_law, "arcsine": arcsine_law}


def table_law(values: Sequence[float] | Floats) -> ThresholdLaw:
    """Return any law given by its values G_0 = 0, ..., G_T = 1.

    Values that are symmetric (G_k + G_{T-k} = 1) up to rounding become exactly symmetric.

    Parameters
    ----------
    values : sequence of float
        The T + 1 probabilities of prediction 1 after 0, ..., T votes for 1.

    Examples
    --------
    >>> round(table_law([0, 0.2, 0.8, 1]).largest_step, 6)
    0.6
    """
    return ThresholdLaw("table", len(values) - 1, None, rounded_table(values))


def rounded_table(values: Sequence[float] | Floats) -> NDArray[np.int64]:
    """Round probabilities to 2^-30, exactly symmetric if they are symmetric up to rounding."""
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1 or len(given) < 2 or not np.all((given >= 0.0) & (given <= 1.0)):
        raise ValueError("values must be a list of at least two probabilities from 0 to 1")
    if np.any(np.diff(given) < 0.0):
        raise ValueError("values must not fall: more votes for 1 must not make 1 less likely")
    n_blocks = len(given) - 1
    if np.all(np.abs(given + given[::-1] - 1.0) <= 2.0 ** (1 - LAW_BITS)):
        return _symmetric_table(given[: n_blocks // 2 + 1], n_blocks)
    return np.rint(given * ONE).astype(np.int64)


def portable_arcsine(p: Floats) -> Floats:
    """Arcsine on [-1, 1] by additions, multiplications, divisions and square roots only.

    Those are correctly rounded on every machine, the library function is not, and two labs must
    get the same table.
    """
    x = np.asarray(p, dtype=np.float64)
    for _ in range(4):  # asin(x) = 2 asin(x / sqrt(2 (1 + sqrt(1 - x^2)))): angles shrink 16 times
        x = x / np.sqrt(2.0 * (1.0 + np.sqrt((1.0 - x) * (1.0 + x))))
    square = x * x
    series = np.zeros_like(x)
    coefficient = 1.0
    terms = []
    for j in range(9):
        terms.append(coefficient / (2 * j + 1))
        coefficient *= (2 * j + 1) / (2 * j + 2)
    for term in reversed(terms):
        series = series * square + term
    return 16.0 * x * series


def _lower_half(n_blocks: int) -> Floats:
    """Return p = 2 k / T - 1 for k = 0, ..., T // 2: the votes that are at most even."""
    return 2.0 * np.arange(n_blocks // 2 + 1) / n_blocks - 1.0


def _symmetric_table(lower: Floats, n_blocks: int) -> NDArray[np.int64]:
    """Round G_0, ..., G_{T // 2} to 2^-30 and mirror them, so that G_k + G_{T-k} = 1 exactly."""
    half = np.rint(np.clip(lower, 0.0, 0.5) * ONE).astype(np.int64)
    table = np.empty(n_blocks + 1, dtype=np.int64)
    table[: len(half)] = half
    table[n_blocks - np.arange(len(half))] = ONE - half
    if n_blocks % 2 == 0:
        table[n_blocks // 2] = ONE // 2
    return table


@theorem("accuracy-factor")
def error_factor(law: ThresholdLaw) -> float:
    """Return C_G: the vote's mean error is at most this many times that of the estimators.

    Parameters
    ----------
    law : ThresholdLaw
        Law of the shared threshold.

    Returns
    -------
    float
        ``max_k T max(G_k, 1 - G_{T-k}) / k``, at least 1, rounded up; attained by a vote in
        which k estimators of T are wrong.

    Examples
    --------
    >>> from replearn.bounds.laws import arcsine_law, uniform_law
    >>> round(error_factor(uniform_law(32)), 6), round(error_factor(arcsine_law(32, 0.847)), 3)
    (1.0, 1.07)
    """
    wrong = np.arange(1, law.n_blocks + 1)
    chance = np.maximum(law.probabilities[1:], 1.0 - law.probabilities[-2::-1])
    factor = float(np.max(law.n_blocks * chance / wrong))
    return factor if factor == 1.0 else float(np.nextafter(factor, np.inf))
