"""More than two classes: two whole models differ on little mass, without Markov's inequality."""

import math

from replearn.bounds.approximate import atoms_spread, deviation_bound, deviation_tail
from replearn.bounds.multiclass import mean_difference
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_positive

__all__ = ["class_disagreement_bound", "class_disagreement_tail", "class_mean_and_spread"]


@theorem("approximate-direct")
def class_mean_and_spread(
    n_blocks: int, n_classes: int, *, shared_rows: bool = False
) -> tuple[float, float]:
    """Mean and spread of the expected disagreement of class votes; see `vote_mean_and_spread`.

    Parameters
    ----------
    n_blocks : int
        Number of blocks T; hard or soft votes, one or several partitions.
    n_classes : int
        Number of classes K.
    shared_rows : bool
        Whether the partition is keyed by content and a row can occur in both samples.

    Returns
    -------
    mean, spread : float

    Examples
    --------
    >>> mean, spread = class_mean_and_spread(230, 3)
    >>> round(mean, 4), round(spread, 4)
    (0.0999, 0.0142)
    """
    tau = n_classes / 2.0 * mean_difference(n_blocks, 1.0 / n_classes) * (1.0 + 1e-12)
    centre, factor = tau, 1.0
    if shared_rows:
        centred = 0.5 * math.sqrt((n_classes - 1.0) / n_blocks) * (1.0 + 1e-12)
        centre, factor = 2.0 * min(tau, centred), 2.0
    # theorem: approximate-direct (section "more than two classes")
    # 2 tv / (1 + tv) is concave: it lies below its tangent at the centre.
    slope = 2.0 / (1.0 + centre) ** 2
    return 2.0 * centre / (1.0 + centre), factor * slope**2 / n_blocks


@theorem("approximate-direct")
def class_disagreement_tail(
    n_blocks: int, n_classes: int, gamma: float, *, atoms: float = 0.0, shared_rows: bool = False
) -> float:
    """Probability that two models with several classes disagree on more than ``gamma``.

    Parameters
    ----------
    n_blocks : int
        Number of blocks T; hard or soft votes, one or several partitions.
    n_classes : int
        Number of classes K.
    gamma : float
        Mass on which the models may differ.
    atoms : float
        Sum of squared masses of the points that are decided by votes; 0 for continuous data.
    shared_rows : bool
        Whether the partition is keyed by content and a row can occur in both samples.

    Returns
    -------
    float
        rho, rounded up; 1 where the bound says nothing.

    Examples
    --------
    >>> round(class_disagreement_tail(1000, 3, 0.2), 5)
    0.00187
    """
    check_positive("gamma", gamma)
    mean, spread = class_mean_and_spread(n_blocks, n_classes, shared_rows=shared_rows)
    return deviation_tail(mean, spread + atoms_spread(atoms), gamma)


@theorem("approximate-direct")
def class_disagreement_bound(
    n_blocks: int, n_classes: int, rho: float, *, atoms: float = 0.0, shared_rows: bool = False
) -> float:
    """Mass on which two models with several classes differ, except with probability ``rho``.

    Parameters
    ----------
    n_blocks, n_classes, atoms, shared_rows
        As for `class_disagreement_tail`.
    rho : float
        Failure probability in (0, 1].

    Returns
    -------
    float
        gamma, rounded up; may exceed 1, and then promises nothing.

    Examples
    --------
    >>> round(class_disagreement_bound(1000, 3, 0.1), 4)
    0.1405
    """
    mean, spread = class_mean_and_spread(n_blocks, n_classes, shared_rows=shared_rows)
    return deviation_bound(mean, spread + atoms_spread(atoms), rho)
