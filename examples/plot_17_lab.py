"""
What cannot be done: figures of the lab
=======================================

Half of the theory says what no algorithm can do. The lab runs that half: each experiment measures,
draws, and reads its own numbers. Here two of them, at small sizes.
"""

# %%
# One coin, n throws: answer whether it favours heads. However a rule is chosen, even with shared
# random numbers, two runs differ with at least a certain probability on some coin. The exact limit
# is the value of a game, certified from both sides; the arcsine law of the learners is close to it.
import matplotlib.pyplot as plt

from replearn_lab import coin_limit, find_experiment

limit = find_experiment("coin-limit").run("tiny")
print(limit.text)

# %%
# The numbers are plain data, and one limit can be asked for directly.
limit_of_nine = coin_limit(9)
print(limit_of_nine.lower, limit_of_nine.upper)

# %%
# Every result draws itself on any figure. Without shared randomness it is worse: a rule that
# decides by itself meets a coin on which two runs are two fair coins.
alone = find_experiment("one-coin").run("small")
for result in (limit, alone):
    result.experiment.draw(result.numbers, plt.figure(figsize=(6.4, 4.0), layout="constrained"))

# %%
print(alone.text)

# %%
# ``replearn lab list`` names all of them, with the theorems of the paper that they run.
