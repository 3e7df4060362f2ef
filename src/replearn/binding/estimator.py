"""The base estimator of a run: what it is, and that it depends on nothing else.

It is bound as its blocks see it: unfitted, with seeds of its own (`bind_estimator`); what was
fitted outside the sample is `prefitted`. An estimator that depends on a counter, a clock or a
global generator does not give two labs the same model from the same rows. So a few blocks, by a
keyed choice, are
fitted again in this process (`block_condition`). One of them is fitted in a fresh process as well,
unless all code of the estimator comes from scikit-learn and its neighbours: a counter of a module
stands elsewhere there. That takes a second or two, once for each estimator and process.

The promise is about a point, whatever else is scored with it, so a few rows are scored alone and
together (`batch_condition`). A file that is read while a block is fitted or scored is no part of
any digest: it is named as unknown (`files_read`).
"""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from replearn.binding.digests import Fingerprint, bind
from replearn.compat import cloudpickle
from replearn.execution import (
    Block,
    fit_functions,
    fit_one_block,
    keyed_seeds,
    no_autologging,
    one_thread,
    random_state_names,
    set_seeds,
)
from replearn.randomness import SharedKey
from replearn.tables import copy_rows, n_rows, take_rows

SWITCH = "REPLEARN_CHECK_BLOCK"
"""Environment variable: "off" fits no block again, "here" none in another process."""

MAX_CHECKED = 3
BLOCKS_PER_CHECK = 50
"""This many blocks of an estimator with code of its own are fitted again: a small part of all."""

WITHOUT_STATE = frozenset({"numpy", "scipy", "scikit-learn", "python", "pandas", "polars"})
"""Packages whose estimators keep nothing between two fits but what their parameters say."""

_CLOSE = 1e-6
_LONGEST = 600.0
_METHODS = ("predict", "decision_function", "predict_proba")
_SCRIPT = "import sys; from replearn.binding.estimator import main; main(sys.argv[1])"
_KNOWN: set[str] = set()  # digests of estimators that came out alike in a fresh process
# Objects without a repr of their own print an address, which differs between processes.
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")

Predictions = dict[str, NDArray[Any]]
"""What a fitted model says about some rows, by the name of the method."""


# -- what it is ------------------------------------------------------------------------------------
class TrustedEstimator(FrozenEstimator):
    """A fitted estimator that was fitted on data from outside the sample; see `prefitted`."""

    fitted_outside_the_sample: ClassVar[bool] = True


def prefitted(estimator: Any) -> TrustedEstimator:
    """Mark a fitted estimator as fitted outside the sample, so that it may be used as a part.

    Examples are an embedding trained on other data and a scaler with published constants. Every lab
    must use the same one: it is bound by a digest of its fitted state. What would be fitted on the
    sample itself must be unfitted in the base estimator.

    Parameters
    ----------
    estimator : fitted estimator
        It is frozen: neither ``fit`` nor ``clone`` changes it.

    Returns
    -------
    TrustedEstimator
        The estimator, marked.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from replearn.binding import prefitted
    >>> published = StandardScaler().fit(np.array([[150.0], [190.0]]))
    >>> base = make_pipeline(prefitted(published), LogisticRegression())
    """
    return TrustedEstimator(estimator)


def bind_estimator(base: Any) -> Fingerprint:
    """Bind a base estimator as its blocks will use it; fitted parts raise an error.

    >>> from sklearn.linear_model import LogisticRegression
    >>> one, two = bind_estimator(LogisticRegression()), bind_estimator(LogisticRegression(C=2))
    >>> one.digest == two.digest
    False
    """
    model = clone(base)
    set_seeds(model, dict.fromkeys(random_state_names(model), 0))  # every block has its own
    fingerprint = bind(model)
    if fingerprint.fitted:
        raise ValueError(
            f"the base estimator contains a fitted part: {', '.join(fingerprint.fitted)}. Whatever "
            "was fitted on the sample must be fitted inside each block: give it unfitted. If it "
            "was fitted on data from outside the sample, the same in all labs, say so: "
            "replearn.binding.prefitted(estimator)."
        )
    return fingerprint


def describe_estimator(estimator: Any) -> tuple[str, str]:
    """Describe an estimator in words and by a digest of its code and all its parameters.

    A promise holds for two labs only if they train the same estimator.
    """
    unfitted = clone(estimator) if hasattr(estimator, "get_params") else estimator
    return in_words(estimator), bind(unfitted).digest


def in_words(estimator: Any) -> str:
    """Describe an estimator in one line that is the same in every process."""
    return " ".join(_ADDRESS.sub("", repr(estimator)).split())


# -- blocks that are fitted again ------------------------------------------------------------------
def block_condition(
    base: Any,
    block: Callable[[int], tuple[Any, NDArray[np.intp]]],
    keys: Sequence[SharedKey],
    models: Sequence[Any],
    names: Sequence[str],
    fingerprint: Fingerprint,
    probes: Any,
) -> tuple[str, ...]:
    """Fit a few blocks again, chosen by key, and say in words if their predictions change.

    ``block`` returns the rows of a block and the codes of their labels. If the estimator contains
    functions or user code, rows are also scored both alone and together, and files that are read
    during this are added to what is not bound.
    """

    def load(index: int) -> tuple[Any, NDArray[np.intp], SharedKey]:
        return *block(index), keys[index]

    indices = blocks_to_check(keys[0], len(keys), fingerprint)
    if not indices or not (may_have_state(fingerprint) or takes_functions(base)):
        return refit_condition(base, indices, load, models, names, fingerprint, probes)
    with files_read() as files:
        failed = refit_condition(base, indices, load, models, names, fingerprint, probes)
        trained = next((m for m in models if type(m) is type(base)), models[indices[0]])
        failed += batch_condition(trained, probes)  # a block of one class has a constant model
    fingerprint.unbound += tuple(
        f"the file {os.path.basename(name)!r}, which the base estimator reads" for name in files
    )
    return failed


def blocks_to_check(first_key: SharedKey, n_blocks: int, fingerprint: Fingerprint) -> list[int]:
    """Choose the blocks that are fitted again, by the key of the first block.

    An estimator with code of its own may count, or draw in some blocks only: several are fitted. Of
    one whose code comes from scikit-learn and its neighbours alone a single block is.
    """
    if os.environ.get(SWITCH, "").lower() == "off":
        return []
    wanted = 1 + n_blocks // BLOCKS_PER_CHECK if may_have_state(fingerprint) else 1
    return _keyed_blocks(first_key, n_blocks, min(MAX_CHECKED, wanted))


def blocks_to_keep(first_key: SharedKey, n_blocks: int) -> list[int]:
    """Return all blocks that `blocks_to_check` may choose, whatever the estimator is."""
    return _keyed_blocks(first_key, n_blocks, MAX_CHECKED)


def _keyed_blocks(first_key: SharedKey, n_blocks: int, n_chosen: int) -> list[int]:
    start = first_key.seed_for("block that is fitted again")
    return sorted({(start + turn * (start | 1)) % n_blocks for turn in range(n_chosen)})


def refit_condition(
    base: Any,
    indices: Sequence[int],
    load: Callable[[int], tuple[Any, NDArray[np.intp], SharedKey]],
    models: Sequence[Any],
    names: Sequence[str],
    fingerprint: Fingerprint,
    probes: Any,
) -> tuple[str, ...]:
    """Fit some blocks again and say if other predictions come out.

    ``load`` returns the rows, the codes and the key of a block.
    """
    for index in indices:
        X, codes, key = load(index)
        if not _same_model(models[index], _fit_again(base, X, codes, key), probes):
            return (_sentence(names[index], "on the same rows"),)
    here = os.environ.get(SWITCH, "").lower() == "here"
    if not indices or here or fingerprint.digest in _KNOWN or not may_have_state(fingerprint):
        return ()
    index = indices[0]
    X, codes, key = load(index)
    job = Block(X, codes, keyed_seeds(random_state_names(base), key), names[index])
    if not _alike(predictions_of(models[index], probes), predictions_elsewhere(base, job, probes)):
        return (_sentence(names[index], "on the same rows in a fresh process"),)
    _KNOWN.add(fingerprint.digest)
    return ()


def may_have_state(fingerprint: Fingerprint) -> bool:
    """Whether some code of an estimator comes from elsewhere than from packages without state."""
    return fingerprint.own or not WITHOUT_STATE.issuperset(fingerprint.versions)


def _sentence(name: str, where: str) -> str:
    return (
        f"{name} gives other predictions when it is fitted again {where}: the base estimator "
        f"depends on "
        "something besides its parameters, its rows and its seed (a counter, a global generator, a "
        "clock)"
    )


def _fit_again(base: Any, X: Any, codes: NDArray[np.intp], key: SharedKey) -> Any:
    seeds = keyed_seeds(random_state_names(base), key)
    block = Block(X, codes, seeds, "a block that is fitted again", faster=fit_functions(base))
    with warnings.catch_warnings(), one_thread(), no_autologging():
        warnings.simplefilter("ignore")  # the first fit has said all this, and checked parameters
        with config_context(skip_parameter_validation=True):
            return fit_one_block(base, block)


def _same_model(one: Any, two: Any, probes: Any) -> bool:
    """Whether two models have the same state, or the same predictions if no state can be read."""
    mine = _state(one)
    yours = _state(two)
    if mine and mine == yours:
        return True
    return _alike(predictions_of(one, probes), predictions_of(two, probes))


def _state(model: Any) -> bytes | str:
    """Return what a model remembers, in one text; empty if it cannot be read to the end."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a key inside it: these bytes do not leave memory
            return pickle.dumps(model)
    except Exception:  # a class inside a function, a lambda
        fingerprint = bind(model)
        return "" if fingerprint.unbound else fingerprint.digest


def predictions_of(model: Any, probes: Any) -> Predictions:
    """Return what a model predicts with each method; nothing if it fails."""
    try:
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore")  # predictions will show them
            return {n: _predicted(model, n, probes) for n in _METHODS if hasattr(model, n)}
    except Exception:
        return {}


def _predicted(model: Any, method: str, probes: Any) -> NDArray[Any]:
    return np.asarray(getattr(model, method)(copy_rows(probes)))


def _alike(one: Predictions, two: Predictions) -> bool:
    return all(_same(name, one[name], two[name]) for name in one if name in two)


def _same(name: str, one: NDArray[Any], two: NDArray[Any]) -> bool:
    if one.shape != two.shape:
        return False
    if (one == two).all():
        return True
    return name != "predict" and np.allclose(one, two, rtol=_CLOSE, atol=_CLOSE, equal_nan=True)


# -- the fresh process -----------------------------------------------------------------------------
def predictions_elsewhere(base: Any, block: Block, probes: Any) -> Predictions:
    """Fit one block in a fresh process and return its predictions; none if that is impossible."""
    if cloudpickle is None or not sys.executable:
        return {}
    with tempfile.TemporaryDirectory(prefix="replearn-") as folder:
        job = Path(folder, "job")
        done = Path(folder, "done")
        try:
            job.write_bytes(cloudpickle.dumps((base, block, probes)))
            # -P: the import path of this process, and not the current folder in front of it.
            command = [sys.executable, "-P", "-c", _SCRIPT, folder]
            import_path = [entry or os.getcwd() for entry in sys.path]
            other_hashes = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"
            paths = os.pathsep.join(import_path)
            env = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": other_hashes}
            quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
            subprocess.run(command, check=True, timeout=_LONGEST, env=env, **quiet)
            predictions: Predictions = pickle.loads(done.read_bytes())
        except Exception:  # an estimator that cannot be sent: nothing is known
            return {}
        return predictions


def main(folder: str) -> None:
    """Fit the block that another process has left in a folder, and leave the predictions there."""
    base, block, probes = pickle.loads(Path(folder, "job").read_bytes())
    with warnings.catch_warnings(), one_thread(), no_autologging():
        warnings.simplefilter("ignore")
        predictions = predictions_of(fit_one_block(base, block), probes)
    Path(folder, "done").write_bytes(pickle.dumps(predictions))


# -- the other rows of a batch, and files ----------------------------------------------------------
ROWS_TOGETHER = 32
ROWS_ALONE = 4

_SCORES = ("predict_proba", "decision_function", "predict")
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, partial, np.ufunc)


# -- the other rows of a batch ---------------------------------------------------------------------
def takes_functions(base: Any) -> bool:
    """Whether a parameter of an estimator or of its parts is a function, which may do anything.

    >>> from sklearn.preprocessing import FunctionTransformer, scale
    >>> takes_functions(FunctionTransformer(scale))
    True
    """
    if isinstance(base, _FUNCTIONS):
        return True
    if isinstance(base, list | tuple):  # steps of a pipeline
        return any(map(takes_functions, base))
    is_estimator = hasattr(base, "get_params") and not isinstance(base, type)
    params = getattr(base, "__dict__", {}) if is_estimator else {}
    return any(map(takes_functions, params.values()))


def batch_condition(model: Any, probes: Any) -> tuple[str, ...]:
    """Score rows alone and together; say if predictions depend on the other rows."""
    rows = take_rows(probes, np.arange(min(n_rows(probes), ROWS_TOGETHER)))
    predict = next((getattr(model, name) for name in _SCORES if hasattr(model, name)), None)
    if predict is None or not _depends_on_batch(predict, rows):
        return ()
    return (
        f"predictions of {_named_step(model, rows)} depend on the other rows of the batch: a row "
        "that is scored alone gets other ones, and so does the same row in another batch. Compute "
        "in fit what is computed from the rows of a batch",
    )


def _depends_on_batch(compute: Callable[[Any], Any], rows: Any) -> bool:
    """Whether a method gives some rows other results alone than together; False on an error."""
    try:
        with warnings.catch_warnings(), one_thread():
            warnings.simplefilter("ignore")  # predictions will show them
            together = _dense(compute(copy_rows(rows)))
            some = np.linspace(0, len(together) - 1, ROWS_ALONE).astype(np.intp)
            alone = [_dense(compute(copy_rows(take_rows(rows, some[k : k + 1])))) for k in range(4)]
    except Exception:  # nothing is known: a prediction will show it
        return False
    return not all(map(_same_results, alone, (together[row : row + 1] for row in some)))


def _dense(values: Any) -> NDArray[Any]:
    return np.asarray(values.toarray() if hasattr(values, "toarray") else values)


def _same_results(one: NDArray[Any], two: NDArray[Any]) -> bool:
    if one.shape != two.shape:
        return False
    if one.dtype.kind == "f" and two.dtype.kind == "f":
        return np.allclose(one, two, rtol=_CLOSE, atol=_CLOSE, equal_nan=True)
    return bool(((one == two) | ((one != one) & (two != two))).all())


def _named_step(model: Any, rows: Any) -> str:
    """Name the first step of a pipeline whose result depends on the batch, else the estimator."""
    for name, step in getattr(model, "steps", ())[:-1]:
        if not hasattr(step, "transform"):
            continue
        if _depends_on_batch(step.transform, rows):
            return f"step {name!r} ({type(step).__name__}) of the base estimator"
        rows = step.transform(copy_rows(rows))
    return f"the base estimator ({type(model).__name__})"


# -- files -----------------------------------------------------------------------------------------
_CODE = (".py", ".pyc", ".pyi", ".so", ".pyd", ".dll", ".dylib", ".pth")
_SYSTEM = ("/proc/", "/sys/", "/dev/", "/etc/")
_watching: list[tuple[int, list[str]]] = []
_installed: list[bool] = []


@contextmanager
def files_read() -> Iterator[list[str]]:
    """List the files that this thread opens for reading meanwhile; code and temporary ones not.

    Hooks of audit events cannot be removed: one is installed when it is first needed, and does
    nothing while nobody listens.
    """
    if not _installed:
        _installed.append(True)
        sys.addaudithook(_listen)
    listener: tuple[int, list[str]] = (threading.get_ident(), [])
    _watching.append(listener)
    try:
        yield listener[1]
    finally:
        _watching.remove(listener)


def _listen(event: str, args: tuple[Any, ...]) -> None:
    if not _watching or event != "open":
        return
    path, mode, flags = args
    writes = flags & (os.O_WRONLY | os.O_CREAT) if isinstance(flags, int) else 0
    if writes or (isinstance(mode, str) and mode[:1] in ("w", "x", "a")):
        return
    try:
        name = os.path.abspath(os.fsdecode(path))
    except (TypeError, OSError):  # a number, or a folder that is gone: what opens it may say so
        return
    for thread, names in _watching:
        if thread == threading.get_ident() and _is_data_file(name) and name not in names:
            names.append(name)


def _is_data_file(name: str) -> bool:
    """Whether a file is neither code, nor a part of an installed package, nor ours."""
    installed = (sys.prefix, sys.base_prefix, sys.exec_prefix)
    ours = os.path.join(tempfile.gettempdir(), "replearn-")
    return not (
        name.endswith(_CODE)
        or name.startswith((*_SYSTEM, ours, *(os.path.join(path, "") for path in installed)))
        or "zoneinfo" in name
        or "joblib" in name
    )
