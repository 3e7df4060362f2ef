"""
Instability plots of a clinical prediction model
================================================

Guidelines for clinical prediction models ask how much the estimated risk of a patient would move
had the model been developed on other patients. These are the five plots that reviewers know
(Riley and Collins 2023), for a diagnosis of breast tumours.
"""

# %%
# 569 patients; the risk is that of a malignant tumour. Each pair of runs learns from two halves of
# the rows that are not looked at, as two hospitals would.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn import audit
from replearn.auditing import InstabilityDisplay

table = load_breast_cancer()
tumour = np.where(table.target == 0, "malignant", "benign")
models = {
    "tree": DecisionTreeClassifier(min_samples_leaf=10, random_state=0),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
}
result = audit(models, table.data, tumour, n_pairs=20, shared_key="ward-3")

# %%
# What most papers report is accuracy and AUC. The tree's AUC of 0.95 sounds good; one patient in
# eight gets another diagnosis from it when it is trained again.
print(result.frame()[["contender", "accuracy", "flip_rate", "auc"]].round(3))

# %%
# Estimated risk after retraining against the risk before, how far the risk of each patient moves,
# and how often her diagnosis changes.
fig, axes = plt.subplots(2, 3, figsize=(12, 7))
for line, name in zip(axes, models, strict=True):
    for ax, kind in zip(line, ("prediction", "mape", "classification"), strict=True):
        InstabilityDisplay.from_result(result, name, kind=kind, event="malignant").plot(ax)
        ax.set_title(name)
fig.tight_layout()

# %%
# What the doctor does with it: calibration, and net benefit of a biopsy at each threshold.
fig, axes = plt.subplots(2, 2, figsize=(9, 7))
for line, name in zip(axes, models, strict=True):
    for ax, kind in zip(line, ("calibration", "decision"), strict=True):
        InstabilityDisplay.from_result(result, name, kind=kind, event="malignant").plot(ax)
        ax.set_title(name)
fig.tight_layout()

# %%
# Every display gives its numbers back.
display = InstabilityDisplay.from_result(result, "tree", kind="classification", event="malignant")
frame = display.frame()
print(frame.sort_values("index", ascending=False).head().round(3))
