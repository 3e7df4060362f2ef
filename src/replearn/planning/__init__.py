"""The plan: what n samples can promise, and how many samples a promise needs."""

from replearn.planning._plan import Plan, plan

__all__ = ["Plan", "plan"]
