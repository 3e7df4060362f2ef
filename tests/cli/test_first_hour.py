"""What a newcomer is told before, and gets after, a fit on a file as it is."""

import csv
import io
import json

import numpy as np
import pytest

from replearn.persistence.model_file import describe

RNG = np.random.default_rng(4)
N = 400


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    """Thousands separators, labels in several spellings, an id, a key."""
    folder = tmp_path_factory.mktemp("loans")
    fee = RNG.lognormal(8, 1, N)
    denied = fee * RNG.lognormal(0, 0.4, N) > np.median(fee)
    spellings = np.where(RNG.random(N) < 0.1, "YES", "Yes")
    with open(folder / "loans.csv", "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["loan_id", "fee", "rate", "denied"])
        for i in range(N):
            label = spellings[i] if denied[i] else "no"
            writer.writerow([f"L{i:04d}", f"{fee[i]:,.2f}", f"{RNG.uniform(1, 9):.1f}", label])
    (folder / "key.txt").write_text("trial-2026, protocol 3\n")
    return folder


def fit(call, loans, out, *more):
    words = ("fit", loans / "loans.csv", "--target", "denied", "--key-file", loans / "key.txt")
    return call(*words, "--model", "tree", "--max-fits", 20, "--out", out, *more)


@pytest.fixture
def model(call, loans, tmp_path):
    code, _, err = fit(call, loans, tmp_path / "m.replearn", "--clean-labels")
    assert code == 0
    return tmp_path / "m.replearn", err


def test_columns_and_classes_are_told_before_the_fit(model):
    _, err = model
    before = err[: err.index("model written")]
    for told in (
        "400 rows, 4 columns:",
        "fee      number  0        400",
        "loan_id  id      0        400",
        "denied   target  0        3",
        "target 'denied': ",
    ):
        assert told in before
    assert "kB)" in err or "MB)" in err


def test_labels_in_several_spellings_are_told_and_mended_on_request(call, loans, model, tmp_path):
    path, err = model
    assert "are one class now, 'yes'" in err
    assert list(describe(path).certificate.identity.classes) == ["no", "yes"]
    code, out, err = fit(call, loans, tmp_path / "n.replearn", "--json")
    assert code == 0
    assert json.loads(out)["classes"] == ["YES", "Yes", "no"]
    assert "differ in case or blanks only and are 2 classes; --clean-labels makes them one" in err
    compared = ("compare", path, path, loans / "loans.csv", "--key-file", loans / "key.txt")
    found = json.loads(call(*compared, "--json")[1])["measured"]
    assert next(m["value"] for m in found if m["what"] == "accuracy") > 0.6


def test_quiet_is_quiet(call, loans, tmp_path):
    lines = fit(call, loans, tmp_path / "q.replearn", "--quiet")[2].splitlines()
    assert [line for line in lines if not line.startswith("replearn: note: ")] == []
    assert all("requested rho" in line or "rows are few" in line for line in lines)


def rows_of(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_predict_carries_the_id_and_names_the_option_for_the_key(call, loans, model, tmp_path):
    path, _ = model
    code, _, err = call("predict", path, loans / "loans.csv")
    assert code == 2
    assert "--key-file FILE" in err
    assert "load(" not in err
    base = ("predict", path, loans / "loans.csv", "--key-file", loans / "key.txt")
    rows = rows_of(call(*base)[1])
    assert list(rows[0]) == ["loan_id", "prediction"]
    assert rows[7]["loan_id"] == "L0007"
    named = rows_of(call(*base, "--id", "rate")[1])
    assert list(named[0]) == ["rate", "prediction"]
    assert [row["prediction"] for row in named] == [row["prediction"] for row in rows]
    code, _, err = call(*base, "--id", "nobody")
    assert code == 2
    assert "no column 'nobody'" in err
    text = (loans / "loans.csv").read_text().replace("loan_id", "other")
    (tmp_path / "no-id.csv").write_text(text)
    bare = rows_of(call("predict", path, tmp_path / "no-id.csv", *base[3:])[1])
    assert bare[7]["row"] == "8"
