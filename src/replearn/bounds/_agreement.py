"""Correlated sampling by shared Gumbels: how often two distributions draw the same element."""

import numpy as np

from replearn.bounds._numeric import Floats


def log_weight_agreement(log_p: Floats, log_q: Floats) -> float:
    """P(argmax of log p + Gumbel is argmax of log q + Gumbel), weights not normalised.

    The sum over i of 1 / sum_j max(p_j / p_i, q_j / q_i). Sorted by p_j / q_j the maximum is the
    first ratio above i and the second below, so that running sums give it in N log N time.
    """
    possible = (log_p > -np.inf) | (log_q > -np.inf)
    log_p, log_q = log_p[possible], log_q[possible]
    order = np.argsort(log_p - log_q, kind="stable")
    log_p, log_q = log_p[order], log_q[order]
    above = np.logaddexp.accumulate(log_p[::-1])[::-1]
    below = np.concatenate([[-np.inf], np.logaddexp.accumulate(log_q)[:-1]])
    both = (log_p > -np.inf) & (log_q > -np.inf)
    with np.errstate(over="ignore"):
        rivals = np.exp((above - log_p)[both]) + np.exp((below - log_q)[both])
        return min(1.0, float((1.0 / rivals).sum()))
