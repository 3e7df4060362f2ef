"""Few large blocks with thresholds in standard errors of the score."""

from __future__ import annotations

from sklearn.naive_bayes import GaussianNB

from . import tables
from .calls import Facts, score_facts


def two_classes() -> Facts:
    return score_facts(tables.answers(), GaussianNB())


def prevalence() -> Facts:
    return score_facts(tables.answers(), GaussianNB(), threshold="prevalence", rho=0.2)


def three_classes() -> Facts:
    return score_facts(tables.flowers(), GaussianNB())
