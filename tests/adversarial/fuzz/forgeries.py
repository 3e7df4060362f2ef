"""Forged models: attributes changed at random, as somebody would who can sign a file again."""

import contextlib
import copy
import os
import resource
import signal
import warnings
from types import FunctionType

import numpy as np

from replearn.exceptions import ModelFileError
from replearn.persistence._trust import dump, load_trusted

MEMORY = 2**30
SECONDS = 20
NUMBERS = (0, 1, -1, 2, 3, 7, 100, 4999, 2**16, 2**30, 2**31 - 1, -(2**31), 2**62)
FORBIDDEN = (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS, signal.SIGILL)


def places_in(value, depth=0):
    """Return setters and values of everything inside that can be changed."""
    if depth > 12 or isinstance(value, type | FunctionType):
        return []  # code, which no copy of a model has for itself
    if isinstance(value, tuple):
        return [place for inner in value for place in places_in(inner, depth + 1)]
    found = []
    if type(value).__name__ == "Tree":  # compiled: it has a state instead of attributes
        if not 0 <= value.node_count <= value.capacity:
            return found  # forged already: its arrays must not be looked at
        state = value.__getstate__()
        items = [
            (lambda key, new: value.__setstate__({**state, key: new}), name, inner)
            for name, inner in state.items()
        ]
    elif isinstance(value, dict):
        items = [(value.__setitem__, key, inner) for key, inner in value.items()]
    elif isinstance(value, list):
        items = [(value.__setitem__, number, inner) for number, inner in enumerate(value[:5])]
    elif isinstance(value, np.ndarray) and value.dtype == object:
        flat = value.reshape(-1)
        items = [(flat.__setitem__, number, inner) for number, inner in enumerate(flat[:5])]
    else:
        attributes = getattr(value, "__dict__", {})
        items = [(attributes.__setitem__, name, inner) for name, inner in attributes.items()]
    for change, key, inner in items:
        found.append((change, key, inner))
        found += places_in(inner, depth + 1)
    return found


def forged(model, rng):
    """Return a copy of a model with one to three attributes changed."""
    made = copy.deepcopy(model)
    for _ in range(int(rng.integers(1, 4))):
        places = places_in(made)
        change, key, value = places[int(rng.integers(len(places)))]
        others = [inner for _, _, inner in places if type(inner) is type(value)]
        with np.errstate(all="ignore"), contextlib.suppress(Exception):
            change(key, changed(value, others, rng))  # a tree refuses some states itself
    return made


def changed(value, others, rng):
    """Return another value of the same kind, more or less."""
    if rng.random() < 0.15:
        return others[int(rng.integers(len(others)))]
    if isinstance(value, np.ndarray) and value.dtype != object:
        return changed_array(value, rng)
    if isinstance(value, bool | np.bool_):
        return not value
    if isinstance(value, int | np.integer):
        return int(rng.choice(NUMBERS)) if rng.random() < 0.7 else int(value) + 1
    if isinstance(value, float):
        return float(rng.choice([0.0, -1.0, np.nan, np.inf, 1e300, value * 2]))
    if isinstance(value, list | tuple) and value:
        way = rng.integers(4)
        parts = [value[:1], value * 2, value[::-1], value[:-1]]
        return parts[int(way)]
    if isinstance(value, np.ndarray) and value.size:
        return np.repeat(value, int(rng.choice([1, 3, 50])), axis=int(rng.integers(value.ndim)))
    return None if rng.random() < 0.3 else value


def changed_array(array, rng):
    way = rng.integers(8)
    made = array.copy()
    if way == 0:
        return made[: len(made) // 2] if made.ndim else made
    if way == 1 and made.ndim:
        return np.repeat(made, int(rng.choice([2, 50])), axis=int(rng.integers(made.ndim)))
    if way == 2 and made.ndim:
        return made[:0]
    if way == 3 and made.dtype.names is None:
        return made.astype(rng.choice(["f8", "f4", "i8", "i4", "u1", "?"]))
    if way == 4:
        return made.reshape(-1)[::-1].reshape(made.shape).copy()
    if way == 5 and made.ndim:
        return made.reshape(-1)
    return poked(made, rng)


def poked(array, rng):
    """Put extreme numbers into some cells."""
    if not array.size:
        return array
    flat = array.reshape(-1)
    at = rng.integers(len(flat), size=int(rng.integers(1, 4)))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if array.dtype.names is not None:
            name = str(rng.choice(array.dtype.names))
            flat[name][at] = np.array(rng.choice(NUMBERS)).astype(array.dtype[name])
        elif array.dtype.kind in "iufb":
            flat[at] = np.array(rng.choice(NUMBERS)).astype(array.dtype)
    return array


def outcome(model, predict):
    """Load a file with the model and predict with it, in a child with limits; say how it ended."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # threads of others do not matter here
        try:
            parts = dump({"m": model})
        except Exception:  # nobody can write this
            return "not written"
        child = os.fork()
    if child == 0:
        os._exit(_try(parts, predict))
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status))
    return ("done", "refused", "raised", "memory")[os.WEXITSTATUS(status)]


def _try(parts, predict):
    """Run in the child; nothing here may leave it."""
    for stream in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream)
    signal.alarm(SECONDS)
    with open("/proc/self/statm") as file:
        now = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + MEMORY,) * 2)
    warnings.simplefilter("ignore")
    try:
        model = load_trusted(parts, (), "m")["m"]
    except ModelFileError:
        return 1
    try:
        predict(model)
    except MemoryError:
        return 3
    except Exception:
        return 2
    return 0
