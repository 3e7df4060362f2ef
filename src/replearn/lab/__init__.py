"""Experiments from the paper."""

from replearn.lab.lazy_domain import LazyDomain

__all__ = ["LazyDomain"]
