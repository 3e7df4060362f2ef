"""The words of the report that need a hint, each with one sentence for a reader who is new."""

from __future__ import annotations

from typing import Any

from replearn.auditing._summary import rare_class


def glossary(summary: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """Return word and hint by key, with the sizes of this audit."""
    design = summary["design"]
    pairs, rows = design["n_pairs"], f"{design['n_test']:,}"
    level = f"{100 - 100 * design['delta']:.0f} %"
    useful = summary["contenders"][0]["usefulness"]
    rare = rare_class(useful)["label"]
    several = len(useful["classes"]) > 2
    which = "the class that is found least often" if several else f"the rarer class, {rare!r}"
    return {
        "contender": (
            "Contender",
            "One way to train: “baseline” is the model as it is, “bagging” the mean of five "
            "models, “replicable” a vote of many models that share a key.",
        ),
        "changed": (
            "Changed predictions",
            "Share of test rows whose prediction differs between two trainings on different rows "
            f"of the same data: the average over {pairs} pairs of trainings and {rows} test rows.",
        ),
        "limits": (
            "Limits",
            f"Between these two numbers lies the true value, with {level} confidence.",
        ),
        "tail": (
            "Least stable 1 %",
            "How often the prediction changes for the one percent of test rows that change most; "
            "the first number is too low on average, the second too high.",
        ),
        "one_in_100": (
            "1 row in 100",
            "One test row in a hundred changes its prediction in at least this share of the pairs.",
        ),
        "worst": (
            "Worst row",
            f"The row that changed most often. It is picked out of {rows} rows after the fact, so "
            "chance makes it look worse than it is; the limits allow for that.",
        ),
        "guarantee": (
            "Guarantee",
            "What the certificate promises for each row before any data are seen: an average over "
            "keys and samples. It is no limit for the single worst row of a measurement.",
        ),
        "seconds": ("Seconds", "Processor seconds of one training with its predictions."),
        "accuracy": ("Accuracy", "Share of right predictions among the test rows."),
        "balanced": (
            "Balanced accuracy",
            "For each class the share of its rows that is found, averaged over classes. Always "
            "giving the same answer scores 50 % of two classes, however rare one of them is.",
        ),
        "auc": (
            "AUC",
            "Chance that a row of one class gets a higher probability for it than a row of another "
            "class: 0.5 is a coin toss, 1 is perfect.",
        ),
        "recall": (
            "Lowest recall" if several else f"Found: {rare}",
            f"Recall: share of the rows of {which} that are predicted as such.",
        ),
        "precision": (
            "Right when said",
            f"Precision: when {which} is predicted, how often that is right.",
        ),
        "brier": (
            "Brier score",
            "Mean squared error of the predicted probabilities: 0 is perfect, smaller is better.",
        ),
        "log_loss": (
            "Log-loss",
            "Penalty for probabilities that are sure and wrong: 0 is perfect, smaller is better.",
        ),
    }
