"""Conformance checks, populations that attack learners, and an assertion about flips."""

from replearn.testing.conformance import check_replicable_classifier, replicability_checks
from replearn.testing.flips import assert_flips_below
from replearn.testing.populations import (
    MedianCut,
    Population,
    adversarial_populations,
    biased_labels,
)
from replearn.testing.privacy import PrivacyAudit, audit_privacy

__all__ = [
    "MedianCut",
    "Population",
    "PrivacyAudit",
    "adversarial_populations",
    "assert_flips_below",
    "audit_privacy",
    "biased_labels",
    "check_replicable_classifier",
    "replicability_checks",
]
