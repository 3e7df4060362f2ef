"""Which statement about the error holds for a design: the certificate never says more."""

from replearn.certificates._design import Design
from replearn.certificates._steps import Ledger
from replearn.certificates._text import rounded_up


def accuracy_of(design: Design, ledger: Ledger, size: int) -> tuple[bool, str]:
    """Return whether the accuracy asked for is reached, and the statement that holds."""
    request = design.request
    factor = 1.0
    if design.law is not None:
        factor = ledger.add("error_factor", "accuracy-factor", law=design.law)
    if not request.asks_accuracy:
        return True, _mean_error_statement(design, factor)
    slack = 0.0
    if design.atoms > 0:
        slack = ledger.add(
            "error_slack", "light-point-deviation", beta=request.beta, atoms=design.atoms
        )
    needed = ledger.add(
        "block_size_needed",
        "vc-sample-size",
        d=request.d,
        alpha=request.alpha,
        beta=request.beta,
        n_blocks=design.n_blocks,
        n_partitions=design.n_partitions,
        realizable=request.realizable,
        error_slack=slack,
    )
    asked = f"alpha = {request.alpha:g}, beta = {request.beta:g}, d = {request.d}"
    if needed is None:
        return False, f"no block size reaches {asked} when points carry this much mass"
    if needed > size:
        return False, f"{asked} needs {needed} {design.unit} per block, there are {size}"
    return True, _excess_statement(design, factor)


def _mean_error_statement(design: Design, factor: float) -> str:
    if design.law is None or factor <= 1.0:
        return (
            "Averaged over the shared random numbers the error is at most the mean error of the "
            "block models."
        )
    return (
        f"Averaged over the shared thresholds the error is at most {rounded_up(factor)} times the "
        "mean "
        f"{'error' if design.vote == 'hard' else 'absolute error of the scores'} of the block "
        "models (worst case; usually it is smaller than their error)."
    )


def _excess_statement(design: Design, factor: float) -> str:
    request = design.request
    sure = f"Except with probability {rounded_up(request.beta or 0.0)}"
    alpha, excess = f"{request.alpha:g}", rounded_up(factor - 1)
    if request.realizable:
        return f"{sure} the error is at most {rounded_up(factor)} x {alpha} (realizable case)."
    if factor <= 1.0:
        return f"{sure} the error is at most OPT + {alpha}."
    return (
        f"{sure} the error is at most OPT + {alpha} + {excess} (OPT + {alpha} - R*), "
        "R* the Bayes risk."
    )
