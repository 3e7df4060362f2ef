"""Bad input: a message that says what to do, exit code 2, no traceback (``call`` checks that)."""

import json
import re
import shutil
import zipfile

import pytest

BAD_FILES = {
    "missing file": (None, "does not exist"),
    "empty": (b"", "is empty"),
    "wrong encoding": ("x,churn\né,no\nb,yes\n".encode("latin-1"), "--encoding latin-1"),
    "not a table": (
        b"x,churn\n1,no\n1,2,3,yes\n",
        "is not a table: found more fields than defined",
    ),
    "duplicate names": (b"x,x,churn\n1,2,no\n", "occur more than once: x"),
    "no target": (b"x,Churn\n1,no\n", "no column 'churn'. Did you mean 'Churn'? It has x, Churn"),
    "one class": (b"x,churn\n1,no\n2,no\n", "'churn' has one class only ('no')"),
    "unknown labels": (b"x,churn\n1,\n2,\n", "'churn' has no known value"),
    "500 classes": (
        b"x,churn\n" + b"".join(b"%d,c%d\n" % (i % 7, i) for i in range(500)),
        "'churn' has 500 different values; a classifier needs few",
    ),
    "a quantity": (b"x,churn\n1,1.5\n2,2.25\n", "not whole: a quantity"),
    "dates": (b"x,churn\n1,2020-01-01\n2,2020-01-02\n", "holds dates"),
    "only ids": (
        b"row,churn\n" + b"".join(b"%d,c%d\n" % (i, i % 2) for i in range(99)),
        "no column to learn from besides 'churn'",
    ),
    "only the target": (b"churn\nno\nyes\n", "no column to learn from"),
}


@pytest.mark.parametrize("command", ["fit", "audit"])
@pytest.mark.parametrize(("content", "message"), BAD_FILES.values(), ids=BAD_FILES)
def test_files(call, shop, tmp_path, command, content, message):
    if content is not None:
        (tmp_path / "data.csv").write_bytes(content)
    more = ("--key-file", shop / "key.txt", "--out", tmp_path / "m") if command == "fit" else ()
    code, out, err = call(command, tmp_path / "data.csv", "--target", "churn", *more)
    assert code == 2
    assert message in err
    assert err.startswith("replearn: error: ")
    assert err.count("\n") == 1
    assert out == ""
    assert not (tmp_path / "m").exists()


def test_unknown_ending(call, shop, tmp_path):
    (tmp_path / "data.ods").write_bytes(b"x")
    code, _, err = call("audit", tmp_path / "data.ods", "--target", "churn")
    assert code == 2
    assert "Supported: .csv, .tsv" in err


def test_an_id_column_is_told_and_left_out(call, shop, tmp_path):
    code, _, err = call(
        *("fit", shop / "a.csv", "--target", "churn", "--key-file", shop / "key.txt"),
        *("--plan", shop / "plan.json", "--model", "tree", "--out", tmp_path / "m"),
    )
    assert code == 0
    assert "'customer_id' looks like an id of the row and is not learned from" in err


USAGE = {
    "no command": ((), "required: COMMAND"),
    "unknown command": (("frobnicate",), "invalid choice"),
    "unknown option": (("plan", "--colour"), "unrecognized arguments"),
    "option of the same word": (("key", "new", "--out-file", "a"), "Did you mean --out?"),
    "option misspelled": (("plan", "--clases=a,b"), "Did you mean --classes? replearn plan --help"),
    "option like no other": (("key", "new", "--xyz"), "--xyz\nreplearn key new --help-all lists"),
    "no number": (("plan", "--n", "many"), "invalid int value"),
    "rho out of range": (("plan", "--n", "100", "--rho", "2"), "must lie in (0, 1]"),
    "negative n": (("plan", "--n", "-5", "--rho", "0.1"), "--n -5 must be at least"),
    "nothing to solve": (("plan",), "error:"),
    "labels": (("plan", "--n", "100", "--classes", "a,,b"), "different labels between commas"),
    "unknown task": (("plan", "oracle"), "invalid choice"),
    "task lacks": (
        ("plan", "selection"),
        "plan('selection') needs ['n_hypotheses']; it takes n_hyp",
    ),
    "option of another task": (
        ("plan", "thresholds", "--d", "3", "--runs", "3"),
        "plan('thresholds') does not take ['d', 'runs']; it takes n, rho, gamma, alpha, beta",
    ),
    "option of no vote": (
        ("plan", "--n", "900", "--nu", "0.1"),
        "plan('pointwise') does not take ['nu']; it takes ",
    ),
    "accuracy in part": (("plan", "--n", "900", "--alpha", "0.1"), "beta and d are both missing"),
    "no mass": (("plan", "--n", "9", "--gamma", "0.1"), "gamma=0.1 belongs to the approximate"),
    "mass that is no number": (("plan", "--gamma", "much"), "argument --gamma: invalid"),
    "target out of range": (("plan", "thresholds", "--alpha", "7"), "alpha=7.0 must lie in"),
    "target beyond all numbers": (
        ("plan", "finite-randomness", "--rho", "1e-300", "--n", "9"),
        "blocks: raise it",
    ),
    "no action": (("key",), "required: ACTION"),
    "no key": (
        ("fit", "x.csv", "--target", "y", "--out", "m.replearn"),
        "--key-file FILE is required, the key that all runs share; replearn key new --out key.txt "
        "makes one",
    ),
    "no folder": (("key", "new", "--out", "/no/such/k"), "/no/such/k: the folder does not exist"),
    "a folder": (("key", "new", "--out", "."), "error: --out . is a folder; name a file."),
    "a folder for a report": (
        ("audit", "x.csv", "--target", "y", "--out", "."),
        "error: --out . is a folder; name a file.",
    ),
    "required option misspelled": (
        ("audit", "x.csv", "--taget", "y"),
        "required: --target\nunrecognized: --taget\nDid you mean --target?",
    ),
    "another option misspelled": (
        ("fit", "x.csv", "--target=y", "--key-fil=k"),
        "required: --out\nunrecognized: --key-fil\nDid you mean --key-file",
    ),
    "one label": (("plan", "--n", "100", "--classes", "a"), "--classes a: at least two labels"),
    "no certificate": (("certify", "/no/such.json"), "No such file or directory"),
    "no model": (("predict", "/no/such.replearn", "x.csv"), "No such file or directory"),
    "gate": (("audit", "x.csv", "--target", "y", "--fail-above", "flips"), "must be NAME=LIMIT"),
    "report": (("audit", "x.csv", "--target", "y", "--out", "r.pdf"), "must end in .html"),
}


@pytest.mark.parametrize(("arguments", "message"), USAGE.values(), ids=USAGE)
def test_usage(call, arguments, message):
    code, out, err = call(*arguments)
    assert code == 2
    assert message in err
    assert out == ""


NAMES_OF_PYTHON = re.compile(r"\b[a-z]+_[a-z_]*\b|\b[a-z]+=|[A-Z][a-z]+[A-Z]\w+")


def test_notes_name_options_not_parameters(call, shop, tmp_path):
    """Labels of noise: a model that finds nothing, from blocks that are too small for it."""
    rows = [f"{x * 37 % 101},{x * 53 % 97},{'yes' if x % 12 == 0 else 'no'}" for x in range(700)]
    path = tmp_path / "noise.csv"
    path.write_text("\n".join(["one,two,y", *rows]))
    options = ("--target", "y", "--key-file", shop / "key.txt", "--out", tmp_path / "m")
    code, _, err = call("fit", path, *options, "--max-fits", 20)
    _, _, planned = call("plan", "--n", 833, "--rho", 0.1)
    assert code == 0
    notes = [line for line in err.splitlines() if "note: " in line] + planned.splitlines()
    assert notes
    assert any("or more rows." in note for note in notes)
    written = re.sub(r"--threshold [\w=.]+", "", " ".join(notes))
    assert NAMES_OF_PYTHON.findall(written) == []


@pytest.mark.parametrize(("value", "shown"), [("1", "(1)"), ("2.0", "(2)"), ("yes", "('yes')")])
def test_a_single_class_is_written_as_in_the_file(call, tmp_path, value, shown):
    path = tmp_path / "one.csv"
    path.write_text("x,y\n" + "".join(f"{x / 7:.3f},{value}\n" for x in range(40)))
    code, _, err = call("audit", path, "--target", "y")
    assert code == 2
    assert f"has one class only {shown}; there is nothing to predict" in err


def test_a_folder_is_refused_before_the_training(call, shop, tmp_path):
    options = ("--target", "churn", "--key-file", shop / "key.txt", "--out", tmp_path)
    code, _, err = call("fit", shop / "a.csv", *options)
    assert code == 2
    assert err.splitlines() == [f"replearn: error: --out {tmp_path} is a folder; name a file."]


FIT = {
    "model name": (("--model", "oracle"), "is not one of logreg, hgb, forest, tree"),
    "model module": (("--model", "no_such_module:x"), "cannot be imported"),
    "model object": (("--model", "math:pi"), "has no fit and predict"),
    "replicable twice": (("--model", "replearn:PointwiseReplicableClassifier"), "already"),
    "plan and rho": (("--rho", "0.2"), "--plan fixes rho"),
    "drop": (("--drop", "nothing"), "no column 'nothing'"),
    "folder": (("--certificate", "/no/such/c.json"), "the folder does not exist"),
    "key": (("--key-file", "/no/such/key"), "No such file or directory"),
    "encoding": (("--encoding", "klingon"), "'klingon' is not known"),
    "columns": (("--columns", "/no/such.json"), "No such file or directory"),
}


@pytest.mark.parametrize(("arguments", "message"), FIT.values(), ids=FIT)
def test_options_of_fit(call, shop, tmp_path, arguments, message):
    code, out, err = call(
        *("fit", shop / "a.csv", "--target", "churn", "--key-file", shop / "key.txt"),
        *("--plan", shop / "plan.json", "--out", tmp_path / "m", *arguments),
    )
    assert code == 2
    assert message in err
    assert out == ""
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [("", "one line"), ("a\nb\n", "one line"), ("rk1-00-00", "rk1-"), (b"\xff\xfe", "not text")],
)
def test_key_files(call, tmp_path, content, message):
    (tmp_path / "k").write_bytes(content if isinstance(content, bytes) else content.encode())
    code, _, err = call("key", "show", tmp_path / "k")
    assert code == 2
    assert message in err


@pytest.mark.parametrize("content", ["{", "[]", '{"x": 1}', '{"x": "colour"}'])
def test_columns_files(call, shop, tmp_path, content):
    (tmp_path / "c.json").write_text(content)
    code, _, err = call(
        *("fit", shop / "a.csv", "--target", "churn", "--key-file", shop / "key.txt"),
        *("--out", tmp_path / "m", "--columns", tmp_path / "c.json"),
    )
    assert code == 2
    assert "c.json is not a columns file" in err or "no column 'x'" in err


def test_a_sample_smaller_than_the_plan(call, shop, tmp_path):
    lines = (shop / "a.csv").read_text().splitlines()[:400]
    (tmp_path / "few.csv").write_text("\n".join(lines))
    arguments = ("--target", "churn", "--key-file", shop / "key.txt", "--plan", shop / "plan.json")
    code, _, err = call("fit", tmp_path / "few.csv", *arguments, "--out", tmp_path / "m")
    assert code == 2
    assert "plan needs n=700 rows, but the sample has 399" in err


def test_too_few_rows_are_told_not_refused(call, shop, tmp_path):
    lines = (shop / "a.csv").read_text().splitlines()[:200]
    (tmp_path / "few.csv").write_text("\n".join(lines))
    arguments = ("--target", "churn", "--key-file", shop / "key.txt", "--model", "tree")
    code, out, err = call("fit", tmp_path / "few.csv", *arguments, "--out", tmp_path / "m")
    assert code == 0
    assert "NOT certified" in out
    assert "the request needs" in err


def test_tampered_files_are_refused(call, shop, tmp_path):
    plan = json.loads((shop / "plan.json").read_text())
    plan["inputs"]["n"] = 699
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    code, _, err = call(
        *("fit", shop / "a.csv", "--target", "churn", "--key-file", shop / "key.txt"),
        *("--plan", tmp_path / "plan.json", "--out", tmp_path / "m"),
    )
    assert code == 2
    assert f"{tmp_path / 'plan.json'}: digest: the plan was changed" in err
    certificate = json.loads((shop / "a.json").read_text())
    certificate["identity"]["n_available"] = 10**6
    (tmp_path / "a.json").write_text(json.dumps(certificate))
    code, _, err = call("certify", tmp_path / "a.json", shop / "b.json")
    assert code == 2
    assert "a.json: digest" in err
    data = bytearray((shop / "a.replearn").read_bytes())
    data[len(data) // 2] ^= 1
    (tmp_path / "a.replearn").write_bytes(data)
    key = ("--key-file", shop / "key.txt")
    code, _, err = call("predict", tmp_path / "a.replearn", shop / "new.csv", *key)
    assert code == 2
    assert "a.replearn" in err


def test_wrong_key_and_foreign_models(call, shop, tmp_path):
    base = ("predict", shop / "a.replearn", shop / "new.csv")
    code, _, err = call(*base)
    assert code == 2
    assert "needs its shared key" in err
    code, _, err = call(*base, "--key-file", shop / "other-key.txt")
    assert code == 2
    assert "belongs to the key with fingerprint" in err
    shutil.copy(shop / "new.csv", tmp_path / "model.replearn")
    code, _, err = call("predict", tmp_path / "model.replearn", shop / "new.csv")
    assert code == 2
    assert "not a replearn model file" in err
    with zipfile.ZipFile(tmp_path / "x.replearn", "w") as archive:
        archive.writestr("a", "b")
    assert call("certify", tmp_path / "x.replearn")[0] == 2


def test_predict_names_the_column_that_is_missing(call, shop, tmp_path):
    (tmp_path / "new.csv").write_text("age,income\n1,2\n")
    key = ("--key-file", shop / "key.txt")
    code, _, err = call("predict", shop / "a.replearn", tmp_path / "new.csv", *key)
    assert code == 2
    assert "has no column 'town'. It has age, income" in err


def test_max_flip_out_of_range(call, shop):
    base = ("predict", shop / "a.replearn", shop / "new.csv", "--key-file", shop / "key.txt")
    code, _, err = call(*base, "--max-flip", 3)
    assert code == 2
    assert "--max-flip 3.0 must lie" in err


def test_compare_needs_models_that_see_a_file_alike(call, shop, tmp_path):
    assert (
        call(
            *("fit", shop / "b.csv", "--target", "churn", "--key-file", shop / "key.txt"),
            *("--plan", shop / "plan.json", "--model", "tree", "--drop", "town", "--quiet"),
            *("--out", tmp_path / "m"),
        )[0]
        == 0
    )
    key = ("--key-file", shop / "key.txt")
    code, _, err = call("compare", shop / "a.replearn", tmp_path / "m", shop / "new.csv", *key)
    assert code == 2
    assert "the models read a file differently: columns" in err


def test_models_that_cannot_be_saved_are_told_before_training(call, shop, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nameless.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n"
        "from sklearn.pipeline import make_pipeline\n"
        "from sklearn.preprocessing import FunctionTransformer\n"
        "pipe = make_pipeline(FunctionTransformer(lambda X: X[['income']]), GaussianNB())\n"
    )
    monkeypatch.setattr(
        "replearn.learners.pointwise.PointwiseReplicableClassifier", None
    )  # would be a crash
    code, _, err = call(
        *("fit", shop / "a.csv", "--target", "churn", "--key-file", shop / "key.txt"),
        *("--model", "nameless:pipe", "--out", tmp_path / "m", "--quiet"),
    )
    assert code == 2
    assert "model 'nameless:pipe' contains the function <lambda>" in err


def test_no_command_writes_over_a_file_that_it_reads(call, shop, tmp_path):
    key = tmp_path / "key.txt"
    key.write_bytes((shop / "key.txt").read_bytes())
    rows = tmp_path / "a.csv"
    rows.write_bytes((shop / "a.csv").read_bytes())
    fit = ("fit", rows, "--target", "churn", "--model", "tree", "--max-fits", 18, "--key-file", key)
    commands = (
        (*fit, "--out", rows),
        (*fit, "--out", tmp_path / "m.replearn", "--certificate", key),
        ("predict", shop / "a.replearn", rows, "--key-file", key, "--out", rows),
        ("probe", "make", rows, "--out", rows),
    )
    for command in commands:
        code, _, err = call(*command)
        assert code == 2
        assert f"{command[-2]} {command[-1]} is a file that this command reads" in err
    assert rows.read_bytes() == (shop / "a.csv").read_bytes()
    assert key.read_bytes() == (shop / "key.txt").read_bytes()
