"""Ways to damage files and documents, and limits that a reader of them must keep."""

import contextlib
import copy
import signal
from types import MappingProxyType

import numpy as np

MEMORY = 3 * 2**30
"""A reader may take so much more address space than the process has already."""

ODD = (
    *(None, True, False, 0, -1, 1, 2, 7, 10**6, 10**9, 10**12, 10**30, -(10**30)),
    *(0.0, -0.5, 0.5, 1.0, 1.5, 1e-300, 5e-324, 1e308, -1e308),
    *("", "x", "0", "\ud800", "é" * 50, [], [0], {}, [[]], {"a": 1}, MappingProxyType({})),
)


class TooSlowError(BaseException):
    """A reader takes longer than anybody would wait."""


@contextlib.contextmanager
def within(seconds):
    """Raise `TooSlowError` after some seconds, and MemoryError beyond the limit of memory."""
    resource = __import__("resource")

    def late(*_):
        raise TooSlowError(f"not done after {seconds} s")

    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    handler = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY, before[1]))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
        resource.setrlimit(resource.RLIMIT_AS, before)


def damaged(content, rng):
    """Damage some bytes: flips, cuts, insertions, doubled and exchanged pieces."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 4))):
        way, place = rng.integers(7), int(rng.integers(len(data) or 1))
        length = int(rng.integers(1, 1 + min(64, len(data) or 1)))
        if way == 0 and data:
            data[place] ^= int(rng.integers(1, 256))
        elif way == 1:
            data = data[:place]
        elif way == 2:
            data[place : place + length] = b""
        elif way == 3:
            data[place:place] = rng.bytes(length)
        elif way == 4:
            data[place:place] = data[place : place + length]
        elif way == 5:
            data[place : place + length] = bytes(length)
        else:
            data[place : place + length] = b"\xff" * length
    return bytes(data)


def mutated(document, rng):
    """Change one or two places of a JSON document: an odd value, a missing or another item."""
    made = copy.deepcopy(document)
    for _ in range(int(rng.integers(1, 3))):
        places = list(_indices(made))
        if not places:
            return made
        home, key = places[int(rng.integers(len(places)))]
        way = rng.integers(6)
        if way == 0:
            del home[key]
        elif way == 1 and isinstance(home, dict):
            home["unknown"] = home.pop(key)
        elif way == 2 and isinstance(home[key], int | float) and not isinstance(home[key], bool):
            home[key] = home[key] * float(rng.choice([0.999, 2, -1, 1e6])) + int(rng.integers(2))
        elif way == 3:
            home[key] = [home[key]]
        else:
            odd = ODD[int(rng.integers(len(ODD)))]
            home[key] = dict(odd) if isinstance(odd, MappingProxyType) else copy.deepcopy(odd)
    return made


def _indices(value):
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, part in list(items):
        yield value, key
        if isinstance(part, dict | list):
            yield from _indices(part)


def generators(count, seed=0):
    """One generator for each input, so that any of them can be made again alone."""
    return ((number, np.random.default_rng([seed, number])) for number in range(count))
