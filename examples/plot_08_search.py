"""
Choose hyperparameters that will not change
===========================================

``GridSearchCV`` on two fresh samples often picks two configurations, because several are about
equally good. ``ReplicableSearchCV`` breaks near-ties by shared random numbers.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from _flights import NUMBERS, load_flights
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

from replearn import ReplicableSearchCV
from replearn.exceptions import NotCertifiedWarning

X, y = load_flights(30_000)
X = X[NUMBERS].to_numpy(float)
grid = {"max_depth": [3, 4, 5, 6, 8], "min_samples_leaf": [5, 20, 80]}
tree = DecisionTreeClassifier(random_state=0)

# %%
# Eight pairs of fresh samples of 1,500 rows each: how often do both choose the same
# configuration?
same = {"GridSearchCV": 0, "ReplicableSearchCV": 0}
score = {name: [] for name in same}
test = slice(0, 1_000)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", NotCertifiedWarning)  # a certificate takes many more rows
    for pair in range(8):
        start = 1_000 + pair * 3_000
        parts = slice(start, start + 1_500), slice(start + 1_500, start + 3_000)
        searches = {
            "GridSearchCV": GridSearchCV(tree, grid, cv=3),
            "ReplicableSearchCV": ReplicableSearchCV(tree, grid, cv=3, shared_key=f"search {pair}"),
        }
        for name, search in searches.items():
            chosen = []
            for part in parts:
                chosen.append(search.fit(X[part], y[part]).best_params_)
                score[name].append(search.score(X[test], y[test]))
            same[name] += chosen[0] == chosen[1]
for name in same:
    print(
        f"{name:20} same configuration in {same[name]} of 8 pairs, "
        f"accuracy {np.mean(score[name]):.1%}"
    )

# %%
fig, ax = plt.subplots(figsize=(5, 2.4))
ax.barh(list(same), list(same.values()))
ax.set(xlabel="pairs of samples with the same configuration (of 8)", xlim=(0, 8))
fig.tight_layout()
