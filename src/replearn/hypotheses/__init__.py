"""Hypothesis classes: VC dimension, dichotomies of a pool, empirical risk minimisation."""
