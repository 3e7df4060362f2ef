"""Measure flips on your own data."""

from replearn.audit._audit import audit
from replearn.audit._result import AuditResult, ContenderResult

__all__ = ["AuditResult", "ContenderResult", "audit"]
