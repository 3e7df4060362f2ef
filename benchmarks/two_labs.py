"""Two labs, and the ways in which real teams differ: measured flips beside what certificates say.

Each way is something that happens between two honest teams: a locale, a time zone, a spreadsheet in
between, a join. The script trains both labs on fresh samples, compares their predictions on fresh
raw rows that each lab prepares in its own way, and prints the share of differing predictions beside
the promise, the verdict and the result of ``comparable``, without and with a probe, and with the
votes of both labs on 64 of the rows. A way that breaks the promise and is certified and "yes" to
the end fails the script.

Run ``python benchmarks/two_labs.py [--pairs 20] [--only WORD] [--store FILE]``; with a file it goes
on where an earlier run ended.
"""

import argparse
import io
import sys
import unicodedata
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from _pairs import Outcome, add_arguments, outcome_of, run
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline

from replearn import PointwiseReplicableClassifier
from replearn.checks.points import encode_probe
from replearn.tables.encoder import TableEncoder

RHO, FITS, ROWS, POINTS, PROBED = 0.2, 60, 2500, 300, 64
TOWNS = ("Köln", "Jena", "Łódź", "Ulm")


# -- the raw table, and a learner that takes it as it comes ----------------------------------------
def raw_rows(rng: np.random.Generator, n: int) -> tuple[pd.DataFrame, Any]:
    """Return persons as a database holds them, and labels that hardly depend on them."""
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D")
    town = rng.choice(np.array([*TOWNS, None], dtype=object), n, p=[0.4, 0.3, 0.15, 0.1, 0.05])
    X = pd.DataFrame(
        {
            "age": np.round(18 + rng.gamma(4, 8, n), 1),
            "income": rng.lognormal(3, 0.5, n),
            "member": rng.random(n) < 0.5,
            "since": days,
            "town": town,
            "visits": rng.poisson(3, n),
        }
    )
    return X, (rng.random(n) < 0.4 + 0.0005 * X["age"]).astype(int)


BASE = make_pipeline(TableEncoder(), GaussianNB())

# -- ways to differ --------------------------------------------------------------------------------
Cells = Callable[[pd.DataFrame], Any]
Sample = Callable[[pd.DataFrame, Any], tuple[pd.DataFrame, Any]]


def as_is(X: pd.DataFrame) -> Any:
    """Leave a table as it is."""
    return X


@dataclass(frozen=True)
class Way:
    """What one lab does otherwise: to cells, to the rows of its sample, to its labels."""

    name: str
    cells: Cells = as_is
    both: Cells = as_is  # what both labs do to their cells, before
    sample: Sample | None = None  # what this lab does to its rows
    rows: int = ROWS  # raw rows of this lab
    settings: tuple[tuple[str, Any], ...] = ()
    issued: Callable[[Any], Any] | None = None  # what happens to its certificate


def assign(**columns: Callable[[pd.DataFrame], Any]) -> Cells:
    """Return a change of some columns."""
    return lambda X: X.assign(**columns)


def texts(change: Callable[[str], str]) -> Cells:
    """Return a change of the texts."""
    return assign(town=lambda X: X["town"].map(change, na_action="ignore"))


def printed(form: str) -> Cells:
    """Return what a file with numbers in this form gives back."""
    return assign(income=lambda X: X["income"].map(lambda value: float(form % value)))


def parsed(X: pd.DataFrame) -> Any:
    """Write a CSV in full precision and read it as pandas does by default."""
    text = X[["income"]].to_csv(index=False)
    return X.assign(income=pd.read_csv(io.StringIO(text))["income"].to_numpy())


def day_and_month(X: pd.DataFrame) -> Any:
    """Read 03/04 as the third of April where the other lab reads March."""
    turned = X["since"].map(lambda d: d.replace(day=d.month, month=d.day) if d.day <= 12 else d)
    return X.assign(since=turned)


def times_of_day(X: pd.DataFrame) -> Any:
    """Have a time of day, as computed from another column."""
    return X.assign(since=X["since"] + pd.to_timedelta(np.floor(X["income"] * 1e4) % 86_400, "s"))


def with_categories(order: int) -> Cells:
    """Return a change to a categorical column with its categories in one order or the other."""
    return assign(town=lambda X: pd.Categorical(X["town"], categories=TOWNS[::order]))


def joined_twice(X: pd.DataFrame, y: Any) -> tuple[pd.DataFrame, Any]:
    """Have every tenth row twice."""
    rows = np.sort(np.r_[np.arange(len(y)), np.arange(0, len(y), 10)])[:ROWS]
    return X.iloc[rows], y[rows]


def without_twins(X: pd.DataFrame, y: Any) -> tuple[pd.DataFrame, Any]:
    """Drop rows with the town, visits and age of another one."""
    rows = np.flatnonzero(~X.duplicated(["town", "visits", "member"]).to_numpy())
    more = np.setdiff1d(np.arange(len(y)), rows)[: ROWS - len(rows)]
    rows = np.r_[rows, more][:ROWS]
    return X.iloc[rows], y[rows]


def chosen(which: Callable[[pd.DataFrame], Any]) -> Sample:
    """Keep the rows of a condition."""

    def keep(X: pd.DataFrame, y: Any) -> tuple[pd.DataFrame, Any]:
        rows = np.flatnonzero(which(X))[:ROWS]
        return X.iloc[rows], y[rows]

    return keep


def by_income(X: pd.DataFrame, y: Any) -> tuple[pd.DataFrame, Any]:
    """Sort the file."""
    order = np.argsort(X["income"].to_numpy())
    return X.iloc[order], y[order]


def other_version(certificate: Any) -> Any:
    """Issue the certificate with another scikit-learn."""
    versions = {**certificate.identity.versions, "scikit-learn": "0.1"}
    return replace(certificate, identity=replace(certificate.identity, versions=versions))


NUMBERS = ["age", "income", "visits"]
WAYS = (
    Way("nothing differs"),
    Way("decimal comma, read as text", assign(income=lambda X: X["income"].map("{:,.3f}".format))),
    Way("decimal comma, read as thousands", assign(income=lambda X: np.floor(X["income"] * 1e3))),
    Way("time zone of dates", assign(since=lambda X: X["since"] - pd.Timedelta(hours=2))),
    Way(
        "time zone of times of day",
        assign(since=lambda X: X["since"] - pd.Timedelta(hours=2)),
        times_of_day,
    ),
    Way("day and month exchanged", day_and_month),
    Way("order of categories", with_categories(-1), with_categories(1)),
    Way("floats printed with 6 decimals", printed("%.6f")),
    Way("floats through a spreadsheet (15 digits)", printed("%.15g")),
    Way("floats through CSV, default parser", parsed),
    Way("order of columns", lambda X: X[X.columns[::-1]]),
    Way("index saved as a column", lambda X: X.assign(index=np.arange(len(X)))[["index", *X]]),
    Way("header in capitals", lambda X: X.rename(columns={"age": "Age"})),
    Way("header with a space", lambda X: X.rename(columns={"age": "age "})),
    Way("rows doubled by a join", sample=joined_twice),
    Way("file sorted", sample=by_income),
    Way("one lab dropped near twins", sample=without_twins, rows=4 * ROWS),
    Way("other library version", issued=other_version),
    Way("other number of threads", settings=(("n_jobs", 2),)),
    Way("float32", assign(income=lambda X: X["income"].astype(np.float32))),
    Way("months, not years", assign(age=lambda X: 12 * X["age"])),
    Way("text in the form NFD", texts(lambda text: unicodedata.normalize("NFD", text))),
    Way("whole numbers as floats", assign(visits=lambda X: X["visits"].astype(float))),
    Way("missing cells spelled NA", assign(town=lambda X: X["town"].fillna("NA"))),
    Way(
        "missing numbers spelled -999",
        assign(age=lambda X: X["age"].fillna(-999)),
        assign(age=lambda X: X["age"].where(np.floor(X["income"] * 1e4) % 10 > 0)),
    ),
    Way("truth values as 0 and 1", assign(member=lambda X: X["member"].astype(int))),
    Way("truth values as texts", assign(member=lambda X: X["member"].astype(str))),
    Way("labels exchanged", sample=lambda X, y: (X, 1 - y)),
    Way("labels as texts", sample=lambda X, y: (X, np.where(y == 1, "yes", "no"))),
    Way("labels as floats", sample=lambda X, y: (X, y.astype(float))),
    Way("spaces after texts", texts(lambda text: text + " ")),
    Way("texts in capitals", texts(str.upper)),
    Way("only members", sample=chosen(lambda X: X["member"]), rows=3 * ROWS),
    Way("only above 30", sample=chosen(lambda X: X["age"] > 30), rows=3 * ROWS),
    Way("another key", settings=(("shared_key", -1),)),
    Way("another parameter", settings=(("estimator__gaussiannb__var_smoothing", 0.1),)),
    Way("fewer rows", sample=lambda X, y: (X[:2000], y[:2000])),
)


def measure(way: Way, pair: int) -> Outcome:
    """Train two labs on fresh samples and compare their predictions."""
    rng = np.random.default_rng([pair, 7])
    fresh = way.both(raw_rows(rng, POINTS)[0])
    one = _train(Way("plain", both=way.both), rng, pair)
    two = _train(way, rng, pair)
    rate = float(np.mean(one.predict(fresh) != two.predict(way.cells(fresh))))
    certificates = [one.certificate_, two.certificate_]
    if way.issued is not None:
        certificates[1] = way.issued(certificates[1])
    shared = (fresh[:PROBED], way.cells(fresh[:PROBED]))
    probes = _probes(certificates, shared)
    return outcome_of(certificates[0].rho, rate, certificates, probes)


def _train(way: Way, rng: np.random.Generator, pair: int) -> Any:
    X, y = raw_rows(rng, way.rows)
    X = way.both(X)
    if way.sample is not None:
        X, y = way.sample(X, y)
    model = PointwiseReplicableClassifier(clone(BASE), rho=RHO, max_fits=FITS, shared_key=pair)
    return model.set_params(**dict(way.settings)).fit(way.cells(X), y)


def _probes(certificates: Any, rows: Any) -> Any:
    """Return both probes; None where the columns are others."""
    try:
        return tuple(encode_probe(run, X) for run, X in zip(certificates, rows, strict=True))
    except ValueError:
        return None


def main() -> int:
    """Print the table; 1 if a way is broken and silent."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser, pairs=20)
    warnings.simplefilter("ignore")
    return run({way.name: partial(measure, way) for way in WAYS}, parser.parse_args())


if __name__ == "__main__":
    sys.exit(main())
