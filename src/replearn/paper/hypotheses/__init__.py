"""Hypothesis classes: VC dimension, dichotomies of a pool, empirical risk minimisation."""

from replearn.paper.hypotheses.base import Cover, Dichotomies, HypothesisClass, sauer_bound
from replearn.paper.hypotheses.boxes import Boxes, Conjunctions, Intervals
from replearn.paper.hypotheses.finite import FiniteClass
from replearn.paper.hypotheses.hypothesis import (
    Box,
    Constant,
    Hypothesis,
    Predictor,
    canonical_text,
    hypothesis_from_dict,
    make_box,
)
from replearn.paper.hypotheses.rules import BoxRules, ListedRules, Rules
from replearn.paper.hypotheses.stumps import Stumps, Thresholds

__all__ = [
    "Box",
    "BoxRules",
    "Boxes",
    "Conjunctions",
    "Constant",
    "Cover",
    "Dichotomies",
    "FiniteClass",
    "Hypothesis",
    "HypothesisClass",
    "Intervals",
    "ListedRules",
    "Predictor",
    "Rules",
    "Stumps",
    "Thresholds",
    "hypothesis_from_dict",
    "make_box",
    "sauer_bound",
]
