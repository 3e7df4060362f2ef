"""What the encoder of mixed tables makes of their columns, as weighted sums of terms."""

from __future__ import annotations

from typing import Any

from replearn.fastpaths.basis import Channel, Of, Sum, Term
from replearn.tables.columns import WORD_BUCKETS
from replearn.tables.encoder import TableEncoder


def table_features(encoder: TableEncoder) -> list[Sum]:
    """Return the features that a fitted encoder makes of a table."""
    read = _for_trees if encoder.for_trees else _for_linear_models
    return [
        feature
        for fitted in encoder.fitted_columns_
        for feature in (_words(fitted) if "words" in fitted else read(fitted))
    ]


def _words(fitted: dict[str, Any]) -> list[Sum]:
    channels = [Channel(fitted["name"], "words", part) for part in range(WORD_BUCKETS + 1)]
    return [Sum({Term(channel, Of.NUMBER): 1.0}) for channel in channels]


def _for_trees(fitted: dict[str, Any]) -> list[Sum]:
    if "levels" in fitted:
        channel = Channel(fitted["name"], "texts")
        # codes are counted from that of unknown levels
        codes = {Term(channel, level): code + 1.0 for code, level in enumerate(fitted["levels"])}
        return [Sum(codes, -1.0, open=channel)]
    reader = "dates" if "date" in fitted else "clipped"  # no part of a date is too large
    channels = [Channel(fitted["name"], reader, part) for part in range(len(fitted["scales"]))]
    return [Sum({Term(channel, Of.NUMBER): 1.0}, open=channel) for channel in channels]


def _for_linear_models(fitted: dict[str, Any]) -> list[Sum]:
    name = fitted["name"]
    if "levels" in fitted:
        channel = Channel(name, "texts")
        return [Sum({Term(channel, level): 1.0}) for level in fitted["levels"]]
    reader = "dates" if "date" in fitted else "numbers"
    result: list[Sum] = []
    for part, (mean, spread, with_missing) in enumerate(fitted["scales"]):
        channel = Channel(name, reader, part)
        number, missing = Term(channel, Of.NUMBER), Term(channel, Of.MISSING)
        # a missing number is put at the mean, which is zero after centring
        result.append(Sum({number: 1.0 / spread, missing: mean / spread}, -mean / spread))
        if with_missing:
            result.append(Sum({missing: 1.0}))
    return result
