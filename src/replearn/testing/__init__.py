"""Conformance checks for replicable estimators."""
