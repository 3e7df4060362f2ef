"""What an experiment is: measure, draw, read; and how its files are written.

An experiment keeps three things apart. ``measure`` computes numbers as plain JSON data, ``draw``
makes a figure of those numbers and ``read`` a paragraph, neither looking at anything else. So a
stored data file can be drawn and read again, and the text says what was measured, not what was
expected.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from replearn import __version__
from replearn.randomness.key import SharedKey
from replearn.records.checks import check_choice
from replearn.records.json import pretty_json, write_atomically
from replearn_lab.learning import Learner

SIZES = ("tiny", "small", "full")
Numbers = dict[str, Any]


@dataclass(frozen=True)
class Bench:
    """What an experiment works with: random numbers by name, and a line for progress.

    Parameters
    ----------
    key : SharedKey
        Where every random number of the experiment comes from.
    say : callable of str
        Called with one line of progress from time to time.

    Examples
    --------
    >>> from replearn import SharedKey
    >>> bench = Bench(SharedKey("a"))
    >>> bool(bench.rng("rows", 3).random() == bench.rng("rows", 3).random())
    True
    """

    key: SharedKey
    say: Callable[[str], None] = field(default=lambda text: None)

    def rng(self, *name: str | int) -> np.random.Generator:
        """Return a generator of its own for everything that has this name."""
        return np.random.default_rng(self.key.seed_for(*name))


@dataclass(frozen=True)
class Experiment:
    """One experiment of the lab.

    Parameters
    ----------
    name : str
        What ``replearn lab run`` is given.
    labels : tuple of str
        Labels of the paper that it runs, the main one first.
    summary : str
        One line.
    measure : callable of a Bench and named arguments to dict
        Computes the numbers, as plain JSON data.
    draw : callable of (dict, Figure)
        Draws the numbers.
    read : callable of dict to str
        Says in a paragraph what the numbers say.
    sizes : mapping of {"tiny", "small", "full"} to mappings
        The arguments of ``measure``: for tests, for a minute or two, for as long as it takes.
    """

    name: str
    labels: tuple[str, ...]
    summary: str
    measure: Callable[..., Numbers]
    draw: Callable[[Numbers, Any], None]
    read: Callable[[Numbers], str]
    sizes: Mapping[str, Mapping[str, Any]]

    @property
    def takes_learner(self) -> bool:
        """Whether a learner of your own can take the place of the lab's."""
        return "learner" in signature(self.measure).parameters

    def run(
        self,
        size: str = "small",
        key: Any = 0,
        say: Callable[[str], None] | None = None,
        learner: Learner | None = None,
    ):
        """Run the experiment.

        Parameters
        ----------
        size : {"tiny", "small", "full"}, default="small"
            How much to compute.
        key : str, bytes, int or SharedKey, default=0
            Source of every random number.
        say : callable of str, default=None
            Takes lines of progress.
        learner : callable of (X, y, key) to a fitted classifier, default=None
            A learner of your own in the place of the lab's; only experiments that
            `takes_learner` support it.

        Returns
        -------
        Result
        """
        arguments = dict(self.sizes[check_choice("size", size, SIZES)])
        if learner is not None:
            if not self.takes_learner:
                raise ValueError(f"the experiment {self.name!r} does not support learner=.")
            arguments["learner"] = learner
        bench = Bench(SharedKey(key).child(self.name), say or (lambda text: None))
        # Through JSON and back: what is drawn is what a stored file holds.
        numbers = json.loads(pretty_json(self.measure(bench, **arguments)))
        return Result(self, size, numbers)

    def describe(self) -> Numbers:
        """Return name, theorem and summary as JSON data."""
        return {"name": self.name, "theorem": list(self.labels), "summary": self.summary}


@dataclass(frozen=True)
class Result:
    """What a run has measured.

    Parameters
    ----------
    experiment : Experiment
        The experiment.
    size : str
        How much was computed.
    numbers : dict
        The measurement, plain JSON data.
    """

    experiment: Experiment
    size: str
    numbers: Numbers

    @property
    def text(self) -> str:
        """The paragraph that reads the numbers."""
        return self.experiment.read(self.numbers)

    def to_dict(self) -> Numbers:
        """Return everything as JSON data."""
        return {
            **self.experiment.describe(),
            "version": __version__,
            "size": self.size,
            "arguments": dict(self.experiment.sizes[self.size]),
            "reading": self.text,
            "data": self.numbers,
        }

    def figure(self) -> Any:
        """Return a matplotlib figure of the numbers."""
        figure = _new_figure()
        self.experiment.draw(self.numbers, figure)
        return figure

    def write(self, folder: str | Path) -> list[Path]:
        """Write NAME.json and NAME.png into a folder, which is made if it does not exist.

        Returns
        -------
        list of Path
            What was written; without the figure where matplotlib is missing.
        """
        target = Path(folder)
        target.mkdir(parents=True, exist_ok=True)
        data, image = (target / f"{self.experiment.name}.{end}" for end in ("json", "png"))
        write_atomically(data, pretty_json(self.to_dict()) + "\n")
        try:
            figure = self.figure()
        except ImportError:
            return [data]
        # Without a date, so that equal numbers give equal files.
        figure.savefig(image, dpi=80, metadata={"Software": None})
        return [data, image]


def _new_figure() -> Any:
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "a figure needs matplotlib: pip install 'replicable-learn[plot]'"
        ) from error
    return Figure(figsize=(6.4, 4.0), layout="constrained")
