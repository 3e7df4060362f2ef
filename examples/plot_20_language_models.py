"""
Did the new version change the labels, or is it noise?
======================================================

An evaluation runs every prompt three times and grades each response. Two runs of the *same* version
differ already: what does the new version add? The three grades of a prompt belong together, and no
run of the old version belongs to one of the new. (The grades are made for this example by a random
generator, ``examples/data/make_language_models.py``; no model was run.)
"""

# %%
import matplotlib.pyplot as plt
from _language_models import load_grades

from replearn import compare
from replearn.auditing.gate import gates

grades = load_grades()
print(grades.head())

# %%
# Pairing run 1 with run 1, run 2 with run 2 looks like a large change.
print("equal run numbers:", compare(grades["old"], grades["new"], groups=grades["prompt"]).flips)

# %%
# One column per run, one row per prompt: each version is a list of its runs.
wide = grades.assign(run=grades["id"].str[-1])
wide = wide.pivot(index="prompt", columns="run", values=["old", "new", "wanted", "topic"])
old, new = ([wide[side][run] for run in "012"] for side in ("old", "new"))
found = compare(old, new, y=wide["wanted"]["0"], subgroups={"topic": wide["topic"]["0"]})
print(found)

# %%
# Most of what changes is noise. A gate on all flips would stop every version; a gate on what the
# new version adds lets noise pass.
for gate in gates(found, {"flips": 0.1, "added flips": 0.05}):
    print(gate)

# %%
names = ["flips", "flips within the old version", "flips within the new version", "added flips"]
rows = [found.table.get(name, "new") for name in names]
fig, ax = plt.subplots(figsize=(7, 3))
for place, row in enumerate(rows):
    ax.plot([row.lower, row.upper], [place, place], color="C0")
    ax.plot(row.value, place, "o", color="C0")
ax.axvline(0, color="black", linewidth=0.8)
ax.set_yticks(range(len(names)), names)
ax.invert_yaxis()
ax.set(xlabel="share of prompts")
fig.tight_layout()
