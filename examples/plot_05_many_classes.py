"""
More than two classes
=====================

Ten handwritten digits. With several classes the shared random numbers decide between the classes
that got votes; the certificate asks for more blocks.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from replearn import PointwiseReplicableClassifier
from replearn.exceptions import NotCertifiedWarning

X, y = load_digits(return_X_y=True)
rows = np.random.default_rng(0).permutation(len(X))
parts, new = (rows[:700], rows[700:1400]), rows[1400:]
base = make_pipeline(MinMaxScaler(), LogisticRegression(C=10))

# %%
# 700 images cannot promise much for ten classes, and the library says so before and after the
# fit.
models = []
with warnings.catch_warnings():
    warnings.simplefilter("ignore", NotCertifiedWarning)
    for part in parts:
        model = PointwiseReplicableClassifier(base, n_blocks=10, max_fits=40, shared_key="digits")
        models.append(model.fit(X[part], y[part]))
print(models[0].certificate_)

# %%
# Measured: single fits against wrapped ones.
single = [base.fit(X[part], y[part]).predict(X[new]) for part in parts]
ours = [model.predict(X[new]) for model in models]
for name, (first, second) in {"single fit": single, "replicable": ours}.items():
    print(
        f"{name:12} flips {np.mean(first != second):.1%}, accuracy {np.mean(second == y[new]):.1%}"
    )

# %%
# The images whose label is least firm.
chance = models[0].flip_probability(X[new])
fig, axes = plt.subplots(1, 6, figsize=(8, 1.8))
for ax, i in zip(axes, np.argsort(-chance)[:6], strict=True):
    ax.imshow(X[new][i].reshape(8, 8), cmap="gray_r")
    ax.set_title(f"{ours[0][i]}, {chance[i]:.0%}", fontsize=9)
    ax.axis("off")
fig.tight_layout()
