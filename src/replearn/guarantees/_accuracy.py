"""Which statement about the error holds for a design: the certificate never says more."""

from replearn.guarantees._design import Design, HeavyStage
from replearn.guarantees._steps import Ledger
from replearn.records.text import rounded_up


def accuracy_of(design: Design, ledger: Ledger, size: int) -> tuple[bool, str]:
    """Return whether the accuracy asked for is reached, and the statement that holds."""
    request = design.request
    factor = 1.0
    if design.law is not None:
        factor = ledger.add("error_factor", "accuracy-factor", law=design.law)
    if not request.asks_accuracy:
        if design.heavy is not None and design.heavy.alpha is not None:
            return _heavy_accuracy(design, design.heavy, ledger, factor)
        return True, _mean_error_statement(design, factor)
    slack = 0.0
    if design.max_point_mass > 0:
        slack = ledger.add(
            "error_slack",
            "light-point-deviation",
            beta=request.beta,
            max_point_mass=design.max_point_mass,
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


def _heavy_accuracy(
    design: Design, stage: HeavyStage, ledger: Ledger, factor: float
) -> tuple[bool, str]:
    """Excess over the mean error of the blocks: heavy labels, missed points, light points."""
    assert stage.alpha is not None
    assert stage.beta is not None
    assert stage.mass is not None
    assert stage.clear is not None
    law = {"kind": stage.kind, "low": stage.low, "high": stage.high}
    missed = ledger.add("missed_points", "heavy-membership", n=design.n, mass=stage.mass, **law)
    wrong = _wrong_labels(design, stage, ledger)
    light = ledger.add(
        "light_tail",
        "light-point-deviation",
        alpha=stage.alpha,
        clear=stage.clear,
        mass=stage.mass,
    )
    total = ledger.add(
        "heavy_error", "sample-reuse", missed_points=missed, label_errors=wrong, light_tail=light
    )
    times = "" if factor <= 1.0 else f"{rounded_up(factor)} times "
    case = " (realizable case)" if stage.clear == 1.0 else ""
    statement = (
        f"the error is at most {times}the mean {_error_of(design)} of the block models plus "
        f"{stage.alpha:g}{case}"
    )
    if total > stage.beta:
        return False, (
            f"asked for beta = {stage.beta:g} that {statement}, but {design.n} rows give heavy "
            f"points too few labels: beta = {rounded_up(total)}"
        )
    return True, f"Except with probability {rounded_up(total)} {statement}."


def _wrong_labels(design: Design, stage: HeavyStage, ledger: Ledger) -> float:
    """Probability that the label of any heavy point costs more than the stage allows."""
    data = {
        "n_labels": stage.n_labels,
        "alpha": stage.clear,
        "band": stage.band,
        "n_points": int((1.0 + 1e-12) / stage.low),
    }
    if design.n_classes == 2:
        wrong: float = ledger.add("label_errors", "heavy-labels", **data)
    else:
        data["n_classes"] = design.n_classes
        wrong = ledger.add("class_label_errors", "heavy-labels", **data)
    return wrong


def _error_of(design: Design) -> str:
    return "error" if design.vote == "hard" else "absolute error of the scores"


def _mean_error_statement(design: Design, factor: float) -> str:
    if design.law is None or factor <= 1.0:
        return (
            "Averaged over the shared random numbers the error is at most the mean error of the "
            "block models."
        )
    return (
        f"Averaged over the shared thresholds the error is at most {rounded_up(factor)} times the "
        f"mean {_error_of(design)} of the block models (worst case; usually it is smaller than "
        "their error)."
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
