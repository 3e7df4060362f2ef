"""
What can n rows promise?
========================

A plan depends on numbers only. Before any data exist it says what n rows can promise, and how
many rows a promise needs.
"""

# %%
import matplotlib.pyplot as plt

from replearn import plan
from replearn.auditing import FlipCurveDisplay, PromiseDisplay

for n in (500, 5_000, 50_000):
    print(plan(n=n, rho=0.1, classes=[0, 1]))
    print()

# %%
# The same as pictures: the promise over n, and the exact flip probability of one plan over all
# vote shares.
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
PromiseDisplay.from_sizes([500, 1_000, 5_000, 20_000, 100_000]).plot(left)
FlipCurveDisplay.from_plan(plan(n=20_000, rho=0.1, classes=[0, 1])).plot(right)
fig.tight_layout()
