"""
Let another lab replicate you
=============================

Two hospitals want the same rule for "malignant". They share a key and a plan (two short texts),
no patient, and compare certificates at the end.
"""

# %%
# The protocol is written before anybody has data.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from replearn import Plan, PointwiseReplicableClassifier, plan

key = "breast cancer protocol, 2026-03-01"
protocol = plan(n=234, rho=0.3, classes=[0, 1]).to_json()
print(Plan.from_json(protocol))

# %%
# Each hospital has its own patients. What is learned from data, the scaler too, is inside.
X, y = load_breast_cancer(return_X_y=True, as_frame=True)
rows = np.random.default_rng(1).permutation(len(X))
parts = rows[:234], rows[234:468]
patients = X.iloc[rows[468:]]
base = make_pipeline(StandardScaler(), LogisticRegression())
hospitals = [
    PointwiseReplicableClassifier(base, plan=Plan.from_json(protocol), shared_key=key).fit(
        X.iloc[part], y.iloc[part]
    )
    for part in parts
]

# %%
# Do both runs belong together? `comparable` says yes, no, or unknown, with reasons.
comparison = hospitals[0].certificate_.comparable(hospitals[1].certificate_)
print(comparison)

# %%
# And do they agree?
first, second = (model.predict(patients) for model in hospitals)
truth = y.iloc[rows[468:]].to_numpy()
print(f"same prediction for {np.mean(first == second):.1%} of {len(patients)} new patients")
print(f"accuracy {np.mean(first == truth):.1%} and {np.mean(second == truth):.1%}")
print(f"always the most frequent class: {max(np.mean(truth), 1 - np.mean(truth)):.1%}")

# %%
# Each patient is a dot: the vote shares of the two hospitals differ a little, and both compare
# them with the same threshold of that patient.
shares = [model.explain(patients).score for model in hospitals]
same = first == second
fig, ax = plt.subplots(figsize=(4.5, 4.2))
ax.scatter(shares[0][same], shares[1][same], s=18, alpha=0.6, label="same prediction")
ax.scatter(shares[0][~same], shares[1][~same], s=36, color="C3", label="different")
ax.set(xlabel="vote share, first hospital", ylabel="vote share, second hospital")
ax.legend()
fig.tight_layout()
