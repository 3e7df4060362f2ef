"""Hypothesis classes: VC dimension, dichotomies of a pool, empirical risk minimisation."""

from replearn.hypotheses.base import Cover, Dichotomies, HypothesisClass, sauer_bound
from replearn.hypotheses.boxes import Boxes, Conjunctions, Intervals
from replearn.hypotheses.finite import FiniteClass
from replearn.hypotheses.halfspaces import Halfspaces
from replearn.hypotheses.hypothesis import (
    Box,
    Constant,
    Halfspace,
    Hypothesis,
    Predictor,
    canonical_text,
    hypothesis_from_dict,
    make_box,
    make_halfspace,
)
from replearn.hypotheses.rules import BoxRules, HalfspaceRules, ListedRules, Rules
from replearn.hypotheses.stumps import Stumps, Thresholds

__all__ = [
    "Box",
    "BoxRules",
    "Boxes",
    "Conjunctions",
    "Constant",
    "Cover",
    "Dichotomies",
    "FiniteClass",
    "Halfspace",
    "HalfspaceRules",
    "Halfspaces",
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
    "make_halfspace",
    "sauer_bound",
]
