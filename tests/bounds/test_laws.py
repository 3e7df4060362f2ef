import hashlib
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, reject, settings, strategies as st

from replearn.bounds.laws import (
    LAW_BITS,
    ThresholdLaw,
    arcsine_law,
    portable_arcsine,
    table_law,
    uniform_law,
)
from replearn.exceptions import CertificateError

ONE = 2**LAW_BITS
blocks = st.integers(1, 300)
half_widths = st.floats(1e-3, 1.0)


@st.composite
def tables(draw):
    steps = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=40).filter(any))
    return np.concatenate([[0.0], np.cumsum(steps) / sum(steps)])


@given(blocks, half_widths, st.sampled_from([uniform_law, arcsine_law]))
def test_a_law_is_a_symmetric_table_from_zero_to_one(n_blocks, width, build):
    law = build(n_blocks, width)
    assert law.table.dtype == np.int64
    assert law.table.shape == (n_blocks + 1,)
    assert law.table[0] == 0
    assert law.table[-1] == ONE
    assert np.all(np.diff(law.table) >= 0)
    assert np.array_equal(law.table + law.table[::-1], np.full(n_blocks + 1, ONE))
    assert law.is_symmetric
    assert law.steps.sum() == 1.0


@given(blocks, half_widths)
def test_the_uniform_law_is_rounded_to_the_nearest_value(n_blocks, width):
    law, w = uniform_law(n_blocks, width), Fraction(width)
    for k in {0, 1, n_blocks // 3, n_blocks // 2, n_blocks - 1, n_blocks}:
        exact = min(max((Fraction(2 * k, n_blocks) - 1 + w) / (2 * w), 0), 1)
        assert abs(int(law.table[k]) - exact * ONE) <= Fraction(1, 2) + Fraction(1, 10**4)


@given(blocks, half_widths)
def test_the_arcsine_law_is_uniform_in_the_arcsine_scale(n_blocks, width):
    law = arcsine_law(n_blocks, width)
    p = 2.0 * np.arange(n_blocks + 1) / n_blocks - 1.0
    exact = np.clip(0.5 + np.arcsin(p) / (2.0 * math.asin(width)), 0.0, 1.0)
    assert np.max(np.abs(law.probabilities - exact)) <= 2.0**-31 + 1e-12


def test_portable_arcsine_is_the_arcsine_and_odd():
    p = np.concatenate([np.linspace(-1.0, 1.0, 20_001), [1e-300, 1e-9, 1 - 1e-15]])
    assert np.max(np.abs(portable_arcsine(p) - np.arcsin(p))) < 3e-15
    assert np.array_equal(portable_arcsine(-p), -portable_arcsine(p))


def test_the_same_table_on_every_machine():
    law = arcsine_law(128, 0.4794)
    assert law.digest == "61d3065f622237749d5b6c2e86040b2104193a89048218ac0054f7fa473bad7e"
    assert (
        uniform_law(100).digest
        == "4959439e49eb01b9442cad77b5ede20f8d46640fe63adbdc5250c86a30579808"
    )


def test_the_digest_is_of_version_blocks_and_table():
    law = uniform_law(3)
    data = b"replearn-law-1:3:" + b"".join(int(v).to_bytes(8, "little") for v in law.table)
    assert law.digest == hashlib.sha256(data).hexdigest()


@settings(max_examples=60)
@given(tables(), st.data())
def test_any_table_survives_json_and_any_change_of_it_changes_the_digest(values, data):
    law = table_law(values)
    assert ThresholdLaw.from_dict(json.loads(json.dumps(law.to_dict()))) == law
    k = data.draw(st.integers(0, law.n_blocks))
    changed = law.table.copy()
    changed[k] += data.draw(st.sampled_from([-1, 1]))
    try:
        other = ThresholdLaw("table", law.n_blocks, None, changed)
    except ValueError:
        reject()  # it no longer rises from 0 to 1
    assert other != law
    assert other.digest != law.digest


LAWS = [
    uniform_law(1),
    uniform_law(32, 0.7),
    arcsine_law(33, 0.85),
    table_law([0.0, 0.1, 0.5, 1.0]),
]


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_json_round_trip(law):
    again = ThresholdLaw.from_dict(json.loads(json.dumps(law.to_dict())))
    assert again == law
    assert hash(again) == hash(law)
    assert (again.name, again.width) == (law.name, law.width)
    assert np.array_equal(again.table, law.table)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.name)
def test_a_changed_record_is_refused(law):
    record = law.to_dict()
    changes = [{"digest": "0" * 64}]
    if law.name in ("uniform", "arcsine"):
        changes += [{"width": 0.5}, {"n_blocks": law.n_blocks + 7}]
    else:
        table = list(record["table"])
        table[1] += 1
        changes += [{"table": table}]
    if law.n_blocks == 1:
        changes = changes[:1]
    for change in changes:
        with pytest.raises(CertificateError, match="digest"):
            ThresholdLaw.from_dict(record | change)


def test_equality_is_about_the_table_alone():
    assert uniform_law(4, 0.3) == uniform_law(4, 0.5)  # no vote share in between
    assert uniform_law(4) != uniform_law(5)
    assert uniform_law(4) != "uniform"


def test_tables_are_frozen():
    law = uniform_law(4)
    for values in (law.table, law.probabilities, law.steps):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = 1


@given(st.integers(1, 60), half_widths, st.sampled_from([uniform_law, arcsine_law]))
def test_between_vote_shares_the_law_is_joined_by_lines_no_steeper_than_its_constant(
    n_blocks, width, build
):
    law = build(n_blocks, width)
    shares = np.linspace(0.0, 1.0, 7 * n_blocks + 1)
    values = law.at(shares)
    assert np.max(np.abs(values[::7] - law.probabilities)) < 1e-12
    slopes = np.diff(values) / np.diff(2.0 * shares)
    assert slopes.min() > -1e-9
    assert slopes.max() <= law.lipschitz * (1.0 + 1e-9)
    assert slopes.max() >= law.lipschitz * (1.0 - 1e-9)


def test_laws_with_atoms_have_no_values_between_vote_shares():
    for law in LAWS[3:]:
        assert law.lipschitz is None
        with pytest.raises(ValueError, match="atoms"):
            law.at([0.5])


def test_a_free_table_may_be_asymmetric():
    law = table_law([0.0, 0.1, 0.5, 1.0])
    assert not law.is_symmetric
    assert law.largest_step == 0.5


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: uniform_law(0),
        lambda: uniform_law(10_000_001),
        lambda: uniform_law(4, 0.0),
        lambda: uniform_law(4, 1.5),
        lambda: arcsine_law(4, math.nan),
        lambda: table_law([0.0]),
        lambda: table_law([0.0, 0.6, 0.4, 1.0]),
        lambda: table_law([0.1, 0.5, 0.9]),
        lambda: table_law([0.0, 2.0]),
        lambda: uniform_law(4).at([1.1]),
        lambda: ThresholdLaw("magic", 1, None, np.array([0, ONE])),
        lambda: ThresholdLaw("table", 2, None, np.array([0, ONE])),
    ],
)
def test_wrong_values_are_named(wrong):
    with pytest.raises(ValueError, match="must"):
        wrong()


@pytest.mark.parametrize("wrong", [4.0, "4", True, None])
def test_numbers_of_blocks_are_integers(wrong):
    with pytest.raises(TypeError, match="n_blocks must be a whole number"):
        uniform_law(wrong)


@pytest.mark.parametrize("make", [uniform_law, arcsine_law])
def test_the_smallest_width_is_the_majority(make):
    assert make(5, width=5e-324).probabilities.tolist() == [0, 0, 0, 1, 1, 1]
