"""The base estimator of a run: what it is, and that it depends on nothing else.

It is bound as its blocks see it: unfitted, with seeds of its own (`bind_estimator`); what was
fitted outside the sample is `prefitted`. An estimator that depends on a counter, a clock or a
global generator does not give two labs the same model from the same rows. So a few blocks, by a
keyed choice, are fitted again in this process (`block_condition`). One of them is fitted in a fresh
process as well, unless all code of the estimator comes from scikit-learn and its neighbours: a
counter of a module stands elsewhere there. That takes a second or two, once for each estimator and
process.

The promise is about a point, whatever else is scored with it, so a few rows are scored alone and
together (`batch_condition`). A file that is read while a block is fitted or scored is no part of
any digest: it is named as unknown (`files_read`).

And its blocks must be large enough to learn from. Histogram boosting that wants 20 rows in each
leaf cannot split a block of 39, and predicts a constant without a word. A plan must not depend on
the data, but it may depend on the estimator: blocks are made as large as `rows_needed` says, or
leaves as small as `adapted_to_blocks` says; how many partitions a plan has by default follows from
the family of the estimator. What the parameters do not say, the fitted models show, and a warning
says so.
"""

from __future__ import annotations

import math
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
from fractions import Fraction
from functools import partial
from inspect import Parameter, signature
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils import get_tags

from replearn.binding.digests import Fingerprint, bind
from replearn.compat import cloudpickle
from replearn.exceptions import ConstantBlocksWarning, warn_user
from replearn.execution import (
    Block,
    ConstantVote,
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


# -- what blocks a base estimator can learn from ---------------------------------------------------
LEAVES_TO_LEARN = 4
"""A tree that may have this many leaves is worth training; with one it is a constant."""

LEAF_NAMES = ("min_samples_leaf", "min_child_samples")
"""Rows of a leaf: scikit-learn, and LightGBM's classifiers."""

DEFAULT_FOLDS = 5


class BlockNeed(NamedTuple):
    """Rows below which the model is a constant, rows from which it is useful, and the reason."""

    least: int
    useful: int
    reason: str


def rows_needed(base: Any) -> BlockNeed | None:
    """Return what a base estimator needs; None if its parameters say nothing about it."""
    inner = innermost(base)
    estimator = inner.estimator
    share = inner.share
    params = own_params(estimator)
    neighbors = params.get("n_neighbors")
    if isinstance(neighbors, int | np.integer):
        reason = f"{type(estimator).__name__} with n_neighbors={neighbors}"
        return _scaled(BlockNeed(int(neighbors) + 1, 2 * int(neighbors) + 1, reason), share)
    name = next((name for name in LEAF_NAMES if name in params), None)
    leaf = 1 if name is None else params[name]
    split = params.get("min_samples_split", 2)
    if name is None or not isinstance(leaf, int | np.integer):  # a fraction fits every block
        return None
    held_out = params.get("validation_fraction")
    if params.get("early_stopping") is True and isinstance(held_out, float):
        share *= 1 - Fraction(held_out).limit_denominator(1000)
    least = 2 * int(leaf)
    reason = f"{name}={leaf}"
    if isinstance(split, int | np.integer) and split > least:
        least = int(split)
        reason = f"min_samples_split={split}"
    useful = max(least, LEAVES_TO_LEARN * int(leaf))
    return _scaled(BlockNeed(least, useful, f"{type(estimator).__name__} with {reason}"), share)


class Innermost(NamedTuple):
    """The estimator at the end of pipelines and inside others, its share of the rows, its name."""

    estimator: Any
    share: Fraction
    prefix: str  # of its parameters, as in set_params


def innermost(base: Any) -> Innermost:
    """Return the estimator that learns, with the share of the rows that it gets."""
    share = Fraction(1)
    prefix = ""
    for _ in range(10):
        params = own_params(base)
        if params.get("steps"):
            name, base = params["steps"][-1]
            prefix += f"{name}__"
        elif params.get("estimator") is not None and not isinstance(base, FrozenEstimator):
            share *= _share_of_rows(params)
            base = params["estimator"]
            prefix += "estimator__"
        else:
            break
    return Innermost(base, share, prefix)


def _share_of_rows(params: dict[str, Any]) -> Fraction:
    """Part of the rows that the estimator inside another one is trained on."""
    if "cv" in params:
        folds = DEFAULT_FOLDS if params["cv"] is None else params["cv"]
        return Fraction(folds - 1, folds) if isinstance(folds, int) and folds > 1 else Fraction(1)
    part = params.get("max_samples")
    if isinstance(part, float) and 0.0 < part < 1.0:
        return Fraction(part).limit_denominator(1000)
    return Fraction(1)


def _scaled(need: BlockNeed, share: Fraction) -> BlockNeed:
    least, useful = (math.ceil(rows / share) for rows in (need.least, need.useful))
    return BlockNeed(least, useful, need.reason)


def own_params(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator, without those of estimators inside it."""
    try:
        return dict(estimator.get_params(deep=False))
    except Exception:  # not a scikit-learn estimator: nothing is known
        return {}


PROBES = 256
"""Training rows on which models are compared with a constant."""

MODELS_CHECKED = 16
"""Models that are checked, the first ones of the first partition; half of them can clear all."""

NOTABLE = 0.05
"""Where all other labels together are rarer, the most frequent one is plausible for all rows."""


# -- models that are constant ----------------------------------------------------------------------
class ConstantModels(NamedTuple):
    """How many of the models that were checked are constant, and on which rows."""

    n_constant: int
    n_models: int
    n_probes: int
    others: float

    @property
    def rows(self) -> str:
        """The rows that were predicted, and why a constant is wrong for some of them."""
        return (
            f"for all of {self.n_probes} training rows, although {self.others:.0%} of the labels "
            "differ from the most frequent one"
        )


def find_constant(
    models: Sequence[Any], base: Any, X: Any, codes: NDArray[np.intp], rows: NDArray[np.intp]
) -> ConstantModels | None:
    """Return what is known if most models are constant on some training rows; None otherwise.

    A model is constant if its scores are, not only its predictions: if one label prevails, an
    estimator may have good reason to predict it for every row. ``rows`` are in keyed order, so that
    the order of the file does not matter.
    """
    return constant_models(models, base, take_rows(X, rows[:PROBES]), np.bincount(codes))


def constant_models(
    models: Sequence[Any], base: Any, probes: Any, label_counts: NDArray[np.intp]
) -> ConstantModels | None:
    """Do what `find_constant` does, for rows that were taken already."""
    others = 1.0 - label_counts.max() / label_counts.sum()
    if others < NOTABLE or says_it_is_poor(base):
        return None
    checked = models[:MODELS_CHECKED]
    with warnings.catch_warnings(), one_thread():
        warnings.simplefilter("ignore")  # predictions will show them
        n_constant = _count_constant(checked, probes)
        # No model can distinguish equal rows.
        if n_constant == 0 or len(np.unique(SharedKey(0).hashes(probes))) == 1:
            return None
    return ConstantModels(n_constant, len(checked), n_rows(probes), float(others))


def warn_if_constant(
    models: Sequence[Any],
    base: Any,
    probes: Any,
    label_counts: NDArray[np.intp],
    block_size: int,
    unit: str = "rows",
) -> bool:
    """Warn if most models of the first partition are constant, and return whether it did."""
    constant = constant_models(models, base, probes, label_counts)
    if constant is None:
        return False
    n_blocks = len(models)
    size = f"{block_size} {unit if block_size > 1 else unit.removesuffix('s')}"
    warn_user(
        f"most block estimators are constant: {constant.n_constant} of the {constant.n_models} "
        f"models of {_one_line(base)} that were checked, each trained on {size}, give the same "
        f"score {constant.rows}. Either {size} per block are too few for these parameters of the "
        "estimator, or the features are unrelated to the labels. The promise holds, but for a "
        "model that hardly uses the features. Try an estimator that splits small blocks "
        "(boosting: min_samples_leaf=5), a simpler or less regularised one, fewer blocks (n_blocks "
        f"below {n_blocks}), or more {unit}.",
        ConstantBlocksWarning,
    )
    return True


def warn_if_all_constant(
    searched: Sequence[ConstantModels | None], base: Any, train_size: int
) -> None:
    """Warn if all configurations of a search give constant models."""
    constant = searched[0] if searched else None
    if constant is None or None in searched:
        return
    warn_user(
        f"all configurations of {_one_line(base)} are constant: of each, most of the first "
        f"{constant.n_models} models give the same score {constant.rows}. Either "
        f"train_size={train_size} is too small for these configurations, or the features are "
        "unrelated to the labels. The promise holds, but the choice hardly depends on the "
        "sample. Try a larger train_size, or configurations for few rows (boosting: "
        "min_samples_leaf=5).",
        ConstantBlocksWarning,
    )


def says_it_is_poor(base: Any) -> bool:
    """Whether the tags of an estimator say that it predicts poorly, such as DummyClassifier."""
    tags = get_tags(base).classifier_tags if hasattr(base, "__sklearn_tags__") else None
    return tags is not None and tags.poor_score


def _count_constant(models: Sequence[Any], probes: Any) -> int:
    """Count the models that are constant; 0 as soon as it is clear that most are not."""
    n_constant = 0
    for index, model in enumerate(models):
        n_constant += not _varies(model, probes)
        if 2 * (index + 1 - n_constant) >= len(models):
            return 0
    return n_constant


def _varies(model: Any, probes: Any) -> bool:
    if isinstance(model, ConstantVote):
        return False
    names = ("decision_function", "predict_proba", "predict")
    try:
        score = next(getattr(model, name) for name in names if hasattr(model, name))
        scores = np.asarray(score(copy_rows(probes)))
    except Exception:
        return True  # nothing is known, and a fit does not fail because of this check
    return bool((scores != scores[:1]).any())


def _one_line(base: Any) -> str:
    return " ".join(repr(base).split())


# -- families of base estimators -------------------------------------------------------------------
FAMILY_OF_CLASS = {
    "RandomForestClassifier": "forest",
    "ExtraTreesClassifier": "forest",
    "HistGradientBoostingClassifier": "boosting",
    "GradientBoostingClassifier": "boosting",
    "XGBClassifier": "boosting",
    "LGBMClassifier": "boosting",
    "CatBoostClassifier": "boosting",
}
"""By names of classes, so that no package is imported for them."""


def family_of(base: Any) -> str:
    """Return the family of a base estimator by its class, also inside pipelines.

    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> family_of(make_pipeline(StandardScaler(), HistGradientBoostingClassifier()))
    'boosting'
    >>> family_of(DecisionTreeClassifier())
    'any'
    """
    names = (kind.__name__ for kind in type(innermost(base).estimator).__mro__)
    return next((FAMILY_OF_CLASS[name] for name in names if name in FAMILY_OF_CLASS), "any")


# -- settings that follow from the size of the blocks ----------------------------------------------
ROWS_PER_LEAF_ROW = 8
"""Rows of a block for each row of a leaf: a leaf has at most an eighth of the rows."""

MIN_LEAF = 2

ROWS_PER_BIN = 16
"""Histogram boosting that has fewer rows for each of its bins gets `BINS_OF_SMALL_BLOCKS`."""

BINS_OF_SMALL_BLOCKS = 63
"""As accurate as 255 in small blocks, and two thirds of the time of a fit (docs/speed.md)."""


def leaf_rows(block_size: int) -> int:
    """Return how many rows a leaf may be required to have in blocks of this many rows.

    >>> leaf_rows(25), leaf_rows(160), leaf_rows(8)
    (3, 20, 2)
    """
    return max(MIN_LEAF, block_size // ROWS_PER_LEAF_ROW)


def adapted_to_blocks(base: Any, block_size: int) -> Any:
    """Return the base estimator with leaf sizes and bins that suit blocks of this many rows.

    Only parameters that have their default value are made smaller. If nothing changes, the
    estimator itself is returned.

    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> small = adapted_to_blocks(HistGradientBoostingClassifier(), 25)
    >>> small.min_samples_leaf, small.max_bins
    (3, 63)
    >>> adapted_to_blocks(HistGradientBoostingClassifier(min_samples_leaf=5), 25).min_samples_leaf
    5
    """
    inner = innermost(base)
    rows = math.floor(block_size * inner.share)
    names = [name for name in LEAF_NAMES if name in own_params(inner.estimator)]
    return with_fewer_bins(_with_smaller(base, dict.fromkeys(names, leaf_rows(rows))), block_size)


def with_fewer_bins(base: Any, block_size: int) -> Any:
    """Return histogram boosting with bins that suit blocks of this many rows; others as they are.

    >>> from sklearn.ensemble import HistGradientBoostingClassifier
    >>> with_fewer_bins(HistGradientBoostingClassifier(), 2500).max_bins
    63
    """
    inner = innermost(base)
    rows = math.floor(block_size * inner.share)
    bins = own_params(inner.estimator).get("max_bins")
    if not isinstance(bins, int) or rows >= ROWS_PER_BIN * bins:
        return base
    return _with_smaller(base, {"max_bins": BINS_OF_SMALL_BLOCKS})


def _with_smaller(base: Any, smaller: dict[str, int]) -> Any:
    """Return the estimator with smaller values of parameters that have their default value."""
    inner = innermost(base)
    params = own_params(inner.estimator)
    changed = {
        f"{inner.prefix}{name}": value
        for name, value in smaller.items()
        if isinstance(params.get(name), int)
        and params[name] > value
        and params[name] == _default(inner.estimator, name)
    }
    return clone(base).set_params(**changed) if changed else base


def _default(estimator: Any, name: str) -> Any:
    """Return the default value of a parameter; ``Parameter.empty`` if it has none."""
    parameters = signature(type(estimator)).parameters
    return parameters[name].default if name in parameters else Parameter.empty
