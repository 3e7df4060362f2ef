"""The paper as experiments."""

from replearn.lab.lazy_domain import LazyDomain

__all__ = ["LazyDomain"]
