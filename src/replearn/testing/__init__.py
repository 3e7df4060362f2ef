"""Conformance checks for replicable classifiers, and populations that attack them."""

from replearn.testing.conformance import check_replicable_classifier, replicability_checks
from replearn.testing.populations import Population, adversarial_populations, biased_labels
from replearn.testing.privacy import PrivacyAudit, audit_privacy

__all__ = [
    "Population",
    "PrivacyAudit",
    "adversarial_populations",
    "audit_privacy",
    "biased_labels",
    "check_replicable_classifier",
    "replicability_checks",
]
