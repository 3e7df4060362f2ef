"""
Preprocessing goes inside
=========================

A scaler that is fitted in front of the classifier moves every point at every retraining, so that
nobody's threshold stays the same. The library notices the mark that such a scaler leaves, and
refuses to certify.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from _flights import NUMBERS, load_flights
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replearn import PointwiseReplicableClassifier

X, y = load_flights(14_000)
X = X[NUMBERS].to_numpy(float)
parts, new = (slice(0, 6_000), slice(6_000, 12_000)), slice(12_000, None)


def wrap(base):
    return PointwiseReplicableClassifier(base, max_fits=88, shared_key="inside")


# %%
# Right: the scaler is part of the estimator, and every block fits its own.
right = [
    wrap(make_pipeline(StandardScaler(), LogisticRegression())).fit(X[part], y[part])
    for part in parts
]
first, second = (model.predict(X[new]) for model in right)
print(
    f"inside:  flips {np.mean(first != second):.1%}, certified: {right[0].certificate_.certified}"
)

# %%
# Wrong: each lab scales first.
predictions = []
for part in parts:
    scaler = StandardScaler().fit(X[part])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = wrap(LogisticRegression()).fit(scaler.transform(X[part]), y[part])
    predictions.append(model.predict(scaler.transform(X[new])))
print(
    f"outside: flips {np.mean(predictions[0] != predictions[1]):.1%}, "
    f"certified: {model.certificate_.certified}"
)
print(caught[0].message)

# %%
flips = [np.mean(first != second), np.mean(predictions[0] != predictions[1])]
fig, ax = plt.subplots(figsize=(5, 2.6))
ax.barh(["scaler outside", "scaler inside"], [100 * flips[1], 100 * flips[0]], color=["C3", "C0"])
ax.set(xlabel="predictions that differ between two labs (%)")
fig.tight_layout()
