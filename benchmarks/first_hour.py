"""What does ``replearn audit`` tell a new user about files where stability is cheap or worthless?

Makes the files from public sets (rare classes, several classes, a column equal to the label, a
large mixed table), runs the command line on each, and prints what it says with its seconds:

    python benchmarks/first_hour.py --data DIR --files loans,census --options "--pairs 10"
    python benchmarks/first_hour.py --data DIR --files wide --options "--time-budget 60"
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from _data import add_data_arguments, parse
from _mixed_file import mixed_columns


def read(options: Namespace, name: str) -> pd.DataFrame:
    return pd.read_csv(options.data / f"{name}.csv.gz", keep_default_na=False, na_values=[""])


def with_rare(frame: pd.DataFrame, share: float, most: int, words: tuple[str, str]) -> pd.DataFrame:
    """Keep all rows of class 0 (up to ``most`` rows) and so many of class 1; labels as words."""
    rng = np.random.default_rng(2026)
    usual, rare = (np.flatnonzero(frame["target"] == label) for label in (0, 1))
    usual = rng.permutation(usual)[: round(most * (1 - share))]
    kept = rng.permutation(rare)[: round(len(usual) * share / (1 - share))]
    rows = rng.permutation(np.concatenate([usual, kept]))
    labels = frame["target"].map(dict(enumerate(words)))
    return frame.assign(target=labels).iloc[rows]


def loans(options: Namespace) -> pd.DataFrame:
    return with_rare(read(options, "german_credit"), 0.12, 10_000, ("approved", "denied"))


def parole(options: Namespace) -> pd.DataFrame:
    return with_rare(read(options, "compas"), 0.08, 10_000, ("no", "yes"))


def census(options: Namespace) -> pd.DataFrame:
    return with_rare(read(options, "adult"), 0.06, 12_000, ("<=50K", ">50K"))


def by_weeks(options: Namespace, edges: list[float]) -> pd.DataFrame:
    """Mothers by the weeks they worked: the classes are cut from a column that is left out."""
    frame = read(options, "fertility1980").sample(6000, random_state=2026)
    weeks = pd.cut(frame.pop("work"), edges, labels=list("abcd")[: len(edges) - 1])
    return frame.assign(target=weeks.astype(str))


def three(options: Namespace) -> pd.DataFrame:
    return by_weeks(options, [-1, 0, 39, 52])


def four(options: Namespace) -> pd.DataFrame:
    return by_weeks(options, [-1, 0, 26, 47, 52])


def leak(options: Namespace) -> pd.DataFrame:
    frame = read(options, "mushroom")
    return frame.assign(verdict=frame["target"].map({0: "eat", 1: "leave"}))


def spam(options: Namespace) -> pd.DataFrame:
    return read(options, "spambase")


def wide(options: Namespace) -> pd.DataFrame:
    """A mixed table of 300,000 rows and 40 columns with 6 % positives."""
    del options
    return pd.DataFrame(mixed_columns(300_000, 40))


FILES: dict[str, tuple[Callable[[Namespace], pd.DataFrame], str]] = {
    "loans": (loans, "hgb"),
    "parole": (parole, "hgb"),
    "census": (census, "hgb"),
    "three": (three, "hgb"),
    "four": (four, "hgb"),
    "leak": (leak, "hgb"),
    "spam": (spam, "logreg"),
    "wide": (wide, "logreg"),
}
"""Name to how the file is made, and the model that is audited."""


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    add_data_arguments(parser, "")
    parser.add_argument("--files", default=",".join(FILES), help="names of files, with commas")
    parser.add_argument("--folder", type=Path, help="where to write the files (kept)")
    parser.add_argument("--model", help="instead of the model of each file")
    parser.add_argument("--options", default="", help="more options of replearn audit, as one text")
    options = parse(parser)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in options.files.split(","):
            make, model = FILES[name]
            path = folder / f"{name}.csv"
            if not path.exists():
                make(options).to_csv(path, index=False)
            audit(path, options.model or model, options.options.split())


def audit(path: Path, model: str, more: list[str]) -> None:
    words = ["audit", path.name, "--target", "target", "--model", model, *more]
    print(f"\n$ replearn {' '.join(words)}", flush=True)
    start, before = time.monotonic(), os.times()
    command = [sys.executable, "-m", "replearn", *words]
    subprocess.run(command, check=False, cwd=path.parent)
    after = os.times()
    used = after.children_user + after.children_system
    used -= before.children_user + before.children_system
    print(f"[{time.monotonic() - start:.0f} s, {used:.0f} CPU s]", flush=True)


if __name__ == "__main__":
    main()
