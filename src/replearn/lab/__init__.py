"""The paper's lower bounds and separations as experiments that run.

``replearn lab list`` names them; `all_experiments` returns them. The constructions they are made
of (hard distributions, reductions, exact limits) take a learner of your own.
"""

from replearn.lab.coin_limit import CoinLimit, coin_limit, information_limit
from replearn.lab.experiment import Bench, Experiment, Result
from replearn.lab.experiments import all_experiments, find_experiment
from replearn.lab.lazy_domain import LazyDomain

__all__ = [
    "Bench",
    "CoinLimit",
    "Experiment",
    "LazyDomain",
    "Result",
    "all_experiments",
    "coin_limit",
    "find_experiment",
    "information_limit",
]
