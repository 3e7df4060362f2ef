"""Conditions of the promise that one run's data can refute; each refutation is a sentence."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from replearn.compat import workers_run
from replearn.exceptions import PreprocessingWarning
from replearn.execution import block_store, fit_blocks, one_thread
from replearn.learners.diagnostics import PROBES, warn_user
from replearn.learners.digests import bind
from replearn.learners.marks import preprocessing_mark
from replearn.randomness import SharedKey
from replearn.tables import take_rows

SWITCH = "REPLEARN_CHECK_BLOCK"
"""Environment variable: "off" leaves out the blocks that are fitted a second time."""

MOST_CHECKED = 3
BLOCKS_PER_CHECK = 50
"""So many blocks are fitted again: a small part of all."""

_FEWEST_ROWS = 30
_CLOSE = 1e-6


def sample_conditions(X: Any) -> tuple[str, ...]:
    """Return what the features refute, and warn about it.

    Examples
    --------
    >>> import numpy as np
    >>> sample_conditions(np.random.default_rng(0).normal(size=(100, 2)))
    ()
    """
    mark, failed = preprocessing_mark(X), []
    if mark:
        failed.append(mark)
        warn_user(
            f"{mark}. A fitted transformer in front of a replicable classifier changes every point "
            "at every retraining, and with it every threshold: the promise does not hold. Put it "
            "inside: estimator=make_pipeline(StandardScaler(), LogisticRegression()).",
            PreprocessingWarning,
        )
    numbered = row_number_column(X)
    if numbered is not None:
        failed.append(
            f"column {numbered!r} numbers the rows, so that the rows are not independent and no "
            "point occurs in two samples"
        )
        warn_user(f"{failed[-1]}. Leave it out of X.", PreprocessingWarning)
    return tuple(failed)


def row_number_column(X: Any) -> Any:
    """Return the name or place of a column that numbers the rows; None if there is none.

    Examples
    --------
    >>> import numpy as np
    >>> row_number_column(np.column_stack([np.zeros(100), np.arange(100)[::-1]]))
    1
    """
    if hasattr(X, "columns"):
        named = ((name, X[name]) for name in X.columns)
        columns = ((name, column) for name, column in named if _is_numeric(column))
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "iuf":
        first = X[:_FEWEST_ROWS]
        whole = np.flatnonzero((first == np.round(first)).all(axis=0)).tolist()
        columns = ((place, X[:, place]) for place in whole)
    else:
        return None
    return next((name for name, column in columns if _numbers_rows(np.asarray(column))), None)


def _is_numeric(column: Any) -> bool:
    kind = getattr(getattr(column, "dtype", None), "kind", None)
    return kind in ("i", "u", "f") or str(getattr(column, "dtype", "")).startswith(("Int", "UInt"))


def _numbers_rows(column: NDArray[Any]) -> bool:
    n = len(column)
    if n < _FEWEST_ROWS or column.ndim != 1 or column.dtype.kind not in "iuf":
        return False
    low, high = column.min(), column.max()
    if not (np.isfinite(low) and np.isfinite(high)) or float(high) - float(low) != n - 1:
        return False
    places = column - low
    whole = places.astype(np.intp)
    return bool((whole == places).all()) and len(np.unique(whole)) == n


def block_condition(
    base: Any,
    X: Any,
    codes: NDArray[np.intp],
    blocks: Sequence[NDArray[np.intp]],
    keys: Sequence[SharedKey],
    models: Sequence[Any],
    names: Sequence[str],
    n_jobs: int | None = None,
) -> tuple[str, ...]:
    """Fit a few blocks again, by a keyed choice, and say if other answers come out.

    A learner that depends on a counter, a clock or a global generator does not give two labs the
    same model from the same rows. They go to a worker process where workers run anyway.
    """
    if os.environ.get(SWITCH, "").lower() == "off":
        return ()
    n_checked = min(MOST_CHECKED, 1 + len(blocks) // BLOCKS_PER_CHECK)
    start = keys[0].seed_for("block that is fitted again")
    for place in sorted({(start + turn * (start | 1)) % len(blocks) for turn in range(n_checked)}):
        rows, one = blocks[place], np.arange(len(blocks[place]))
        block = (base, take_rows(X, rows), codes[rows], [one], [keys[place]])
        probes = take_rows(X, np.concatenate(blocks[:2])[:PROBES])
        if not _same_answers(models[place], _fit_again(block, n_jobs), probes):
            return (
                f"{names[place]} gives other answers when it is fitted again on the same rows: the "
                "base learner depends on something besides its parameters, its rows and its seed "
                "(a counter, a global generator, a clock)",
            )
    return ()


def _fit_again(block: tuple[Any, ...], n_jobs: int | None) -> Any:
    with warnings.catch_warnings(), block_store(None):
        warnings.simplefilter("ignore")  # the first fit has said all this
        if effective_n_jobs(n_jobs) > 1 and workers_run("processes"):
            [models] = Parallel(n_jobs=n_jobs, prefer="processes")([delayed(fit_blocks)(*block)])
        else:
            models = fit_blocks(*block)
    return models[0]


def _same_answers(model: Any, again: Any, probes: Any) -> bool:
    one, two = bind(model), bind(again)
    if one.digest == two.digest and not one.unbound:
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whoever predicts hears them
            return _answers_agree(model, again, probes)
    except Exception:
        return True  # nothing is known; a fit does not fail over a question nobody asked


def _answers_agree(model: Any, again: Any, probes: Any) -> bool:
    with one_thread():
        for name in ("predict", "decision_function", "predict_proba"):
            if not (hasattr(model, name) and hasattr(again, name)):
                continue
            one, two = (np.asarray(getattr(each, name)(probes)) for each in (model, again))
            if one.shape != two.shape:
                return False
            if not (one == two).all() and (name == "predict" or not _close(one, two)):
                return False
    return True


def _close(one: NDArray[Any], two: NDArray[Any]) -> bool:
    return bool(np.allclose(one, two, rtol=_CLOSE, atol=_CLOSE, equal_nan=True))
