"""
Keep predictions across retraining
==================================

A decision tree is trained in January and again in February, each time on a fresh sample of the
same flights. How many of the flights get another prediction, and how many when the tree is
wrapped?
"""

# %%
# Real flights, three disjoint samples: January's, February's, and the flights to predict.
import matplotlib.pyplot as plt
import numpy as np
from _flights import NUMBERS, load_flights
from sklearn.tree import DecisionTreeClassifier

from replearn import PointwiseReplicableClassifier

X, y = load_flights(22_000)
X = X[NUMBERS]
january, february, new = slice(0, 10_000), slice(10_000, 20_000), slice(20_000, 22_000)

# %%
# Plain trees: train twice, compare.
tree = DecisionTreeClassifier(min_samples_leaf=5, random_state=0)
plain = [tree.fit(X[part], y[part]).predict(X[new]) for part in (january, february)]

# %%
# Wrapped trees share a key. Nothing else is shared between the two months.
wrapped = [
    PointwiseReplicableClassifier(tree, rho=0.1, max_fits=176, shared_key="flights").fit(
        X[part], y[part]
    )
    for part in (january, february)
]
ours = [model.predict(X[new]) for model in wrapped]


def flips(pair):
    return np.mean(pair[0] != pair[1])


for name, pair in {"single tree": plain, "replicable": ours}.items():
    accuracy = np.mean([np.mean(answer == y[new]) for answer in pair])
    print(f"{name:12} flips {flips(pair):.1%}, accuracy {accuracy:.1%}")
print(f"majority     flips 0.0%, accuracy {np.mean(y[new] == 'on time'):.1%}")

# %%
# The promise was stated before February: at most 10 % per flight.
print(wrapped[0].certificate_)

# %%
# Who might flip at the next retraining? Most flights are firm, a few are not.
chance = np.sort(wrapped[1].flip_probability(X[new]))
fig, ax = plt.subplots(figsize=(6, 3.5))
ax.plot(np.linspace(0, 100, len(chance)), chance)
ax.set(
    xlabel="flights, from firm to unsure (%)", ylabel="estimated flip probability", ylim=(0, 0.55)
)
ax.axhline(0.1, color="0.6", linestyle="--", linewidth=1)
fig.tight_layout()
