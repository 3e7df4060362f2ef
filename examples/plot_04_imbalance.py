"""
Rare positives: never praise a constant
=======================================

Of all flights out of New York, 9 % arrive more than an hour late. A model that always answers "on
time" is 91 % accurate and never flips. Stability is worth something only beside recall and a score
that ranks.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from _flights import NUMBERS, load_flights
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score, roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replearn import PointwiseReplicableClassifier

X, label = load_flights(24_000, minutes=60)
X, y = X[NUMBERS].to_numpy(float), (label == "late").astype(int)
parts, new = (slice(0, 10_000), slice(10_000, 20_000)), slice(20_000, None)

# %%
# Three contenders. The last one trains its base learner with balanced class weights, so that a
# vote says more than "rare".


def logistic(**settings):
    return make_pipeline(StandardScaler(), LogisticRegression(**settings))


contenders = {
    "single fit": logistic(),
    "replicable": PointwiseReplicableClassifier(logistic(), max_fits=88, shared_key="rare"),
    "replicable, balanced": PointwiseReplicableClassifier(
        logistic(class_weight="balanced"), max_fits=88, shared_key="rare"
    ),
}
rows = []
for name, model in contenders.items():
    first, second = (model.fit(X[part], y[part]).predict(X[new]) for part in parts)
    score = model.predict_proba(X[new])[:, 1]
    rows.append(
        (
            name,
            np.mean(first != second),
            np.mean(second == y[new]),
            recall_score(y[new], second),
            roc_auc_score(y[new], score),
        )
    )
rows.append(("always on time", 0.0, np.mean(y[new] == 0), 0.0, 0.5))
print(f"{'':22}{'flips':>8}{'accuracy':>10}{'recall':>8}{'AUC':>7}")
for name, *numbers in rows:
    print("{:22}{:8.2%}{:10.1%}{:8.1%}{:7.3f}".format(name, *numbers))

# %%
# Flips against recall: the constant is the most stable of all, and useless.
fig, ax = plt.subplots(figsize=(6, 3.8))
for name, flips, _, recall, _ in rows:
    ax.plot(flips * 100, recall * 100, "o")
    ax.annotate(name, (flips * 100, recall * 100), textcoords="offset points", xytext=(6, 4))
ax.set(xlabel="flips between two trainings (%)", ylabel="late flights that are recognised (%)")
ax.margins(0.2)
fig.tight_layout()
