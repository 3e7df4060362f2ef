"""
Points that occur often
=======================

Which routes out of New York are "frequent"? A fixed cut is a coin toss for the routes next to it:
two samples disagree about them half of the time. A threshold that is drawn per route and shared
by both samples has no such routes.
"""

# %%
# Carrier, origin and destination of real flights.
from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
from _flights import load_flights

from replearn.heavy import find_heavy_hitters

X, _ = load_flights(300_000)
routes = X[["carrier", "origin", "dest"]]
N_PAIRS, ROWS, CUT = 30, 20_000, 0.01


def by_cut(part):
    shares = part.value_counts(normalize=True)
    return set(shares.index[shares >= CUT])


def by_key(part, key):
    found = find_heavy_hitters(part, nu=CUT, key=key)
    return set(found.values.itertuples(index=False, name=None))


# %%
# Thirty pairs of samples, a fresh key for each pair: in how many pairs is a route in one list
# only?
fixed, shared = Counter(), Counter()
for pair in range(N_PAIRS):
    rows = np.random.default_rng(pair).permutation(len(routes))
    first, second = routes.iloc[rows[:ROWS]], routes.iloc[rows[ROWS : 2 * ROWS]]
    fixed.update(by_cut(first) ^ by_cut(second))
    shared.update(by_key(first, f"key {pair}") ^ by_key(second, f"key {pair}"))
for name, count in {"fixed cut": fixed, "shared thresholds": shared}.items():
    worst = count.most_common(1)[0][1]
    print(
        f"{name:18} worst route: in one list only in {worst} of {N_PAIRS} pairs; "
        f"{count.total() / N_PAIRS:.1f} routes per pair"
    )

# %%
# The shared rule names more routes (its thresholds reach below the cut) and disagrees about
# each of them rarely; the fixed cut is perfectly stable for most routes and a coin toss for a
# few.
print(find_heavy_hitters(routes.iloc[:ROWS], nu=CUT, key="key 0").certificate)

# %%
fig, ax = plt.subplots(figsize=(6, 3.6))
for name, count in {"fixed cut": fixed, "shared thresholds": shared}.items():
    ax.plot(
        np.arange(1, 41),
        [n / N_PAIRS for _, n in (count.most_common(40) + [("", 0)] * 40)[:40]],
        label=name,
    )
ax.set(xlabel="routes, least stable first", ylabel="share of pairs that disagree", ylim=(0, None))
ax.legend(frameon=False)
fig.tight_layout()
