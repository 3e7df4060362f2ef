"""
Retrain every month, keep the answers
=====================================

Who still has last month's model can keep its answers unless the new evidence is clear. Twelve
retrainings on fresh samples of flights: how many answers change, and what does it cost?
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from _flights import NUMBERS, load_flights
from sklearn.tree import DecisionTreeClassifier

from replearn import IncumbentClassifier

X, y = load_flights(14_000)
X = X[NUMBERS].to_numpy(float)
months, (new, truth) = 12, (X[12_000:], y[12_000:])
base = DecisionTreeClassifier(min_samples_leaf=20, random_state=0)

# %%
# A chain: each month's model is trained on a thousand new rows, and knows the model in use.
answers = {}
for band in (0.0, 0.1, 0.2):
    model = None
    for month in range(months):
        rows = slice(1000 * month, 1000 * (month + 1))
        model = IncumbentClassifier(base, model, band=band).fit(X[rows], y[rows])
        answers.setdefault(band, []).append(model.predict(new))
answers = {band: np.array(told) for band, told in answers.items()}

# %%
# A band of 0 is plain retraining. Wrong answers stay longer, too: accuracy tells whether it is
# worth it.
for band, told in answers.items():
    flips = (told[1:] != told[:-1]).mean()
    ever = (told != told[0]).any(axis=0).mean()
    right = (told == truth).mean()
    print(
        f"band {band}: {flips:5.1%} change per month, {ever:5.1%} ever change, accuracy {right:.1%}"
    )

# %%
# How many flights have got another answer than in the first month, at least once?
fig, ax = plt.subplots(figsize=(5.5, 3.6))
for band, told in answers.items():
    ever = np.maximum.accumulate(told != told[0], axis=0).mean(axis=1)
    ax.plot(range(1, months + 1), 100 * ever, "o-", label=f"band {band}")
ax.set(xlabel="month", ylabel="flights whose answer has ever changed (%)", ylim=(0, None))
ax.legend()
fig.tight_layout()

# %%
# Why does a flight keep its answer? ``explain`` says it.
print(model.explain(new[:3]))
