"""
Hand the unsure cases to a human
================================

Where a fresh sample might answer differently, give no answer. How many flights does that concern,
and how many flips are left?
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from _flights import NUMBERS, load_flights
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replearn import PointwiseReplicableClassifier

X, y = load_flights(26_000)
X = X[NUMBERS].to_numpy(float)
base = make_pipeline(StandardScaler(), LogisticRegression())
parts, new = (slice(0, 12_000), slice(12_000, 24_000)), slice(24_000, None)
models = [
    PointwiseReplicableClassifier(base, max_fits=176, shared_key="desk").fit(X[part], y[part])
    for part in parts
]

# %%
# ``fill_value`` marks what goes to the desk. Only the first model decides; the second shows what
# would have happened.
shares, left = [], []
for limit in (0.5, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01):
    answer = models[0].predict_or_abstain(X[new], limit, fill_value="?")
    firm = answer != "?"
    shares.append(1 - firm.mean())
    left.append(np.mean(answer[firm] != models[1].predict(X[new])[firm]))
    print(
        f"max_flip {limit:4}: {1 - firm.mean():5.1%} to the desk, {left[-1]:.2%} of the others flip"
    )

# %%
fig, ax = plt.subplots(figsize=(5.5, 3.6))
ax.plot(np.array(shares) * 100, np.array(left) * 100, "o-")
ax.set(xlabel="flights handed to a human (%)", ylabel="flips among the others (%)", ylim=(0, None))
fig.tight_layout()
