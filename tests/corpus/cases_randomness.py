"""Keys and points: the same numbers for the same point, in every container."""

from __future__ import annotations

import datetime as dt
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

import replearn as rl
from replearn.randomness.points import as_points

from . import tables
from .calls import KEY, Facts
from .fingerprint import close

SECRET = rl.SharedKey(KEY)
CELLS = [
    [3, "Ulm", None, 0.1],
    [3.0, "3", float("nan"), -0.0],
    [2**60 + 1, "", dt.date(2024, 2, 29), 1e300],
    [-(2**70), "Køge", dt.datetime(2024, 2, 29, 13, 5, 7, 250), 5e-324],
    [True, b"Ulm", dt.timedelta(days=3, microseconds=5), np.float32(0.1)],
]


def _encoded(X: Any, **rounding: Any) -> Facts:
    words, kinds = as_points(X, **rounding).encoded()
    return {"words": words, "kinds": kinds, "uniforms": SECRET.uniforms(X, **rounding)}


def _containers() -> dict[str, Any]:
    frame = tables.mixed().new[["radius", "visits", "town", "seen"]]
    numbers = tables.digits(3, 8).new
    polars = pl.DataFrame({name: frame[name].tolist() for name in ("radius", "visits")})
    return {
        "cells": CELLS,
        "frame": tables.mixed().new,
        "numbers": tables.tumours().new,
        "whole numbers": tables.discrete().new,
        "single precision": tables.tumours().new.astype(np.float32),
        "sparse": sparse.csr_array(numbers),
        "dense": numbers,
        "polars": polars,
        "arrow": pa.table({"a": [1, 2, None], "b": ["x", None, "z"]}),
        "column": pd.Series(frame["town"]),
        "nullable": pd.DataFrame({"a": pd.array([1, None, 3], "Int64"), "b": [0.5, 1.5, None]}),
        "times": np.array(["2024-02-29T01:02:03.5", "NaT", "9000-01-01"], dtype="M8[ms]"),
        "durations": np.array([1, -5, 10**12], dtype="m8[s]"),
        "masked": np.ma.masked_greater(tables.tumours().new, 20.0),
        "ids": ["ann", "bob", "ann"],
    }


def encodings_of_points() -> Facts:
    return {
        f"{name}: {item}": value
        for name, X in _containers().items()
        for item, value in _encoded(X).items()
    }


def rounded_points() -> Facts:
    X = tables.tumours().new
    return {
        f"{decimals}: {item}": value
        for decimals in (0, 2, 15)
        for item, value in _encoded(X, decimals=decimals).items()
    }


def keys() -> Facts:
    facts: Facts = {}
    for value in ("corpus", b"corpus", 0, -7, 2**200, "Schlüssel"):
        key = rl.SharedKey(value)
        facts |= {
            f"{value!r}: fingerprint": key.fingerprint,
            f"{value!r}: export": key.export(),
            f"{value!r}: child": key.child("partition", 3, b"x").fingerprint,
            f"{value!r}: seeds": [key.seed_for("block", number) for number in range(8)],
        }
    return facts


def numbers_of_a_key() -> Facts:
    table = tables.answers()
    return {
        "hashes": SECRET.hashes(table.new),
        "uniforms": SECRET.uniforms(table.new),
        "gumbels": close(SECRET.gumbels(table.new, ["no", "yes"])),
        "gumbels of numbers": close(SECRET.gumbels([1, 2, 3], [0, 1, 2])),
        "order": SECRET.order(table.X, table.y),
        "order of equal rows": SECRET.order(tables.discrete().X),
        "order of rounded rows": SECRET.order(table.X, decimals=0),
    }
