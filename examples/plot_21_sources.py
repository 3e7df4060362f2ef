"""
Where do my flips come from?
============================

A retrained model predicts differently for some people. Is it the new data, the seed, the order of
the rows? And what if only 1 % of the rows are new, or if the world moves on? One audit says so.
"""

# %%
# Real flights of one year, and histogram boosting with early stopping on a random part of the rows,
# which is its default above 10,000 rows.
import matplotlib.pyplot as plt
import numpy as np
from _flights import NUMBERS, load_flights
from sklearn.ensemble import HistGradientBoostingClassifier

from replearn import audit

X, y = load_flights(8_000)
features = X[[name for name in NUMBERS if name not in ("month", "day")]]
day_of_year = 31 * X["month"] + X["day"]
boosting = HistGradientBoostingClassifier(early_stopping=True, max_iter=60)

# %%
# Besides new rows, the two runs of a pair differ in the seed, in the order of the rows, in few new
# rows, or in time: windows of half a year move on by a month, next to the same rows shuffled.
vary = ["new rows", "50 % new rows", "10 % new rows", "1 % new rows", "seed", "row order"]
result = audit(
    boosting,
    features,
    y,
    contenders=["baseline"],
    n_pairs=6,
    vary=vary,
    time=day_of_year,
    shared_key="audit-2026",
)
print(result)

# %%
# What changes although no row does; and one percent of new rows changes a good part of what a whole
# new sample changes.
names = ["", *result.design.vary[1:]]
rates = [result.flip_rate("baseline", name) for name in names]
values = np.array([rate.value for rate in rates])
reach = np.array([[rate.value - rate.lower, rate.upper - rate.value] for rate in rates]).T
fig, ax = plt.subplots(figsize=(7, 4))
ax.barh(result.design.vary, values, xerr=reach)
ax.set(xlabel="changed predictions")
ax.invert_yaxis()
fig.tight_layout()

# %%
# In time order, minus as many new rows at random: is there drift?
print(result.table.get("difference of flips", variant="next period"))

# %%
# What the finding advises: without early stopping, nothing changes on the same rows.
steady = HistGradientBoostingClassifier(early_stopping=False, max_iter=60)
kinds = {"contenders": ["baseline"], "vary": ["new rows", "seed", "row order"]}
again = audit(steady, features, y, n_pairs=6, shared_key="audit-2026", **kinds)
for name in ("", "seed", "row order"):
    print(name or "new rows", again.flip_rate("baseline", name))
