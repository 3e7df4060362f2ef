"""A newcomer's files, models made from them, and a way to call the command in this process."""

import csv
import datetime as dt

import numpy as np
import pytest

from replearn.cli import main

HEADER = ("customer_id", "age", "income", "town", "postcode", "since", "comment", "churn")


def newcomer_rows(n, seed):
    """Mixed types, missing values, dates, text, ids: nobody has prepared anything."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        age, income = rng.integers(18, 90), rng.lognormal(10, 0.5)
        town = str(rng.choice(["Ulm", "Rom", "Bern", "Oslo"]))
        score = 0.04 * (age - 50) + (town == "Ulm") + rng.normal()
        yield (
            f"C{seed}-{i:05d}",
            "" if rng.random() < 0.05 else age,
            f"{income:.2f}",
            town,
            f"0{rng.integers(1000, 9999)}",
            (dt.date(2018, 1, 1) + dt.timedelta(days=int(rng.integers(2000)))).isoformat(),
            "NA"
            if rng.random() < 0.3
            else "please call me back " + str(rng.choice(["soon", "no"])),
            "yes" if score > 0.3 else "no",
        )


def write_csv(path, rows, header=HEADER):
    with open(path, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows([header, *rows])
    return path


@pytest.fixture(scope="session")
def shop(tmp_path_factory):
    """A folder with two labs' files, new rows, a key, a plan, and two fitted models."""
    folder = tmp_path_factory.mktemp("shop")
    for name, n, seed in (("a", 700, 1), ("b", 700, 2), ("new", 60, 3)):
        write_csv(folder / f"{name}.csv", newcomer_rows(n, seed))
    (folder / "key.txt").write_text("trial-2026, protocol 3\n")
    (folder / "other-key.txt").write_text("another\n")
    plan = ["plan", "--n", "700", "--rho", "0.1", "--classes", "no,yes", "--max-fits", "20"]
    assert main([*plan, "--save", str(folder / "plan.json")]) == 0
    for lab in "ab":
        assert main(fit_arguments(folder, lab)) == 0
    return folder


def fit_arguments(folder, lab, *more):
    return [
        "fit",
        str(folder / f"{lab}.csv"),
        *("--target", "churn", "--key-file", str(folder / "key.txt")),
        *("--plan", str(folder / "plan.json"), "--model", "tree"),
        *("--out", str(folder / f"{lab}.replearn")),
        *("--certificate", str(folder / f"{lab}.json"), "--quiet", *more),
    ]


@pytest.fixture
def call(capsys):
    """Call the command here; return exit code, standard output and standard error."""

    def run(*arguments):
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return code, captured.out, captured.err

    return run
