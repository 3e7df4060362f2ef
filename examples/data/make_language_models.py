"""Write language_models.csv: grades that were drawn at random. No language model was run.

Eighty prompts of four topics; two models respond to each prompt three times, and every response
is graded "pass" or "fail". Prompts differ in difficulty, so that the grades of one prompt belong
together.
"""

import csv
from pathlib import Path

import numpy as np

TOPICS = {"arithmetic": 0.10, "coding": 0.06, "summary": 0.02, "safety": -0.20}
"""How much more often the new model passes."""


def main():
    """Draw the grades and write them."""
    rng = np.random.default_rng(2026)
    path = Path(__file__).with_name("language_models.csv")
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["id", "prompt", "topic", "old", "new", "wanted"])
        for prompt in range(80):
            topic = list(TOPICS)[prompt % len(TOPICS)]
            easy = rng.beta(3.0, 1.2)
            chances = easy, float(np.clip(easy + TOPICS[topic], 0, 1))
            for repeat in range(3):
                grades = ["pass" if rng.random() < chance else "fail" for chance in chances]
                name = f"prompt-{prompt:02d}"
                writer.writerow([f"{name}/{repeat}", name, topic, *grades, "pass"])


if __name__ == "__main__":
    main()
