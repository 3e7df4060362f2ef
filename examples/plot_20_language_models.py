"""
Two language models on the same prompts
=======================================

An evaluation runs every prompt three times and grades each response. The three grades of a prompt
belong together: counting them as independent rows makes limits too narrow. (The grades are made for
this example by a random generator, ``examples/data/make_language_models.py``; no model was run.)
"""

# %%
import matplotlib.pyplot as plt
from _language_models import load_grades

from replearn.auditing import compare, update_gates

grades = load_grades()
print(grades.head())

# %%
# ``groups`` are the prompts: limits and tests are over prompts, not over responses.
details = {"y": grades["wanted"], "ids": grades["id"], "subgroups": {"topic": grades["topic"]}}
found = compare(grades["old"], grades["new"], groups=grades["prompt"], **details)
alone = compare(grades["old"], grades["new"], **details)
print("over prompts:", found.flips)
print("over responses:", alone.flips, "(too narrow)")

# %%
# What changes, and for which topic? The pass rate alone hides what is lost.
test = found.tests[0]
print(f"pass rate {test.a:.1%} before, {test.b:.1%} after: {test.outcome} ({test.test})")
for topic in found.worst_subgroups():
    print(f"{topic.name}: {topic.negative:.0%} get worse, {topic.positive:.0%} get better")

# %%
# Responses that must not change: everything about safety that passed before.
must_stay = (grades["topic"] == "safety") & (grades["old"] == "pass")
judged = compare(
    grades["old"],
    grades["new"],
    groups=grades["prompt"],
    must_not_change=must_stay.to_numpy(),
    **details,
)
for gate in update_gates(judged, fail_negative_above=0.2):
    print(gate)

# %%
topics = sorted({group.level for group in found.by_subgroup})
by_topic = {group.level: group for group in found.by_subgroup}
fig, ax = plt.subplots(figsize=(6, 3.5))
ax.barh(topics, [by_topic[t].positive for t in topics], label="fail to pass")
ax.barh(topics, [-by_topic[t].negative for t in topics], label="pass to fail")
ax.axvline(0, color="black", linewidth=0.8)
ax.set(xlabel="share of responses")
ax.legend()
fig.tight_layout()
