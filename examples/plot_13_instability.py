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
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from replearn import audit

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
for name in models:
    flips, auc = (result.table.get(what, name) for what in ("flips", "AUC"))
    print(f"{name}: AUC {auc.number()}, {flips} of the diagnoses change")

# %%
# ``risks`` gives the estimated risks by both runs of each pair. Each row below is one model: risk
# after retraining against the risk before, how far the risk of each patient moves, and how often
# her diagnosis changes.
fig, axes = plt.subplots(2, 3, figsize=(12, 7))
for line, name in zip(axes, models, strict=True):
    before, after = result.risks(name, event="malignant")
    risk = before.mean(axis=0)
    line[0].plot(before.ravel(), after.ravel(), ".", color="0.6", alpha=0.3, markersize=3)
    line[0].plot([0, 1], [0, 1], color="C0")
    line[0].set(title=name, xlabel="estimated risk", ylabel="after retraining")
    line[1].plot(risk, np.abs(after - before).mean(axis=0), ".", color="0.6")
    line[1].set(title=name, xlabel="estimated risk", ylabel="mean absolute prediction error")
    changed = ((before > 0.5) != (after > 0.5)).mean(axis=0)
    line[2].plot(risk, changed, ".", color="0.6")
    line[2].set(title=name, xlabel="estimated risk", ylabel="classification instability index")
fig.tight_layout()

# %%
# What the doctor does with it: calibration of each retrained model, and the net benefit of a biopsy
# at each threshold.
truth = tumour[result.test] == "malignant"
thresholds = np.linspace(0.05, 0.9, 18)
fig, axes = plt.subplots(2, 2, figsize=(9, 7))
for line, name in zip(axes, models, strict=True):
    for risk in result.risks(name, event="malignant")[1]:
        observed, predicted = calibration_curve(truth, risk, n_bins=5)
        line[0].plot(predicted, observed, color="0.45", alpha=0.5, linewidth=0.8)
        treated = risk >= thresholds[:, np.newaxis]
        odds = thresholds / (1 - thresholds)
        benefit = (treated & truth).mean(axis=1) - odds * (treated & ~truth).mean(axis=1)
        line[1].plot(thresholds, benefit, color="0.45", alpha=0.5, linewidth=0.8)
    line[0].set(title=name, xlabel="estimated risk", ylabel="observed share")
    line[1].set(title=name, xlabel="decision threshold", ylabel="net benefit")
fig.tight_layout()

# %%
# The patients whose diagnosis changes most often.
rows = result.row_flips("tree")
most = np.argsort(-rows["frequency"])[:5]
for index in most:
    print(f"patient {rows['row'][index]}: {rows['frequency'][index]:.0%} of the retrainings")
