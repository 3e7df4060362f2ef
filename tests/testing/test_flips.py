"""The assertion for other people's tests passes, fails, and says what is wrong."""

import re

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.naive_bayes import GaussianNB

from replearn.testing import assert_flips_below

X, Y = make_classification(2000, flip_y=0.2, random_state=0)
OLD, NEW = GaussianNB().fit(X[:300], Y[:300]), GaussianNB().fit(X[300:600], Y[300:600])
ROWS = X[600:]
RATE = np.mean(OLD.predict(ROWS) != NEW.predict(ROWS))


def test_models_or_their_predictions():
    one = assert_flips_below(OLD, NEW, ROWS, RATE + 1e-9)
    two = assert_flips_below(OLD.predict(ROWS), NEW.predict(ROWS), ROWS, RATE + 1e-9)
    assert one.flips == two.flips
    assert one.flips.value == RATE


def test_the_message_names_rate_limit_group_and_rows():
    sign = np.where(ROWS[:, 0] > 0, "plus", "minus")
    with pytest.raises(AssertionError) as error:
        assert_flips_below(OLD, NEW, ROWS, 0.001, subgroups={"sign": sign})
    text = str(error.value)
    first = int(np.flatnonzero(OLD.predict(ROWS) != NEW.predict(ROWS))[0])
    assert f"flips {100 * RATE:.2f} % (limits" in text
    assert "allowed 0.10 %" in text
    assert re.search(r"Worst group: sign = (plus|minus) with \d", text)
    assert f"Rows that change: {first} (" in text


def test_the_upper_limit_is_harder_to_pass():
    assert_flips_below(OLD, NEW, ROWS, RATE + 0.001)
    with pytest.raises(AssertionError, match="upper flips"):
        assert_flips_below(OLD, NEW, ROWS, limits={"upper flips": RATE + 0.001})


def test_the_other_gates():
    truth = Y[600:]
    worse = np.mean((OLD.predict(ROWS) == truth) & (NEW.predict(ROWS) != truth))
    calm = {"y": truth, "limit": None}
    assert_flips_below(OLD, NEW, ROWS, limits={"becomes wrong": worse}, **calm)
    with pytest.raises(AssertionError, match="becomes wrong"):
        assert_flips_below(OLD, NEW, ROWS, limits={"becomes wrong": worse / 2}, **calm)
    sign = {"sign": ROWS[:, 0] > 0}
    with pytest.raises(AssertionError, match=r"worst group \(sign = "):
        assert_flips_below(OLD, NEW, ROWS, limits={"worst group": 0.0}, subgroups=sign, **calm)
    first = int(np.flatnonzero(OLD.predict(ROWS) != NEW.predict(ROWS))[0])
    with pytest.raises(AssertionError, match=f"Must not change, but do: {first}[.]"):
        assert_flips_below(OLD, NEW, ROWS, must_not_change=[first], **calm)
