"""Three columns side by side: ours, the paper's proofs read literally, the paper's rate."""

import math
from dataclasses import dataclass

from replearn.guarantees.design import Design
from replearn.guarantees.votes import block_size_needed
from replearn.records import aligned, html_table

NOT_STATED = "not stated"
HEADER = ("", "this plan", "paper, read literally", "paper, rate*")
FOOTNOTE = (
    "* rate with constant 1 and without logarithms: an orientation, not a bound.\n"
    "  Read literally: the smallest constant that makes each written inequality true; heavy\n"
    "  points, whose constants are not stated, come on top."
)


@dataclass(frozen=True)
class Columns:
    """A small table of texts.

    Parameters
    ----------
    rows : tuple of tuples of str
        Quantity, this plan, paper read literally, paper's rate.

    Examples
    --------
    >>> print(Columns((("blocks T", "64", "20000", "not stated"),)))
              this plan  paper, read literally  paper, rate*
    --------  ---------  ---------------------  ------------
    blocks T  64         20000                  not stated
    * rate with constant 1 and without logarithms: an orientation, not a bound.
      Read literally: the smallest constant that makes each written inequality true; heavy
      points, whose constants are not stated, come on top.
    """

    rows: tuple[tuple[str, str, str, str], ...]

    def __str__(self) -> str:
        return f"{aligned([HEADER, *self.rows])}\n{FOOTNOTE}"

    def _repr_html_(self) -> str:
        return html_table(FOOTNOTE, [HEADER, *self.rows], header=True)


def columns_of(design: Design) -> Columns:
    """Compare a design with the paper's constants."""
    blocks = literal_blocks(design)
    size = literal_block_size(design, blocks)
    literal_n = None if blocks is None or size is None else blocks * size
    return Columns(
        (
            ("blocks T", str(design.n_blocks), _or_not_stated(blocks), NOT_STATED),
            ("rows per block m", str(design.block_size), _or_not_stated(size), NOT_STATED),
            ("rows n", str(design.n), _or_not_stated(literal_n), lower_bound(design)),
        )
    )


def _or_not_stated(value: int | None) -> str:
    return NOT_STATED if value is None else str(value)


def literal_blocks(design: Design) -> int | None:
    """Return the blocks the paper's proof needs: Var <= rho^2 / 200, so T = 200 / rho^2.

    The approximate notion goes through the corollary (pointwise rho gamma), because the constant
    of the direct theorem is not stated.
    """
    request = design.request
    rho = request.rho
    gamma = request.gamma
    if rho is None or design.n_classes != 2 or request.runs != 2:
        return None
    if request.task == "approximate":
        return None if gamma is None else _inverse_square(rho * gamma)
    return _inverse_square(rho)


def _inverse_square(rho: float) -> int:
    # 200 / rho^2 in floats may land a hair above a whole number
    return math.ceil(200.0 / rho**2 * (1 - 1e-12))


def literal_block_size(design: Design, n_blocks: int | None) -> int | None:
    """Return m(alpha/3, beta/(4 T)): the proof ends with a (3 alpha, 4 beta)-learner."""
    request = design.request
    alpha = request.alpha
    beta = request.beta
    d = request.d
    if n_blocks is None or alpha is None or beta is None or d is None:
        return None
    return block_size_needed(d, alpha / 3, beta / 4, n_blocks, 1, request.realizable, 0.0)


def lower_bound(design: Design) -> str:
    """Return the rate of the paper's lower bound with constant 1."""
    request = design.request
    if request.alpha is None or request.d is None or request.rho is None:
        return "needs rho, alpha, d"
    approximate = request.task == "approximate"
    if approximate and (request.gamma is None or request.realizable):
        return NOT_STATED
    closeness = request.rho + (request.gamma or 0.0) if approximate else request.rho
    accuracy = request.alpha if request.realizable else request.alpha**2
    return str(math.ceil(request.d / (closeness**2 * accuracy) * (1 - 1e-12)))
