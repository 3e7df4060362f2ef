"""What goes where: results to standard output, everything else to standard error."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from replearn.exceptions import NotCertifiedWarning, PreprocessingWarning
from replearn.records.json import pretty_json

DONE, GATE_FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


def say(text: str) -> None:
    """Write one line to standard error."""
    sys.stderr.write(f"replearn: {text}\n")
    sys.stderr.flush()


def say_all(remarks: Iterable[str], *, quiet: bool = False) -> None:
    """Write several lines to standard error, unless quiet."""
    for remark in () if quiet else remarks:
        say(remark)


def put(text: str) -> None:
    """Write a result to standard output."""
    sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
    sys.stdout.flush()


def put_json(value: Any) -> None:
    """Write a result to standard output as JSON, and nothing else."""
    put(pretty_json(value))


def stay_silent() -> None:
    """Discard standard output whose reader has gone (as in ``| head``)."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def plain_warnings() -> Iterator[None]:
    """Turn warnings into single lines; count those that every block repeats."""
    repeated: Counter[str] = Counter()
    told: set[str] = set()

    def show(message: Any, category: Any, *_: Any, **__: Any) -> None:
        text = " ".join(str(message).split())
        if issubclass(category, NotCertifiedWarning | PreprocessingWarning):
            if text not in told:
                told.add(text)
                say(f"note: {text}")
        else:
            repeated[f"{category.__name__}: {text[:100]}"] += 1

    with warnings.catch_warnings(), _quiet_workers():
        warnings.simplefilter("always")
        warnings.showwarning = show
        try:
            yield
        finally:
            for text, count in repeated.most_common(3):
                say(f"note: {count} times {text}")


@contextlib.contextmanager
def _quiet_workers() -> Iterator[None]:
    """Worker processes repeat the same warnings on the same terminal, each in its own words."""
    if "PYTHONWARNINGS" in os.environ:
        yield
        return
    os.environ["PYTHONWARNINGS"] = "ignore"
    try:
        yield
    finally:
        del os.environ["PYTHONWARNINGS"]
