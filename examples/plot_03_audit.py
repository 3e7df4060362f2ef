"""
Audit the model you use today
=============================

Before anything is wrapped: how often does retraining change a prediction, for whom, and what
would stability cost? An audit trains pairs of models on fresh halves of your own rows and counts.
"""

# %%
# Real flights, a pipeline as one would write it.
import matplotlib.pyplot as plt
from _flights import NUMBERS, load_flights
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replearn import audit
from replearn.auditing.displays import AccuracyFlipsDisplay, RowFlipsDisplay

X, y = load_flights(6_000)
mine = make_pipeline(StandardScaler(), LogisticRegression())

# %%
# Six pairs are few; twenty or more are advised.
result = audit(mine, X[NUMBERS], y, n_pairs=6, shared_key="audit-2026")
print(result)

# %%
# Accuracy against flips: what is up and left is better.
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
AccuracyFlipsDisplay.from_result(result).plot(left)
RowFlipsDisplay.from_result(result).plot(right)
fig.tight_layout()

# %%
# ``result.save("report.html")`` writes the same as one file for people who do not read Python.
