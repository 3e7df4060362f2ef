"""
Retrain every month, keep the predictions
=========================================

Whoever still has last month's model can remember its scores and keep its predictions unless the
evidence is clear. Twelve retrainings on fresh samples of flights: how many predictions change, and
what does it cost?
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from _flights import NUMBERS, load_flights
from sklearn.tree import DecisionTreeClassifier

from replearn import IncumbentClassifier

X, y = load_flights(14_000)
X = X[NUMBERS].to_numpy(float)
months = 12
new = X[12_000:]
truth = y[12_000:]
base = DecisionTreeClassifier(min_samples_leaf=20, random_state=0)

# %%
# A chain: each month's model is trained on a thousand new rows, and knows the model in use.
settings = {
    "plain retraining": {"memory": 0.0, "band": 0.0},
    "band 0.1": {"memory": 0.0, "band": 0.1},
    "memory 0.5, band 0.1": {"memory": 0.5, "band": 0.1},
    "memory auto": {},  # the default: five more fits decide how much is remembered
}
predictions = {}
for name, options in settings.items():
    model = None
    for month in range(months):
        rows = slice(1000 * month, 1000 * (month + 1))
        model = IncumbentClassifier(base, model, **options).fit(X[rows], y[rows])
        predictions.setdefault(name, []).append(model.predict(new))
predictions = {name: np.array(found) for name, found in predictions.items()}

# %%
# Wrong predictions stay longer, too: accuracy tells whether it is worth it.
for name, found in predictions.items():
    flips = (found[1:] != found[:-1]).mean()
    ever = (found != found[0]).any(axis=0).mean()
    right = (found == truth).mean()
    print(f"{name}: {flips:5.1%} change per month, {ever:5.1%} ever change, accuracy {right:.1%}")

# %%
# How many flights have got another prediction than in the first month, at least once?
fig, ax = plt.subplots(figsize=(5.5, 3.6))
for name, found in predictions.items():
    ever = np.maximum.accumulate(found != found[0], axis=0).mean(axis=1)
    ax.plot(range(1, months + 1), 100 * ever, "o-", label=name)
ax.set(xlabel="month", ylabel="flights whose prediction has ever changed (%)", ylim=(0, None))
ax.legend()
fig.tight_layout()

# %%
# Why does a flight keep its prediction? ``explain`` says it, and ``history_`` lists the months.
print(model.explain(new[:3]))
print(model.history_[-1])
