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
from replearn.auditing import NewRowsDisplay

X, y = load_flights(8_000)
features = X[[name for name in NUMBERS if name not in ("month", "day")]]
day_of_year = 31 * X["month"] + X["day"]
boosting = HistGradientBoostingClassifier(early_stopping=True, max_iter=60)

# %%
# The baseline is trained again on the same rows with another seed, another order of rows or
# columns, another number of threads; pairs of samples share all but 1 %, 10 % or 50 % of their
# rows; and windows of half a year move on by a month, next to the same rows shuffled.
result = audit(
    boosting,
    features,
    y,
    contenders=["baseline"],
    n_pairs=6,
    new_rows=[0.01, 0.1, 0.5, 1.0],
    time=day_of_year,
    shared_key="audit-2026",
)
print(result)

# %%
# Left: what changes although no row does. Right: one percent of new rows changes a good part of
# what a whole new sample changes.
fig, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8))
names = [source.name for source in result.sources]
rates = [*map(result.source_rate, names), result.flip_rate("baseline")]
values = np.array([rate.value for rate in rates])
reach = np.array([[rate.value - rate.lower, rate.upper - rate.value] for rate in rates]).T
left.barh([*names, "new rows"], values, xerr=reach)
left.set(xlabel="changed predictions")
left.invert_yaxis()
NewRowsDisplay.from_result(result).plot(right)
fig.tight_layout()

# %%
# In time order and shuffled: the numbers of each retraining.
for step in result.report.in_time_order.retrainings:
    print(step.trained_until, step.changed, f"shuffled {step.shuffled:.1%}")

# %%
# What the finding advises: without early stopping, nothing changes on the same rows.
steady = HistGradientBoostingClassifier(early_stopping=False, max_iter=60)
again = audit(steady, features, y, contenders=["baseline"], n_pairs=6, shared_key="audit-2026")
print(again.source_rate("seed"), again.source_rate("row order"), again.flip_rate("baseline"))
