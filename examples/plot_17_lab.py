"""
What cannot be done: figures of the lab
=======================================

Half of the theory says what no algorithm can do. The lab runs that half: each experiment measures,
draws, and reads its own numbers, here at the smallest sizes. ``replearn lab run NAME`` computes
one of them at full size.
"""

# %%
# One coin, n throws: answer whether it favours heads. However a rule is chosen, even with shared
# random numbers, two runs differ with at least a certain probability on some coin. The exact limit
# is the value of a game, certified from both sides; one limit can be asked for directly.
import matplotlib.pyplot as plt

from replearn_lab import all_experiments, coin_limit

limit_of_nine = coin_limit(9)
print(limit_of_nine.lower, limit_of_nine.upper)

# %%
# Every experiment draws its own numbers, which are plain data, and says what they say.
for name, experiment in all_experiments().items():
    if name == "scaling":  # its smallest size takes ten seconds
        continue
    result = experiment.run("tiny")
    experiment.draw(result.numbers, plt.figure(figsize=(6.4, 4.0), layout="constrained"))
    print(f"{name} ({', '.join(experiment.labels)})\n{result.text}\n")
