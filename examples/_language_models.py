"""Grades of two language models, made for the example by data/make_language_models.py."""

from pathlib import Path

import pandas as pd


def load_grades():
    """Return one row per response: id, prompt, topic, grades of both models, wanted grade."""
    return pd.read_csv(Path(__file__).parent / "data" / "language_models.csv")
