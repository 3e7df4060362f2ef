"""
Rare positives: never praise a constant
=======================================

With 6 % positives a model that always answers "negative" is 94 % accurate and never flips.
Stability is worth something only beside recall and a score that ranks.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import recall_score, roc_auc_score

from replearn import PointwiseReplicableClassifier

X, y = make_classification(24_000, n_informative=6, weights=[0.94], flip_y=0.02, random_state=3)
parts, new = (slice(0, 10_000), slice(10_000, 20_000)), slice(20_000, None)

# %%
# Three contenders. The last one trains its base learner with balanced class weights, so that a
# vote says more than "rare".
contenders = {
    "single fit": LogisticRegression(),
    "replicable": PointwiseReplicableClassifier(
        LogisticRegression(), max_fits=88, shared_key="rare"
    ),
    "replicable, balanced": PointwiseReplicableClassifier(
        LogisticRegression(class_weight="balanced"), max_fits=88, shared_key="rare"
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
rows.append(("always negative", 0.0, np.mean(y[new] == 0), 0.0, 0.5))
print(f"{'':22}{'flips':>8}{'accuracy':>10}{'recall':>8}{'AUC':>7}")
for name, *numbers in rows:
    print("{:22}{:8.2%}{:10.1%}{:8.1%}{:7.3f}".format(name, *numbers))

# %%
# Flips against recall: the constant is the most stable of all, and useless.
fig, ax = plt.subplots(figsize=(6, 3.8))
for name, flips, _, recall, _ in rows:
    ax.plot(flips * 100, recall * 100, "o")
    ax.annotate(name, (flips * 100, recall * 100), textcoords="offset points", xytext=(6, 4))
ax.set(xlabel="flips between two trainings (%)", ylabel="positives that are recognised (%)")
ax.margins(0.2)
fig.tight_layout()
