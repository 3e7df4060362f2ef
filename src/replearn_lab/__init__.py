"""The paper's lower bounds and separations as experiments that run.

``replearn lab list`` names them; `all_experiments` returns them. The constructions they are made
of (hard distributions, reductions, exact limits) take a learner of your own.
"""

from replearn_lab.coin_limit import CoinLimit, coin_limit, information_limit
from replearn_lab.deterministic import TwoCoinRule, rule_of_counts
from replearn_lab.experiment import Bench, Experiment, Result
from replearn_lab.experiments import all_experiments, find_experiment
from replearn_lab.learning import keyed
from replearn_lab.marginals import SignsFromSemiReplicable
from replearn_lab.private import PrivateFromSemiPrivate, ThresholdFromConjunctions, with_pool
from replearn_lab.reductions import (
    Coin,
    CoinTesterFromApproximate,
    CoinTesterFromPointwise,
    CoinTesterFromRealizable,
)

__all__ = [
    "Bench",
    "Coin",
    "CoinLimit",
    "CoinTesterFromApproximate",
    "CoinTesterFromPointwise",
    "CoinTesterFromRealizable",
    "Experiment",
    "PrivateFromSemiPrivate",
    "Result",
    "SignsFromSemiReplicable",
    "ThresholdFromConjunctions",
    "TwoCoinRule",
    "all_experiments",
    "coin_limit",
    "find_experiment",
    "information_limit",
    "keyed",
    "rule_of_counts",
    "with_pool",
]
