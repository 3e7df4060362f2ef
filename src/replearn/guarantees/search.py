"""A replicable search over configurations: by many trainings, or by folds."""

from typing import Any

from replearn.bounds import (
    selection_error_tail_sampled,
    selection_flip_bound_sampled,
    selection_scale,
    smallest_sample_search,
)
from replearn.bounds.theorem import theorem
from replearn.guarantees.guarantee import (
    NEAR_BEST,
    SAME_CHOICE,
    THREE_TARGETS,
    Conclusion,
    Guarantee,
    Ledger,
    Needed,
    above_budget,
    reached,
    rounded_up,
)
from replearn.guarantees.selection import selection_rate
from replearn.records import smallest_integer

_MAX_ROWS = 10**15


@theorem("search-trainings")
def trainings_flip(sharpness: float, n_hypotheses: int, n_trainings: int) -> float:
    """Probability that two searches over many trainings choose different configurations."""
    return selection_flip_bound_sampled(sharpness, n_hypotheses, n_trainings)


@theorem("search-trainings")
def trainings_error(sharpness: float, n_hypotheses: int, n_trainings: int, alpha: float) -> float:
    """Probability that the choice's expected error is worse than the best by more than alpha."""
    return selection_error_tail_sampled(sharpness, n_hypotheses, alpha, n_trainings)


@theorem("search-blocks")
def folds_flip(sharpness: float, n_hypotheses: int, n_test: int, drift: float) -> float:
    """Probability that two searches choose different configurations: that of one fold."""
    return selection_flip_bound_sampled(sharpness, n_hypotheses, n_test, drift=drift)


@theorem("search-blocks")
def folds_error(sharpness: float, n_hypotheses: int, n_test: int, alpha: float) -> float:
    """Probability that the chosen configuration is worse than the best by more than alpha."""
    return selection_error_tail_sampled(sharpness, _pairs(n_hypotheses), alpha, n_test)


def _pairs(n_hypotheses: int) -> int:
    return n_hypotheses * (n_hypotheses - 1) + 1


def _by_trainings(
    ledger: Ledger,
    n: int,
    train_size: int,
    n_trainings: int,
    n_hypotheses: int,
    sharpness: float,
    rho: float,
    alpha: float,
    beta: float,
    **shared: Any,
) -> Conclusion:
    items = {"sharpness": sharpness, "n_hypotheses": n_hypotheses, "n_trainings": n_trainings}
    flip = ledger.add(trainings_flip, **items)
    tail = ledger.add(trainings_error, alpha=alpha, **items)
    promises = (
        f"Two runs on fresh samples of {n} rows choose different configurations with probability "
        f"at most {rounded_up(flip)}, whatever the estimator does.",
        f"The chosen configuration's expected error after training on {train_size} rows exceeds "
        f"the best one's by more than {alpha:g} with probability at most {rounded_up(tail)}.",
    )
    return reached(promises, rho=(flip, rho), alpha=alpha, beta=(tail, beta))


def _by_folds(
    ledger: Ledger,
    n: int,
    n_test: int,
    n_hypotheses: int,
    sharpness: float,
    drift: float | None,
    rho: float,
    alpha: float,
    beta: float,
    **shared: Any,
) -> Conclusion:
    items = {"sharpness": sharpness, "n_hypotheses": n_hypotheses, "n_test": n_test}
    tail = ledger.add(folds_error, alpha=alpha, **items)
    near_best = (
        "The chosen configuration's error, averaged over the models of the folds, exceeds the best "
        f"one's by more than {alpha:g} with probability at most {rounded_up(tail)}."
    )
    missed = above_budget("beta", tail, beta)
    if n_hypotheses == 1:
        return Conclusion((near_best,), rho=0.0, alpha=alpha, beta=tail, reasons=missed)
    if drift is None:
        unknown = (
            "nothing is known about how much a configuration's error moves between trainings on "
            "two samples: assume a number, drift=0.001, or measure how often "
            "fresh samples agree"
        )
        return Conclusion((near_best,), alpha=alpha, beta=tail, reasons=(*missed, unknown))
    flip = ledger.add(folds_flip, drift=drift, **items)
    same = (
        f"Two runs on fresh samples of {n} rows choose different configurations with probability "
        f"at most {rounded_up(flip)}, if no configuration's true error moves by more than "
        f"{drift:g} between two trainings."
    )
    reasons = above_budget("rho", flip, rho) + missed
    return Conclusion((same, near_best), rho=flip, alpha=alpha, beta=tail, reasons=reasons)


def _needed(
    rho: float,
    alpha: float,
    beta: float,
    n_hypotheses: int,
    train_size: int | None,
    drift: float | None,
    cv: int,
) -> Needed:
    if (train_size is None) == (drift is None):
        raise ValueError(
            f"train_size={train_size!r}, drift={drift!r}: give one of them. train_size (rows of "
            "each training) promises without assumptions, drift is an assumption about folds."
        )
    rate = selection_rate(rho, alpha, beta, n_hypotheses)
    if train_size is not None:
        n, sharpness = smallest_sample_search(rho, alpha, beta, n_hypotheses, train_size)
        trainings = {"trainings": n // (train_size + 1), "sharpness": sharpness}
        return Needed(n, trainings, {"train_size": train_size}, rate)
    assert drift is not None
    fold = _fold_needed(rho, alpha, beta, n_hypotheses, drift)
    assumed = f"no true error moves by more than {drift:g} between trainings"
    details = {"rows per fold": str(fold or "none is enough"), "assumed": assumed}
    rows = None if fold is None else cv * fold
    return Needed(rows, details, {"cv": cv, "drift": drift}, rate, "search-blocks")


def _fold_needed(
    rho: float, alpha: float, beta: float, n_hypotheses: int, drift: float
) -> int | None:
    def passes(m: int) -> bool:
        sharpness = selection_scale(_pairs(n_hypotheses), alpha, beta, m)
        return sharpness is not None and folds_flip(sharpness, n_hypotheses, m, drift) <= rho

    return smallest_integer(passes, limit=_MAX_ROWS)


GUARANTEES = (
    Guarantee(
        "search",
        _by_trainings,
        learners=("ReplicableSearchCV",),
        theorem="search-trainings",
        needed=_needed,
        required=("n_hypotheses",),
        optional={**THREE_TARGETS, "train_size": None, "drift": None, "cv": 5},
        promise=SAME_CHOICE + NEAR_BEST,
    ),
    Guarantee("search by folds", _by_folds, theorem="search-blocks"),
)
