"""Frozen values: what two labs share must not change under one encoding version.

If one of these fails, models and certificates made before no longer match. Do not regenerate the
file: give the new rules a new ENCODING_VERSION and a vectors file of their own.
"""

import datetime
import json
from pathlib import Path

import numpy as np
import pytest

from replearn.randomness.encoding import encode_cell
from replearn.randomness.key import SharedKey
from replearn.randomness.kinds import ENCODING_VERSION
from replearn.randomness.points import as_points

VECTORS = json.loads((Path(__file__).parent / "vectors.json").read_text())
KEYS = {"text": "trial-2026", "accent": "café", "bytes": b"\x00\xff", "int": 7, "minus": -(2**70)}
CELLS = {
    "zero": 0,
    "minus zero": -0.0,
    "one": True,
    "a tenth": 0.1,
    "smallest": 5e-324,
    "missing": None,
    "empty text": "",
    "text": "Zürich",
    "digit": "3",
    "bytes": b"abc",
    "2**53 + 1": 2**53 + 1,
    "-2**53 - 1": -(2**53) - 1,
    "2**63 + 1": 2**63 + 1,
    "2**64 + 1": 2**64 + 1,
    "-2**100 - 1": -(2**100) - 1,
    "date": datetime.date(2026, 3, 1),
    "instant": datetime.datetime(2026, 3, 1, 12, 30, 15, 250, tzinfo=datetime.UTC),
    "far date": datetime.date(9999, 12, 31),
    "duration": datetime.timedelta(seconds=-90),
    "long duration": datetime.timedelta(days=200_000),
}
ROWS = [
    [0.0, 1, "a", None],
    [1.5, -2, "b", datetime.date(2026, 1, 1)],
    [1.5, -2, "b", datetime.date(2026, 1, 1)],
    [2**53 + 1, 0.1, "", b"x"],
    [None, None, None, None],
]
WIDE = [[i * j / 8 if (i + j) % 4 else f"{i},{j}" for j in range(20)] for i in range(4)]


def hexadecimal(hashes):
    return [f"{int(value):016x}" for value in hashes]


def values_of(key):
    """Everything exact that a key gives, as JSON; floats as hexadecimal."""
    return {
        "fingerprint": key.fingerprint,
        "export": key.export(),
        "child": key.child("partition", 3).fingerprint,
        "grandchild": key.child("vote").child(b"\x01").fingerprint,
        "seed": key.seed_for("block", 12),
        "hashes": hexadecimal(key.hashes(ROWS)),
        "wide hashes": hexadecimal(key.hashes(WIDE)),
        "id hashes": hexadecimal(key.hashes(["ann", "bob", 3])),
        "uniforms": [value.hex() for value in key.uniforms(ROWS).tolist()],
        "rounded uniforms": [u.hex() for u in key.uniforms([0.123456], decimals=3).tolist()],
        "order": key.order(ROWS).tolist(),
        "order with labels": key.order(ROWS, [0, 1, 1, 0, 1]).tolist(),
        "long order": key.order(range(40)).tolist(),
    }


def test_version():
    assert VECTORS["encoding_version"] == ENCODING_VERSION


@pytest.mark.parametrize("name", CELLS)
def test_cells(name):
    kind, word = encode_cell(CELLS[name])
    assert [int(kind), f"{word:016x}"] == VECTORS["cells"][name]
    words, kinds = as_points([CELLS[name]]).encoded()
    assert [int(kinds[0, 0]), f"{int(words[0, 0]):016x}"] == VECTORS["cells"][name]


@pytest.mark.parametrize("name", KEYS)
def test_keys(name):
    assert values_of(SharedKey(KEYS[name])) == VECTORS["keys"][name]


def test_gumbels():
    # the logarithm may differ in its last digits between machines
    gumbels = SharedKey("trial-2026").gumbels(ROWS, ["no", 1])
    np.testing.assert_allclose(gumbels, VECTORS["gumbels"], rtol=1e-12)


def test_nothing_is_left_out():
    assert set(VECTORS["cells"]) == set(CELLS)
    assert set(VECTORS["keys"]) == set(KEYS)
