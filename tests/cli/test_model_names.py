"""Base estimators by name, and what predict says of columns that it cannot use."""

import sys

import pandas as pd
import pytest


@pytest.mark.parametrize("name", ["xgboost", "lightgbm", "catboost"])
def test_a_missing_package_is_named(call, shop, tmp_path, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    key = ("--key-file", shop / "key.txt", "--out", tmp_path / "m")
    code, _, err = call("fit", shop / "a.csv", "--target", "churn", "--model", name, *key)
    assert code == 2
    assert f"--model {name} requires the package {name}" in err
    assert f"pip install {name}" in err


@pytest.fixture
def rows(shop):
    return pd.read_csv(shop / "new.csv", dtype=str)


def predict(call, shop, rows, path):
    rows.to_csv(path, index=False)
    return call("predict", shop / "a.replearn", path, "--key-file", shop / "key.txt")


def test_a_column_without_values_is_told(call, shop, rows, tmp_path):
    assert "warning" not in predict(call, shop, rows, tmp_path / "as-it-is.csv")[2]
    code, _, err = predict(call, shop, rows.assign(town=None), tmp_path / "empty.csv")
    assert code == 0
    assert f"warning: column 'town' is empty in all {len(rows)} rows" in err


def test_categories_that_were_never_seen_are_told(call, shop, rows, tmp_path):
    code, _, err = predict(call, shop, rows.assign(town="Atlantis"), tmp_path / "unseen.csv")
    assert code == 0
    assert "column 'town': none of its 1 categories ('Atlantis') occurred in training" in err
    some = rows.assign(town=["Atlantis", *rows["town"][1:]])
    assert "occurred" not in predict(call, shop, some, tmp_path / "some.csv")[2]


def test_another_version_of_scikit_learn_names_the_option(call, shop, tmp_path, monkeypatch):
    import sklearn

    monkeypatch.setattr(sklearn, "__version__", "0.1.0")
    base = ("predict", shop / "a.replearn", shop / "new.csv", "--key-file", shop / "key.txt")
    code, _, err = call(*base)
    assert code == 2
    assert "--any-version on the command line" in err
