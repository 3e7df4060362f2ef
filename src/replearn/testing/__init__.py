"""Conformance checks for your own estimator, and an assertion about flips."""

from replearn.testing.conformance import check_replicable_classifier, replicability_checks
from replearn.testing.flips import assert_flips_below

__all__ = ["assert_flips_below", "check_replicable_classifier", "replicability_checks"]
