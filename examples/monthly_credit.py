"""
A monthly credit model, start to end
====================================

Audit, threshold, fit, gate, deployment, and the next month. The guide
of the same name explains each step; its code is this file.
"""

# %%
import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from replearn import IncumbentClassifier, audit, compare, load, save
from replearn.auditing.gate import gates

SAVINGS = {"none": 0.6, "little": 0.2, "moderate": -0.4, "rich": -0.9}


def loans(month, n=6_000):
    """Return the loans of one month, with the right decisions."""
    rng = np.random.default_rng(month)
    table = pd.DataFrame(
        {
            "income": rng.lognormal(7.8, 0.5, n).round(-1),
            "amount": rng.lognormal(8.3, 0.7, n).round(-2),
            "duration": rng.choice([12, 24, 36, 48, 60], n),
            "employed_years": rng.gamma(2.0, 3.0, n).round(1),
            "savings": rng.choice(list(SAVINGS), n),
            "housing": rng.choice(["rent", "own", "free"], n),
        }
    )
    burden = np.log(table["amount"] / table["duration"] / table["income"])
    risk = 1.1 * burden + 0.02 * table["duration"] - 0.1 * table["employed_years"]
    risk += table["savings"].map(SAVINGS)
    defaulted = rng.random(n) < 1 / (1 + np.exp(-risk - 0.3))
    return table, np.where(defaulted, "refuse", "accept")


june, june_labels = loans(6)
encode = make_column_transformer(
    (OneHotEncoder(handle_unknown="ignore"), ["savings", "housing"]),
    remainder=StandardScaler(),
)
base = make_pipeline(encode, LogisticRegression())

# %%
contenders = ["baseline", "incumbent", "replicable"]
options = {"contenders": contenders, "n_pairs": 3, "shared_key": "an audit needs no secret"}
found = audit(base, june, june_labels, threshold=(1, 11), **options)
print(found)

# %%
costs = {"threshold": (1, 11), "pos_label": "refuse"}
in_use = IncumbentClassifier(base, **costs).fit(june, june_labels)

# %%
july, july_labels = loans(7)
applicants, _ = loans(0, 1_000)  # nobody knows their outcome yet
plain = IncumbentClassifier(base, **costs).fit(july, july_labels)  # it remembers nothing
candidate = IncumbentClassifier(base, incumbent=in_use).fit(july, july_labels)
for name, new_model in {"plain retraining": plain, "with the incumbent": candidate}.items():
    changes = compare(in_use, new_model, applicants)
    (gate,) = gates(changes, {"flips": 0.02})
    print(f"{name}: {changes.flips.value:.1%} change, gate {'passed' if gate.passed else 'FAILED'}")

# %%
save(candidate, "credit.replearn", notes={"month": "2026-07"})
served = load("credit.replearn")
assert (served.predict(applicants) == candidate.predict(applicants)).all()

# %%
august, august_labels = loans(8)
next_month = IncumbentClassifier(base, incumbent=served).fit(august, august_labels)
print(f"August: {compare(served, next_month, applicants).flips.value:.1%} change")
print(next_month.history_[-1]["changed"])
