"""
Rows that belong together
=========================

Three measurements of one patient are not three patients. Give ``groups=``: a group goes into one
block as a whole, and the promise is about fresh patients, not fresh rows.
"""

# %%
# 3,000 patients with three visits each; visits of a patient are nearly equal.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.tree import DecisionTreeClassifier

from replearn import PointwiseReplicableClassifier


def visits(seed, n_patients=3_000):
    rng = np.random.default_rng(seed)
    person = rng.normal(size=(n_patients, 3))
    ill = person[:, 0] + rng.normal(0, 1, n_patients) > 0
    patient = np.repeat(np.arange(n_patients), 3)
    return (
        person[patient] + rng.normal(0, 0.05, (len(patient), 3)),
        ill[patient].astype(int),
        patient,
    )


tree = DecisionTreeClassifier(min_samples_leaf=10)
new, truth, _ = visits(99, 700)

# %%
# Twice with groups, on fresh patients each time.
models = []
for seed in (1, 2):
    X, y, patient = visits(seed)
    model = PointwiseReplicableClassifier(tree, rho=0.15, max_fits=80, shared_key="visits")
    models.append(model.fit(X, y, groups=patient))
first, second = (model.predict(new) for model in models)
print(f"flips {np.mean(first != second):.1%}, accuracy {np.mean(first == truth):.1%}")
print(models[0].certificate_)

# %%
# The estimate of one fit against what the second sample did.
chance = models[0].flip_probability(new)
bins = np.quantile(chance, [0, 0.5, 0.75, 0.9, 1])
which = np.clip(np.searchsorted(bins, chance, side="right") - 1, 0, 3)
foreseen = [chance[which == b].mean() for b in range(4)]
seen = [np.mean((first != second)[which == b]) for b in range(4)]
fig, ax = plt.subplots(figsize=(4.5, 4))
ax.plot([0, 0.4], [0, 0.4], color="0.7")
ax.plot(foreseen, seen, "o")
ax.set(xlabel="estimated by the first fit", ylabel="flipped at the second")
fig.tight_layout()
