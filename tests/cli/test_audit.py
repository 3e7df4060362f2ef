"""``replearn audit``: from an unprepared file to a report in one command, with a gate."""

import json

import numpy as np
import pandas as pd
import pytest

QUICK = (
    *("--target", "churn", "--model", "sklearn.naive_bayes:GaussianNB", "--pairs", "2"),
    *("--drop", "comment", "--drop", "since", "--drop", "postcode"),
)


@pytest.fixture(scope="module")
def audited(shop, tmp_path_factory):
    """One audit whose pairs the other tests continue from."""
    from replearn.cli import main

    folder = tmp_path_factory.mktemp("audit")
    code = main(["audit", str(shop / "a.csv"), *QUICK, "--resume", str(folder), "--quiet"])
    return folder, code


def test_one_command_from_file_to_report(call, shop, audited, tmp_path):
    folder, code = audited
    assert code == 0
    code, out, err = call(
        *("audit", shop / "a.csv", *QUICK, "--resume", folder),
        *("--out", tmp_path / "report.html", "--json"),
    )
    found = json.loads(out)
    assert code == 0
    assert len(found["contenders"]) == 5
    page = (tmp_path / "report.html").read_text()
    assert page.lstrip().lower().startswith("<!doctype html")
    assert "churn" in out or "no" in page
    assert f"report written to {tmp_path / 'report.html'}" in err
    assert "customer_id" in err


@pytest.mark.parametrize(("limit", "code", "verdict"), [("0", 1, "FAILED"), ("1", 0, "passed")])
def test_the_gate(call, shop, audited, limit, code, verdict):
    arguments = ("audit", shop / "a.csv", *QUICK, "--resume", audited[0], "--quiet")
    found, out, err = call(*arguments, "--fail-above", limit)
    assert found == code
    assert f"gate {verdict}: flips of 'baseline'" in err
    assert "replicable" in out


def test_the_gate_can_judge_the_upper_limit(call, shop, audited):
    arguments = ("audit", shop / "a.csv", *QUICK, "--resume", audited[0], "--quiet", "--json")
    _, out, _ = call(*arguments, "--fail-above", 1)
    (gate,) = json.loads(out)["gates"]
    measured = gate["measured"]
    assert 0 < measured["value"] < measured["upper"] < 1
    between = (measured["value"] + measured["upper"]) / 2
    both = ("--fail-above", between, "--fail-above", f"upper flips={between}")
    code, out, err = call(*arguments, *both)
    assert code == 1
    assert [found["passed"] for found in json.loads(out)["gates"]] == [True, False]
    assert "gate FAILED: upper flips" in err
    code, _, err = call(*arguments, "--fail-above", 2)
    assert code == 2
    assert "flips=2.0 must lie in [0, 1]" in err
    code, _, err = call(*arguments, "--fail-above", "flops=2%")
    assert code == 2
    assert "there is no 'flops' to judge; there are flips" in err


def test_the_gate_does_not_pass_a_constant(call, shop):
    constant = ("--model", "sklearn.dummy:DummyClassifier", "--contenders", "baseline")
    arguments = ("audit", shop / "a.csv", *QUICK, *constant, "--quiet", "--fail-above", "1")
    code, out, err = call(*arguments)
    assert code == 1
    assert "it predicts a single class" in err
    assert "find a better model" in " ".join(out.split())


def test_groups_and_reports_without_values(call, shop, audited, tmp_path):
    arguments = ("audit", shop / "a.csv", *QUICK, "--resume", audited[0], "--quiet")
    report = ("--out", tmp_path / "r.md", "--hide-values")
    assert call(*arguments, "--subgroups", "town", *report)[0] == 0
    assert (tmp_path / "r.md").read_text()
    code, _, err = call(*arguments, "--subgroups", "colour")
    assert code == 2
    assert "no columns ['colour']" in err


def test_a_folder_of_another_audit_is_refused(call, shop, audited):
    arguments = ("audit", shop / "b.csv", *QUICK, "--resume", audited[0], "--quiet")
    code, _, err = call(*arguments)
    assert code == 2
    assert "holds another audit" in err


def test_contenders_rows_and_a_quick_look(call, shop, monkeypatch):
    chosen = ("--contenders", "replicable,baseline", "--rows", "300")
    code, out, _ = call("audit", shop / "a.csv", *QUICK, *chosen, "--quiet", "--details")
    assert code == 0
    assert "bagging" not in out
    assert "300 of " in out
    assert out.startswith("Audit of a.csv, target churn, sklearn.naive_bayes:GaussianNB")
    assert "--key-file" in out
    assert "shared_key=" not in out
    code, _, err = call("audit", shop / "a.csv", *QUICK, "--contenders", "boosting")
    assert code == 2
    assert "'replicable'" in err
    monkeypatch.setattr("replearn.auditing.audits.audit", _requested)
    assert call("audit", shop / "a.csv", *QUICK, "--quick")[2].endswith(
        "2 pairs, 5000 rows, ['baseline', 'replicable']\n"
    )
    without_pairs = [word for word in QUICK if word not in ("--pairs", "2")]
    assert "3 pairs" in call("audit", shop / "a.csv", *without_pairs, "--quick")[2]
    assert "20 pairs, None rows, None" in call("audit", shop / "a.csv", *without_pairs)[2]


def _requested(*_, n_pairs, max_rows, contenders, **__):
    raise ValueError(f"{n_pairs} pairs, {max_rows} rows, {contenders}")


def test_a_decision_threshold(call, shop):
    options = (*QUICK, "--contenders", "baseline", "--quiet", "--json", "--pos-label", "yes")
    shares = []
    for more in ((), ("--threshold", "0.9"), ("--threshold", "1:50")):
        code, out, _ = call("audit", shop / "a.csv", *options, *more)
        assert code == 0
        found = json.loads(out)["measured"]
        shares.append(next(m["value"] for m in found if m["what"] == "recall of yes"))
    assert shares[1] < shares[0] < shares[2]
    code, _, err = call("audit", shop / "a.csv", *options, "--threshold", "often")
    assert code == 2
    assert "--threshold often: must be a number" in err


def test_ctrl_c_leaves_a_report(call, shop, monkeypatch, tmp_path):
    from replearn.auditing import pairs

    real, done = pairs.run_pair, []

    def run_pair(job):
        done.append(job)
        if len(done) > 8:
            raise KeyboardInterrupt
        return real(job)

    monkeypatch.setattr(pairs, "run_pair", run_pair)
    code, out, err = call(
        *("audit", shop / "a.csv", *QUICK, "--pairs", "9", "--jobs", "1"),
        *("--contenders", "baseline,bagging", "--out", tmp_path / "r.md"),
    )
    assert code == 130
    assert "4 of 9 pairs were run: it was interrupted" in out
    assert "interrupted" in err
    assert "continues" not in err
    assert "it was interrupted" in (tmp_path / "r.md").read_text()


def test_after_ctrl_c_the_same_command_continues(call, shop, monkeypatch, tmp_path):
    from replearn.auditing import pairs

    work = tmp_path / "work"
    command = ("audit", shop / "a.csv", *QUICK, "--pairs", "3", "--jobs", "1", "--resume", work)
    command += ("--contenders", "baseline,bagging")
    whole = call(*command, "--resume", tmp_path / "other", "--json")[1]
    real, done = pairs.run_pair, []

    def run_pair(job):
        if len(done) == 3:
            raise KeyboardInterrupt
        done.append(job)
        return real(job)

    with monkeypatch.context() as patch:
        patch.setattr(pairs, "run_pair", run_pair)
        code, out, err = call(*command)
    assert code == 130
    assert "left out because it was interrupted: bagging" in " ".join(out.split())
    assert f"what was measured before; the same command continues from {work}" in err
    continued = json.loads(call(*command, "--json")[1])
    expected = json.loads(whole)
    del continued["timings"], expected["timings"]
    assert continued == expected


def test_a_folder_to_continue_from_is_no_file(call, shop):
    code, _, err = call("audit", shop / "a.csv", *QUICK, "--resume", shop / "key.txt")
    assert code == 2
    assert f"--resume {shop / 'key.txt'} is a file; name a folder." in err


def test_a_large_table_is_audited_with_fewer_rows_and_says_so(call, shop, monkeypatch):
    from replearn.cli import audit

    monkeypatch.setattr(audit, "MAX_CELLS", 100)
    monkeypatch.setattr(audit, "MIN_ROWS", 100)
    monkeypatch.setattr(audit, "TEST_ROWS", 100)
    arguments = ("audit", shop / "a.csv", *QUICK, "--contenders", "baseline", "--json")
    code, out, err = call(*arguments)
    assert code == 0
    found = json.loads(out)
    assert found["design"]["train_size"] == 100
    (told,) = found["cut_short"]
    assert f"each training sees {found['design']['train_size']}" in told
    assert told in err
    n_rows = found["design"]["n_rows"]
    _, out, err = call(*arguments, "--rows", n_rows)
    assert json.loads(out)["cut_short"] == []
    assert "since the table is large" not in err


# -- a target that is a quantity -------------------------------------------------------------------
@pytest.fixture(scope="module")
def delays(tmp_path_factory):
    rng = np.random.default_rng(0)
    lines = ["hour,carrier,delay"]
    for hour, carrier in zip(rng.random(900) * 24, rng.choice(["AA", "UA"], 900), strict=True):
        delay = "" if rng.random() < 0.01 else f"{hour + 5 * (carrier == 'UA') + rng.normal():.2f}"
        lines.append(f"{hour:.3f},{carrier},{delay}")
    path = tmp_path_factory.mktemp("delays") / "flights.csv"
    path.write_text("\n".join(lines))
    return path


NUMBERS = ("--target", "delay", "--tolerance", "4", "--pairs", "2", "--jobs", "1")


def test_an_audit_of_a_quantity(call, delays, tmp_path):
    options = (*NUMBERS, "--model", "tree", "--y-range", "0", "30", "--json")
    code, out, err = call("audit", delays, *options, "--out", tmp_path / "report.html")
    found = json.loads(out)
    assert code == 0
    assert found["tolerance"] == 4
    names = [one["name"] for one in found["contenders"]]
    assert names == ["baseline", "bagging (5 models)", "incumbent", "replicable"]
    moved = [m["value"] for m in found["measured"] if m["what"] == "change of the value"]
    single, bagged, *_ = moved
    assert bagged < single  # averaged trees
    assert "median" in err
    assert "rows without 'delay' are left out" in err
    assert "RMSE" in (tmp_path / "report.html").read_text()


@pytest.mark.parametrize(("limit", "code", "verdict"), [("0", 1, "FAILED"), ("1", 0, "passed")])
def test_the_gate_of_a_quantity_judges_the_model_that_was_named(call, delays, limit, code, verdict):
    found, out, err = call(
        "audit", delays, *NUMBERS, "--tolerance", "0.05", "--quiet", "--fail-above", limit
    )
    assert found == code
    assert f"gate {verdict}" in err
    assert "'baseline'" in err
    assert "change by 0.05 or more" in " ".join(out.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--target", "delay"), "For regression use"),
        (("--target", "carrier", "--tolerance", "1"), "'carrier' is not a quantity"),
        ((*NUMBERS, "--contenders", "score"), "contenders="),
        ((*NUMBERS, "--model", "mlp"), "is not one of ridge, hgb, forest, tree"),
        (("--target", "delay", "--y-range", "0", "1"), "--y-range requires --tolerance"),
        (("--target", "delay", "--tolerance", "0"), "--tolerance"),
    ],
)
def test_what_does_not_fit_a_quantity_is_refused(call, delays, options, message):
    code, _, err = call("audit", delays, *options)
    assert code == 2
    assert message in err


def test_some_rows_are_new(call, shop):
    options = (
        "--target",
        "churn",
        "--contenders",
        "baseline",
        "--pairs",
        2,
        "--jobs",
        1,
        "--quick",
    )
    code, out, _ = call("audit", shop / "a.csv", *options, "--vary", "10 % new rows")
    assert code == 0
    assert "with 10 % new rows" in " ".join(out.split())


def test_a_column_of_a_file_is_the_time(tmp_path, call):
    n = 1200
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    y = (frame["a"] + rng.normal(size=n) > 0).astype(int)
    days = pd.Timestamp("2026-01-01") + pd.to_timedelta(np.arange(n) // 4, "D")
    frame = frame.assign(when=days.strftime("%Y-%m-%d"), month=days.month, day=days.day, y=y)
    frame["note"] = np.where(y == 1, "late", "early")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    command = ("audit", tmp_path / "rows.csv", "--target", "y", "--pairs", 2, "--jobs", 1)
    command = (*command, "--contenders", "baseline", "--drop", "note")
    code, out, err = call(*command, "--time-column", "when", "--drop", "month", "--drop", "day")
    assert code == 0
    assert "with next period" in " ".join(out.split())
    code, out, _ = call(*command, "--time-column", "month,day", "--drop", "when", "--details")
    assert code == 0
    assert "next period, rows shuffled" in out
    code, _, err = call(*command[:-2], "--time-column", "note")
    assert code == 2
    assert "requires dates or numbers" in err


def test_settings_of_a_grid_are_contenders(call, shop):
    options = ("--target", "churn", "--pairs", 2, "--jobs", 1, "--model", "tree")
    grid = ("--grid", "max_depth=1,2", "--grid", "criterion=gini,entropy")
    code, out, _ = call("audit", shop / "a.csv", *options, *grid, "--json")
    assert code == 0
    found = json.loads(out)
    names = [contender["name"] for contender in found["contenders"]]
    assert names[:2] == ["baseline", "criterion=gini, max_depth=1"]
    assert len(names) == 5
    for wrong, message in (("depth=1", "'depth'"), ("max_depth", "must be a parameter and values")):
        code, _, err = call("audit", shop / "a.csv", *options, "--grid", wrong)
        assert code == 2
        assert message in err


def test_a_curve_over_new_rows(call, shop):
    options = ("--target", "churn", "--pairs", 2, "--jobs", 1, "--contenders", "baseline")
    code, out, _ = call("audit", shop / "a.csv", *options, "--vary", "new rows,10 % new rows,seed")
    assert code == 0
    assert "with new rows" in out
    assert "0.0 % with seed" in " ".join(out.split())
    code, _, err = call("audit", shop / "a.csv", *options, "--vary", "columns")
    assert code == 2
    assert "'columns' is not one of" in err
