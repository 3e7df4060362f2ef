"""Measure flips on your own data: pairs of trainings, findings, displays, report."""
