import copy
import itertools
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings, strategies as st

from replearn.exceptions import SecretKeyWarning
from replearn.randomness.hashing import Purpose, derive, gumbel_from_hashes, hash_points
from replearn.randomness.key import SharedKey
from replearn.randomness.points import LANES, as_points

KEY = SharedKey("trial-2026")
deterministic = settings(deadline=None, derandomize=True)
values = st.one_of(st.text(min_size=1), st.binary(min_size=1), st.integers())
parts = st.lists(st.one_of(st.text(), st.binary(), st.integers()), min_size=1, max_size=3)


def typed(parts_):
    return [(type(part), part) for part in parts_]


@deterministic
@given(values, values)
def test_different_values_give_different_keys(first, second):
    same = type(first) is type(second) and first == second
    # Texts may differ in composition only; see the test below.
    assume(same or not (isinstance(first, str) and isinstance(second, str)))
    assert (SharedKey(first) == SharedKey(second)) == same
    assert (SharedKey(first).fingerprint == SharedKey(second).fingerprint) == same


def test_kinds_of_value_do_not_meet():
    keys = {SharedKey(value) for value in ("1", b"1", 1, -1, 2**200, -(2**200), 255, -256, 0)}
    assert len(keys) == 9
    assert SharedKey(np.int64(7)) == SharedKey(7)
    assert SharedKey(np.str_("a")) == SharedKey("a")


def test_text_typed_on_another_keyboard():
    assert SharedKey("caf\u00e9") == SharedKey("cafe\u0301")
    assert SharedKey("cafe") != SharedKey("caf\u00e9")


@deterministic
@given(parts, parts)
def test_children_differ_unless_the_purpose_is_the_same(first, second):
    assert (KEY.child(*first) == KEY.child(*second)) == (typed(first) == typed(second))


def test_framing_is_unambiguous():
    purposes = [("ab",), ("a", "b"), ("", "ab"), ("ab", ""), (b"ab",), (1, 2), (12,), ("1", 2)]
    assert len({KEY.child(*purpose) for purpose in purposes}) == len(purposes)
    assert KEY.child("a", "b") != KEY.child("a").child("b")
    assert KEY.child("a") != KEY


def test_a_key_object_hides_its_value():
    secret = SharedKey("very secret words")
    shown = repr(secret) + str(secret) + f"{secret}"
    assert "very secret" not in shown
    assert secret._secret.hex() not in shown
    assert re.fullmatch(r"SharedKey\(fingerprint='[0-9a-f]{16}'\)", repr(secret))
    assert secret.fingerprint not in secret.export()


def test_equality_and_hash():
    assert SharedKey("a") == SharedKey("a")
    assert hash(SharedKey("a")) == hash(SharedKey("a"))
    assert SharedKey("a") != SharedKey("b")
    assert SharedKey("a") != "a"
    assert SharedKey(KEY) == KEY
    assert len({SharedKey("a"), SharedKey("a"), SharedKey("b")}) == 2


def test_a_key_never_changes():
    with pytest.raises(AttributeError, match="never changes"):
        KEY._secret = b"other"
    with pytest.raises(AttributeError, match="never changes"):
        KEY.note = 1
    with pytest.raises(AttributeError, match="never changes"):
        del KEY._secret


def test_copies_and_pickles_are_the_same_key():
    for twin in (copy.copy(KEY), copy.deepcopy(KEY), pickle.loads(pickle.dumps(KEY))):
        assert twin == KEY
        assert twin.fingerprint == KEY.fingerprint


def test_generate_and_export():
    key = SharedKey.generate()
    assert key != SharedKey.generate()
    text = key.export()
    assert re.fullmatch(r"rk1-[0-9a-f]{32}-[0-9a-f]{8}", text)
    assert SharedKey(text) == key
    assert SharedKey(KEY.export()) == KEY


def test_export_notices_every_single_typing_error():
    text = KEY.export()
    for place, digit in itertools.product(range(4, len(text)), "0123456789abcdefx-"):
        if digit != text[place]:
            with pytest.raises(ValueError, match="mistyped or cut"):
                SharedKey(text[:place] + digit + text[place + 1 :])


def test_seeds_fit_numpy():
    seeds = [KEY.seed_for("block", i) for i in range(100)]
    assert len(set(seeds)) == 100
    assert all(0 <= seed < 2**32 for seed in seeds)
    assert KEY.seed_for("block", 1) != KEY.child("other").seed_for("block", 1)
    np.random.RandomState(seeds[0])


def test_uniforms_are_the_top_bits_of_hashes():
    points = as_points(np.arange(LANES * 2 + 3))
    uniforms = KEY.uniforms(points)
    assert uniforms.dtype == np.float64
    assert (uniforms == (KEY.hashes(points) >> np.uint64(11)) / 2**53).all()
    assert uniforms.min() >= 0
    assert uniforms.max() < 1
    assert (uniforms * 2**53 % 1 == 0).all()


def test_decimals_reach_every_method():
    X, near = np.array([[0.1], [0.25]]), np.array([[0.1], [0.25]], dtype=np.float32)
    for method in (KEY.uniforms, KEY.hashes, KEY.order, lambda Z, **o: KEY.gumbels(Z, [0], **o)):
        assert (method(X, decimals=5) == method(near, decimals=5)).all()
    assert (KEY.uniforms(X) != KEY.uniforms(near)).any()
    points = as_points(near, decimals=5)
    assert (KEY.uniforms(points) == KEY.uniforms(X)).all()


def test_gumbels_are_keyed_by_point_and_label():
    X = np.random.default_rng(0).normal(size=(40, 3))
    gumbels = KEY.gumbels(X, ["a", "b", "c"])
    assert gumbels.shape == (40, 3)
    assert len(np.unique(gumbels)) == 120
    assert (KEY.gumbels(X, ["c", "a"]) == gumbels[:, [2, 0]]).all()
    assert (KEY.gumbels(X[5:9], ["b"]) == gumbels[5:9, [1]]).all()


def test_gumbels_are_always_finite():
    extremes = np.array([0, 1, 2**12, 2**63, 2**64 - 1], dtype=np.uint64)
    assert np.isfinite(gumbel_from_hashes(extremes)).all()
    assert (np.diff(gumbel_from_hashes(extremes)) >= 0).all()


def test_labels_count_by_value():
    X = [[0.5, "x"], [None, "y"]]
    expected = KEY.gumbels(X, [0, 1])
    for labels in (
        [0.0, 1.0],
        [False, True],
        np.array([0, 1], dtype=np.int8),
        np.array([0.0, 1.0], dtype=np.float32),
        pd.Series([0, 1]),
        pl.Series([0, 1]),
        (0, 1),
        range(2),
    ):
        assert (KEY.gumbels(X, labels) == expected).all()
    assert (KEY.gumbels(X, ["0", "1"]) != expected).all()


@pytest.mark.parametrize("n_columns", [1, 13, 14, 15, 16, 17, 31, 32])
def test_gumbels_of_wide_points_with_kinds(n_columns):
    rows = [[None if (i + j) % 5 == 0 else i * j for j in range(n_columns)] for i in range(20)]
    sip_key = derive(KEY._secret, Purpose.GUMBEL)
    for label in ("yes", 0, None):
        longer = as_points([[*row, label] for row in rows])
        expected = gumbel_from_hashes(hash_points(sip_key, longer))
        assert (KEY.gumbels(rows, [label])[:, 0] == expected).all()


def test_methods_use_separate_randomness():
    X = np.random.default_rng(0).normal(size=(1000, 2))
    u = KEY.uniforms(X)
    assert (np.argsort(u) != KEY.order(X)).any()
    with_label = KEY.uniforms(np.column_stack([X, np.ones(1000)]))
    assert not np.allclose(-np.log(-np.log(with_label)), KEY.gumbels(X, [1])[:, 0])


rows_with_repeats = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(["a", "b"])), min_size=1, max_size=30
)


@deterministic
@given(rows_with_repeats, st.randoms(use_true_random=False))
def test_order_does_not_depend_on_the_file(rows, random):
    shuffled = random.sample(rows, len(rows))
    first, second = KEY.order(rows), KEY.order(shuffled)
    assert sorted(first) == list(range(len(rows)))
    assert [rows[i] for i in first] == [shuffled[i] for i in second]


def test_order_of_many_rows_with_repeats():
    generator = np.random.default_rng(4)
    n_rows = 3 * LANES + 11
    X, y = generator.integers(0, 40, size=(n_rows, 2)), generator.integers(0, 2, size=n_rows)
    shuffle = generator.permutation(n_rows)
    first, second = KEY.order(X, y), KEY.order(X[shuffle], y[shuffle])
    assert (np.sort(first) == np.arange(n_rows)).all()
    assert (X[first] == X[shuffle][second]).all()
    assert (y[first] == y[shuffle][second]).all()
    # equal rows are spread over the whole order by their occurrence numbers, not side by side
    places = np.flatnonzero((X[first] == X[0]).all(axis=1))
    assert len(places) > 3
    assert np.diff(places).min() > 1


def test_adding_a_row_moves_the_others_only_by_one():
    rows = [[i] for i in range(100)]
    longer = [*rows, ["new"]]
    kept = [i for i in KEY.order(longer).tolist() if i < 100]
    assert kept == KEY.order(rows).tolist()


def test_order_depends_on_the_label_and_on_the_key():
    X = np.arange(50.0)
    zeros, ones = np.zeros(50), np.ones(50)
    assert (KEY.order(X, zeros) != KEY.order(X, ones)).any()
    assert (KEY.order(X) != KEY.order(X, zeros)).any()
    assert (KEY.order(X) != SharedKey("other").order(X)).any()
    assert (KEY.order(X, zeros) == KEY.order(X.tolist(), [0] * 50)).all()


def test_order_takes_labels_of_several_columns():
    X = [1, 1]
    assert KEY.order(X, [[0, 1.5], [0, 2.5]]).tolist() in ([0, 1], [1, 0])


@pytest.mark.parametrize("make", [SharedKey.generate, lambda: SharedKey(KEY.export())])
def test_a_secret_key_is_pickled_with_a_warning_unless_allowed(make):
    key = make()
    for secret in (key, key.child("vote"), SharedKey(key)):
        with pytest.warns(SecretKeyWarning, match=r"allow_pickle\(\)"):
            assert pickle.loads(pickle.dumps(secret)) == secret
    allowed = key.allow_pickle()
    assert allowed == key
    for silent in (allowed, allowed.child("vote"), SharedKey(allowed)):
        assert pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(silent)))) == silent
