"""How often is a table without a fitted cut called winsorised? Fresh seeds, and real columns.

A cut at the sample's own quantiles leaves equally many cells at both ends of every column; limits
from elsewhere (a plausible range, a sensor) leave counts of chance, which may be equal by chance.
The rule was chosen on a simulation; here are its false alarms on others, and on real tables: as
they are, and cut at limits that were taken from other rows.

    python benchmarks/winsorising.py [--tables 4000] [--data DIR]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from honesty_ordinary import SETS
from replearn.binding.sample import preprocessing_mark

DRAW = {
    "normal": lambda rng, n: rng.normal(50, 10, n),
    "lognormal": lambda rng, n: rng.lognormal(3, 0.7, n),
    "gamma": lambda rng, n: rng.gamma(2, 8, n),
    "uniform": lambda rng, n: rng.uniform(0, 100, n),
}


def cut_alarm(X):
    return "winsorising" in (preprocessing_mark(X) or "")


def cut(X, below, above):
    """Cut at limits that come from elsewhere."""
    return np.clip(X, below, above)


def simulated(tables, n, columns, share):
    """Alarms among fresh tables of mixed columns, cut at quantiles of a population sample."""
    kinds = list(DRAW.values())
    far = np.random.default_rng([2026, 11, n, columns])
    large = np.column_stack([kinds[j % 4](far, 200_000) for j in range(columns)])
    limits = np.quantile(large, [share, 1 - share], axis=0)
    found = [0, 0, 0]
    for table in range(tables):
        rng = np.random.default_rng([table, 31_337, n, columns])
        X = np.column_stack([kinds[j % 4](rng, n) for j in range(columns)])
        own = np.quantile(X, [share, 1 - share], axis=0)
        for place, Y in enumerate((X, cut(X, *limits), cut(X, *own))):
            found[place] += cut_alarm(Y)
    return [count / tables for count in found]


def real(data, tables, size):
    """Alarms among random parts of real tables, as they are and cut at limits of other rows."""
    plain = limited = total = 0
    for name in SETS:
        frame = pd.read_csv(data / f"{name}.csv.gz").select_dtypes("number").astype(float)
        values = frame.to_numpy()[np.isfinite(frame.to_numpy()).all(axis=1)]
        if values.shape[1] < 2 or len(values) < 2 * size:
            continue
        for table in range(tables):
            order = np.random.default_rng([table, 77]).permutation(len(values))
            mine, others = values[order[:size]], values[order[size:]]
            plain += cut_alarm(mine)
            limited += cut_alarm(cut(mine, *np.quantile(others, [0.01, 0.99], axis=0)))
            total += 1
    return plain, limited, total


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=4000)
    parser.add_argument("--data", type=Path)
    args = parser.parse_args()
    print("| rows | columns | cut at | tables | as they are | foreign limits | own quantiles |")
    print("|--:|--:|--:|--:|--:|--:|--:|")
    for n, columns, share, part in (
        (500, 2, 0.05, 1),
        (2500, 2, 0.01, 1),
        (2500, 3, 0.01, 4),
        (10_000, 2, 0.01, 10),
    ):
        rates = simulated(args.tables // part, n, columns, share)
        cells = " | ".join(f"{rate:.2%}" for rate in rates)
        print(f"| {n} | {columns} | {share:g} | {args.tables // part} | {cells} |", flush=True)
    if args.data is not None:
        plain, limited, total = real(args.data, 100, 2500)
        print(
            f"real columns, parts of 2,500 rows: {plain} of {total} as they are, "
            f"{limited} of {total} cut at limits of other rows"
        )


if __name__ == "__main__":
    main()
