"""
A file larger than memory, on a Dask cluster
============================================

Blocks are trained from files, one task each, on this machine or on many. The models are the same,
bit for bit, and a fit that is interrupted goes on where it stopped.
"""

# %%
# A file of 40,000 rows stands for one that does not fit. In practice it is a folder of Parquet
# files on storage that all workers see.
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import polars as pl
from distributed import Client
from sklearn.linear_model import LogisticRegression

from replearn import PointwiseReplicableClassifier
from replearn.outofcore import fit_files, predict_files

place = Path(tempfile.mkdtemp())
rng = np.random.default_rng(0)
X = rng.normal(size=(40_000, 4))
rows = pl.DataFrame({f"x{column}": X[:, column] for column in range(4)})
rows = rows.with_columns(y=pl.Series(X[:, 0] + X[:, 1] + rng.normal(size=40_000) > 0))
rows.write_parquet(place / "rows.parquet", row_group_size=5_000)


def learner():
    return PointwiseReplicableClassifier(LogisticRegression(), max_fits=88, shared_key="trial-2026")


# %%
# A cluster in this process, for the example; an address such as ``"tcp://host:8786"`` will do.
with Client(n_workers=2, processes=False, dashboard_address=":0") as client:
    there = fit_files(learner(), place / "rows.parquet", "y", folder=place / "work", client=client)
print(there.certificate_)

# %%
# The same fit in memory gives the same votes.
here = learner().fit(rows.drop("y"), rows["y"].to_numpy())
new = rows.drop("y").head(2_000)
print("same votes:", bool((here.predict_proba(new) == there.predict_proba(new)).all()))

# %%
# Predictions go from file to file, too. Where a fresh sample would often predict differently is
# where the vote is close.
answers = ("predict_proba", "flip_probability")
predict_files(there, place / "rows.parquet", place / "answers.parquet", methods=answers)
answered = pl.read_parquet(place / "answers.parquet").head(2_000)

fig, ax = plt.subplots(figsize=(6, 4))
ax.scatter(answered["proba_True"], answered["flip_probability"], s=4)
ax.set_xlabel("share of the blocks that vote for True")
ax.set_ylabel("probability that a fresh sample flips it")
fig.tight_layout()
plt.show()
