"""Binomial probabilities in the window that matters, for many q at once.

Outside ``|k - T q| <= window_radius(T)`` a binomial variable has mass at most `NEGLECTED` on each
side (Hoeffding), so T = 10^7 costs no more than its few ten thousand relevant counts.
"""

import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

Floats = NDArray[np.float64]

NEGLECTED = 1e-18
"""Mass that may lie outside a window, on each side."""


def window_radius(n_blocks: int) -> int:
    """Radius around T q outside which Bin(T, q) and Bin(T - 1, q) have mass `NEGLECTED` a side."""
    # Hoeffding: P(B <= T q - h) <= exp(-2 h^2 / T); one more for the shift between T and T - 1.
    return math.ceil(math.sqrt(-math.log(NEGLECTED) * n_blocks / 2.0)) + 1


@lru_cache(maxsize=16)
def log_choose(n: int) -> Floats:
    """Logarithms of the binomial coefficients C(n, 0), ..., C(n, n)."""
    factorials = special.gammaln(np.arange(n + 1) + 1.0)
    values: Floats = factorials[-1] - factorials - factorials[::-1]
    values.flags.writeable = False
    return values


def binomial_masses(n: int, q: Floats, k: NDArray[np.intp]) -> Floats:
    """P(Bin(n, q) = k) row by row: q of shape (rows,), k of shape (rows, columns), 0 beyond n."""
    inside = np.minimum(k, n)
    q = np.clip(q, 1e-300, 1.0)[:, np.newaxis]
    logs = log_choose(n)[inside] + inside * np.log(q) + special.xlog1py(n - inside, -q)
    masses: Floats = np.exp(logs)
    masses[k > n] = 0.0
    return masses


def windows(n_blocks: int, low: Floats, high: Floats) -> NDArray[np.intp]:
    """Return the counts k < T (and padding beyond) that matter for any q in [low, high]."""
    radius = window_radius(n_blocks)
    first = np.maximum(np.floor(n_blocks * low).astype(np.intp) - radius, 0)
    last = np.minimum(np.ceil(n_blocks * high).astype(np.intp) + radius, n_blocks - 1)
    columns = int((last - first).max()) + 1
    return first[:, np.newaxis] + np.arange(columns)


def distribution_functions(n_blocks: int, q: Floats, k: NDArray[np.intp]) -> Floats:
    """F_k(q) = P(Bin(T, q) <= k) row by row, for consecutive k that start below the window."""
    return np.minimum(np.cumsum(binomial_masses(n_blocks, q, k), axis=1), 1.0)


def mean_difference_limit(n_blocks: int, q: Floats) -> Floats:
    """Return an upper bound of E|B1 - B2| for independent B1, B2 ~ Bin(T, q).

    With s = 2 q (1 - q) and e(s) = P(two binomials of T - 1 are equal), E|B1 - B2| is the integral
    of T e over [0, s], and e(s) <= exp(-(T-1) s) I_0((T-1) s); tight up to a factor 1 + O(1 / T).
    """
    spread = 2.0 * q * (1.0 - q)
    if n_blocks == 1:
        return spread
    z = (n_blocks - 1) * spread
    factor = n_blocks / (n_blocks - 1) * (1.0 + 1e-12)
    bound: Floats = factor * z * (special.i0e(z) + special.i1e(z))
    return bound
