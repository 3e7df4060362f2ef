"""The plan: what n samples can promise, and how many samples a promise needs."""

from replearn.planning._choice import ChoicePlan, plan_choice
from replearn.planning._columns import Columns
from replearn.planning._displays import BlocksDisplay, FlipCurveDisplay, PromiseDisplay
from replearn.planning._heavy import heavy_rows_needed, heavy_stage
from replearn.planning._plan import Plan
from replearn.planning._planner import plan

__all__ = [
    "BlocksDisplay",
    "ChoicePlan",
    "Columns",
    "FlipCurveDisplay",
    "Plan",
    "PromiseDisplay",
    "heavy_rows_needed",
    "heavy_stage",
    "plan",
    "plan_choice",
]
