"""
One fit foresees its own flips
==============================

``flip_probability`` estimates, from a single training, how likely a fresh sample would answer
differently. Here the truth is known: we train on twelve fresh samples and count.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression

from replearn import PointwiseReplicableClassifier


def sample(seed, n=6_000):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    return X, (X @ [1, 0.5, -0.5, 0.25] + rng.logistic(0, 1, n) > 0).astype(int)


people, _ = sample(0, 1_500)
models = [
    PointwiseReplicableClassifier(LogisticRegression(), max_fits=88, shared_key="foresee").fit(
        *sample(seed)
    )
    for seed in range(1, 13)
]
answers = np.array([model.predict(people) for model in models])

# %%
# Probability that two of the twelve disagree, per person, beside the estimate of the first
# model alone.
ones = answers.sum(axis=0)
pairs = len(models) * (len(models) - 1) / 2
seen = ones * (len(models) - ones) / pairs
foreseen = models[0].flip_probability(people)
order = np.argsort(foreseen)
groups = np.array_split(order, 12)

fig, ax = plt.subplots(figsize=(4.8, 4.2))
ax.plot([0, 0.5], [0, 0.5], color="0.7")
ax.plot([foreseen[g].mean() for g in groups], [seen[g].mean() for g in groups], "o-")
ax.set(xlabel="flip probability from one fit", ylabel="measured over twelve fits")
fig.tight_layout()
print(f"mean: foreseen {foreseen.mean():.2%}, measured {seen.mean():.2%}")
