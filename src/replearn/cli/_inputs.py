"""From options to what a command works with: tables, keys, base estimators, models."""

from __future__ import annotations

import difflib
import importlib
import sys
import zipfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replearn.cli import (
    ENCODING_HELP,
    CommandOptions,
    argument,
    as_options,
    flag,
    memory,
    option,
    repeated,
    say,
)
from replearn.randomness.key import SharedKey
from replearn.records.json import read_object
from replearn.tables.files import Table, TableFileError, memory_needed, read_table
from replearn.tables.kinds import ID, NUMBER, TEXT, is_date, names_persons
from replearn.tables.memory import available_memory, format_memory
from replearn.tables.rows import to_pandas

Named = dict[str, tuple[str, str, dict[str, Any], bool]]
"""Base estimators by name: module, class, parameters, and whether it is made of trees."""

NAMED: Named = {
    "logreg": ("sklearn.linear_model", "LogisticRegression", {"max_iter": 1000}, False),
    "hgb": ("sklearn.ensemble", "HistGradientBoostingClassifier", {}, True),
    "forest": ("sklearn.ensemble", "RandomForestClassifier", {}, True),
    "tree": ("sklearn.tree", "DecisionTreeClassifier", {"min_samples_leaf": 5}, True),
    "xgboost": ("xgboost", "XGBClassifier", {"n_jobs": 1}, True),
    "lightgbm": ("lightgbm", "LGBMClassifier", {"n_jobs": 1, "verbose": -1}, True),
    "catboost": (
        "catboost",
        "CatBoostClassifier",
        {"thread_count": 1, "verbose": False, "allow_writing_files": False},
        True,
    ),
}

MAX_CLASSES = 50
MAX_CLASSES_SHOWN = 12

MODEL_HELP = (
    "logreg (default), hgb, forest, tree, xgboost, lightgbm, catboost, or your own as module:object"
)


POS_LABEL_HELP = "the positive label (default: the last in sorted order)"
GROUP_BY_HELP = "rows with the same value belong together (one patient)"


@dataclass(frozen=True, kw_only=True)
class SampleOptions(CommandOptions):
    """Options that describe the training data."""

    data: str = argument("file: csv, tsv, txt (also .gz), parquet, feather, xlsx")
    target: str = option("column with the labels to predict", "COLUMN", required=True)
    id: str | None = option("id of a row; its threshold is derived from it", "COLUMN")
    group_by: str | None = option(GROUP_BY_HELP, "COLUMN")
    drop: tuple[str, ...] = repeated("column that is left out", "COLUMN")
    columns: str | None = option(
        "take the kinds of the columns from this file: fit --save-columns, or a model file", "FILE"
    )
    clean_labels: bool = flag(
        "merge labels that differ only in case or blanks; labels become lower case"
    )
    encoding: str | None = option(ENCODING_HELP, "NAME")
    model: str = option(MODEL_HELP, "NAME", default="logreg")

    @property
    def time_columns(self) -> tuple[str, ...]:
        """Columns that hold the time of a row; no features."""
        return ()


@dataclass(frozen=True, kw_only=True)
class ThresholdOptions(CommandOptions):
    """Options of commands that decide at a threshold."""

    threshold: str | None = option(
        "probability from which the positive label is predicted: 0.1, prevalence, or costs 1:5 of "
        "a false positive and a false negative",
        "T",
    )
    pos_label: str | None = option(
        "the label that --threshold is about; required if the labels are not 0 and 1", "LABEL"
    )


@dataclass(frozen=True, kw_only=True)
class MemoryOptions(CommandOptions):
    """The option of commands that read tables of any size."""

    max_memory: int | None = option(
        "memory limit (3GiB); larger tables are read in pieces",
        "SIZE",
        type=memory,
    )


SUBGROUPS_HELP = "columns whose values are compared, each in a table"


def check_dependence(sample: Any, *, has_promise: bool) -> None:
    """Refuse to guarantee anything for rows that are not independent draws.

    What features show is found by ``fit`` itself; it does not see the columns beside them. Without
    a promise it is only said, because limits of what an incumbent loses count rows.
    """
    found = sample.dependence() if sample.groups is None else None
    if found is None:
        return
    words, remedy = found
    if has_promise:
        raise ValueError(
            f"{words}, and nothing can be guaranteed for them. {remedy} The guarantee then counts "
            "them instead of rows: fewer units, so a weaker one or smaller blocks. Or use "
            "--learner plain: the model as it is, without any guarantee and without a key."
        )
    say(f"note: {as_options(f'{words}. {remedy}')}")


@dataclass(frozen=True, eq=False)
class Sample:
    """The training data that the options describe."""

    X: Any  # a polars frame of the features
    y: NDArray[Any]
    columns: dict[str, str]  # kinds of the features
    target_kind: str
    groups: NDArray[Any] | None
    times: NDArray[Any] | None
    remarks: tuple[str, ...]  # for standard error
    ids: tuple[str, ...]  # columns that look like ids of the rows, and are not learned from
    aside: Any  # a polars frame of ids, which are not learned from
    overview: str  # columns and classes, for standard error

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def label_counts(self) -> Counter[Any]:
        """How often each label occurs."""
        return Counter(self.y.tolist())

    def dependence(self) -> tuple[str, str] | None:
        """Say by which column beside the features rows belong together, and what to do."""
        from replearn.checks.sample import repeated_id

        return repeated_id(self.aside)

    def features_for(self, model: Any) -> Any:
        """Return the features as a base estimator expects them."""
        return to_pandas(self.X) if takes_columns_itself(model) else self.X

    def tell(self, *, quiet: bool = False) -> None:
        """Say what was read, before anything long starts."""
        say(self.overview, *self.remarks, quiet=quiet)


def read_sample(
    options: SampleOptions, thin: Any = None, *, drawn: Table | None = None, numbers: bool = False
) -> Sample:
    """Read the file, or wanted rows of it; features, labels (or numbers) and groups apart."""
    table = drawn or read_table(
        options.data, wanted_kinds(options), encoding=options.encoding, thin=thin
    )
    columns, ids = split_columns(table, options)
    labels, kept, remarks = _read_target(table, options, numbers)
    frame = table.frame.filter(kept)
    named = {options.id: "id", options.group_by: "group", options.target: "target"}
    used_as = dict.fromkeys(options.drop, "dropped") | dict.fromkeys(options.time_columns, "time")
    used_as |= {name: use for name, use in named.items() if name is not None}
    about = [r for r in table.remarks if not any(f"column {n!r}" in r for n in used_as)]
    return Sample(
        X=frame.select(list(columns)),
        y=labels,
        columns=columns,
        target_kind=table.columns[options.target],
        groups=None if options.group_by is None else _groups(frame[options.group_by], options),
        times=_times(frame, table.columns, options) if options.time_columns else None,
        remarks=(*about, *remarks),
        ids=ids,
        aside=type(frame)([one.filter(kept) for one in columns_aside(table, options, ids)]),
        overview=f"{table.overview(used_as)}\ntarget {options.target!r}: {_classes(labels)}",
    )


def split_columns(table: Table, options: SampleOptions) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the features with their kinds, and the ids; others are named by options."""
    named = (options.target, options.id, options.group_by, *options.drop, *options.time_columns)
    aside = [name for name in named if name is not None]
    for name in aside:
        # The columns of --columns are read and no others: what is dropped may not be among them.
        if options.columns is None or name not in options.drop:
            _check_column(name, table.columns, options.data)
    others = {n: kind for n, kind in table.columns.items() if n not in aside}
    ids = tuple(n for n, kind in others.items() if kind == ID)
    if len(ids) == len(others):
        raise TableFileError(
            f"{options.data} has no column to learn from besides {options.target!r}."
        )
    return {n: kind for n, kind in others.items() if n not in ids}, ids


def columns_aside(table: Table, options: SampleOptions, ids: tuple[str, ...]) -> list[Any]:
    """Return ids, and columns that name persons, whether they are dropped or were not wanted."""
    named = [*ids, *filter(names_persons, options.drop), options.id]
    others = [name for name in table.others.columns if names_persons(name)]
    return [
        *(table.frame[name] for name in dict.fromkeys(named) if name in table.columns),
        *(table.others[name] for name in others),
    ]


def _read_target(
    table: Table, options: SampleOptions, numbers: bool
) -> tuple[NDArray[Any], Any, list[str]]:
    """Return the labels or the numbers of the target, which rows have one, and remarks."""
    target = options.target
    path = options.data
    clean = options.clean_labels
    column = table.frame[target]
    known = ~column.is_null()
    column = column.filter(known)
    kind = table.columns[target]
    remarks = []
    if len(column) < len(known):
        remarks.append(f"{len(known) - len(column)} rows without {target!r} are left out")
    if numbers:
        if kind != NUMBER or column.n_unique() < 2:
            raise TableFileError(
                f"{path}: target {target!r} is not a quantity ({kind}); leave --tolerance out."
            )
        return column.to_numpy().astype(np.float64), known, remarks
    if kind == TEXT:
        remarks += _about_spellings(column.to_list(), target, clean)
        column = clean_labels(column) if clean else column
    check_classes(column, kind, target, path)
    return as_labels(column, kind), known, remarks


def as_labels(column: Any, kind: str) -> NDArray[Any]:
    """Return a column without missing cells as an array of labels."""
    values = column.to_numpy()
    return values.astype(np.int64) if kind == NUMBER else np.array(values.tolist())


def clean_labels(column: Any) -> Any:
    """Write labels in small letters with single blanks, each by itself: all labs get the same.

    The most frequent spelling would look nicer, but is another one in another sample.
    """
    return column.str.strip_chars().str.replace_all(r"\s+", " ").str.to_lowercase()


def _about_spellings(labels: list[str], target: str, clean: bool) -> list[str]:
    """Tell which labels differ in case or blanks only, with counts."""
    spellings: dict[str, Counter[str]] = {}
    for label, count in Counter(labels).items():
        spellings.setdefault(" ".join(label.split()).lower(), Counter())[label] = count
    remarks = []
    for cleaned, found in spellings.items():
        if len(found) > 1:
            counted = ", ".join(f"{label!r} ({count})" for label, count in found.most_common())
            what = f"differ in case or blanks only and are {len(found)} classes; --clean-labels"
            what = "are one class now" if clean else f"{what} makes them one"
            remarks.append(f"{target!r}: {counted} {what}, {cleaned!r}")
    return remarks


def check_classes(column: Any, kind: str, target: str, path: str) -> None:
    """Refuse a target whose values are no classes."""
    n_values = column.n_unique()
    if n_values == 0:
        problem = "has no known value"
    elif is_date(kind):
        problem = "holds dates, not classes"
    elif n_values == 1:
        label = f"{column[0]:g}" if kind == NUMBER else repr(column[0])
        problem = f"has one class only ({label}); there is nothing to predict"
    elif kind == NUMBER and not bool((column == column.floor()).all()):
        problem = (
            "holds numbers that are not whole: a quantity, not classes. For regression use "
            "replearn audit --tolerance; for classification cut it into classes"
        )
    elif n_values > MAX_CLASSES:
        problem = (
            f"has {n_values} different values; a classifier needs few (at most {MAX_CLASSES}). "
            "Is it a quantity, or an id?"
        )
    else:
        return
    raise TableFileError(f"{path}: target {target!r} {problem}.")


def _classes(labels: NDArray[Any]) -> str:
    """Count the classes, the most frequent first; of numbers say where they lie."""
    if labels.dtype.kind == "f":
        low, middle, high = np.quantile(labels, (0.0, 0.5, 1.0))
        return f"{low:g} to {high:g}, median {middle:g}"
    ranked = Counter(np.asarray(labels).tolist()).most_common()
    shown = [
        f"{label!r} {count:,} ({count / len(labels):.1%})".replace("%", " %")
        for label, count in ranked[:MAX_CLASSES_SHOWN]
    ]
    left = len(ranked) - len(shown)
    return ", ".join(shown) + (f" and {left} more classes" if left else "")


def wanted_kinds(options: SampleOptions) -> dict[str, str] | None:
    """Return the kinds of the columns if they are given; None if they are to be guessed."""
    if options.columns is None:
        return None
    named = {name: ID for name in (options.id, options.group_by) if name is not None}
    return {**named, **read_columns(options.columns)}


def _check_column(name: str, columns: Iterable[str], path: str) -> None:
    if name in columns:
        return
    close = difflib.get_close_matches(name.lower(), [n.lower() for n in columns], n=1)
    meant = [f" Did you mean {n!r}?" for n in columns if close and n.lower() == close[0]]
    known = ", ".join(list(columns)[:20])
    raise TableFileError(f"{path} has no column {name!r}.{''.join(meant)} It has {known}.")


def _groups(column: Any, options: SampleOptions) -> NDArray[Any]:
    if column.null_count():
        raise TableFileError(
            f"{options.data}: column {options.group_by!r} has rows without a value."
        )
    return np.array([str(value) for value in column.to_list()])


def _times(frame: Any, kinds: Mapping[str, str], options: SampleOptions) -> NDArray[Any]:
    """Return the time of each row: of several columns (year, month, day) one text that sorts."""
    parts = []
    for name in options.time_columns:
        column = frame[name]
        if column.null_count():
            raise TableFileError(f"{options.data}: column {name!r} has rows without a value.")
        values = column.to_numpy()
        if is_date(kinds[name]):
            days = values.astype("datetime64[D]")
            values = days if (days == values).all() else values
        elif values.dtype.kind not in "iuf":
            raise TableFileError(
                f"{options.data}: column {name!r} holds texts; --time-column requires dates or "
                "numbers (year,month,day in several columns)."
            )
        parts.append(values)
    return parts[0] if len(parts) == 1 else _joined(parts, options)


def _joined(parts: list[NDArray[Any]], options: SampleOptions) -> NDArray[Any]:
    """Join whole numbers to texts that sort: 3 and 5 to 03-05."""
    texts = []
    for name, values in zip(options.time_columns, parts, strict=True):
        whole = values.dtype.kind != "M" and bool((values == np.floor(values)).all())
        if not whole or values.min() < 0:
            raise TableFileError(
                f"{options.data}: column {name!r} must hold whole numbers of at least 0, since "
                "--time-column names several columns."
            )
        width = len(str(int(values.max())))
        texts.append([f"{int(value):0{width}d}" for value in values])
    return np.array(["-".join(cells) for cells in zip(*texts, strict=True)])


def read_columns(path: str) -> dict[str, str]:
    """Read the kinds of columns that ``fit --save-columns`` has written, or a model's."""
    if zipfile.is_zipfile(path):
        notes = notes_of_model(path)
        return {**wanted_columns(notes), notes["target"]: notes["target_kind"]}
    kinds = read_object(Path(path).read_bytes(), f"{path} is not a columns file", TableFileError)
    return _checked_kinds(kinds, f"{path} is not a columns file")


def _checked_kinds(kinds: Any, what: str) -> dict[str, str]:
    """Return kinds of columns; refuse what is none."""
    if not isinstance(kinds, dict) or not kinds or set(map(type, kinds.values())) != {str}:
        raise TableFileError(f'{what}: {{"name": "kind", ...}} is expected.')
    return kinds


def wanted_columns(notes: Mapping[str, Any]) -> dict[str, str]:
    """Return the kinds of the columns that a model needs for predicting."""
    named = {} if notes.get("id") is None else {notes["id"]: ID}
    return {**notes["columns"], **named}


def notes_of_model(path: str) -> Mapping[str, Any]:
    """Return what ``replearn fit`` wrote into a model file about the table."""
    from replearn.persistence.model_file import describe

    notes = describe(path).notes
    if "columns" not in notes:
        raise TableFileError(f"{path} was not written by replearn fit: it does not list columns.")
    _checked_kinds(notes["columns"], f"{path}: the notes about columns are damaged")
    return notes


def read_key(path: str | None) -> SharedKey | None:
    """Read a key file: one line of text, or what ``replearn key new`` wrote."""
    if path is None:
        return None
    try:
        text = Path(path).read_text(encoding="utf-8").strip()
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a key file: it is not text.") from None
    if not text or len(text.splitlines()) > 1:
        raise ValueError(f"{path} is not a key file: one line of text is expected.")
    return SharedKey(text)


def threshold_params(options: ThresholdOptions, label_counts: Mapping[Any, int]) -> dict[str, Any]:
    """Return the decision threshold of the options and its label, as estimators take them."""
    from replearn.learners.threshold import check_pos_label, parse_threshold

    if options.threshold is None:
        return {}
    try:
        threshold = parse_threshold(options.threshold)
    except ValueError as error:
        raise ValueError(
            f"--threshold {options.threshold}: must be a number such as 0.1, prevalence, or the "
            "costs of a false positive and a false negative such as 1:5."
        ) from error
    classes = np.array(sorted(label_counts))
    known = {str(label): label for label in classes.tolist()}
    if options.pos_label is not None and options.pos_label not in known:
        raise ValueError(f"--pos-label {options.pos_label}: the labels are {', '.join(known)}.")
    positive = None if options.pos_label is None else known[options.pos_label]
    check_pos_label(threshold, positive, classes)
    return {"threshold": threshold, "pos_label": positive}


def read_threshold(options: ThresholdOptions, label_counts: Mapping[Any, int]) -> Any:
    """Return the decision threshold of the options, on the probability of the last label."""
    from replearn.learners.threshold import threshold_of_label

    params = threshold_params(options, label_counts)
    classes = np.array(sorted(label_counts))
    return threshold_of_label(**params, classes=classes) if params else None


def base_model(name: str, columns: Mapping[str, str], known: Named = NAMED) -> Any:
    """Return the base estimator by name, with everything that learns from data inside.

    >>> [type(step).__name__ for _, step in base_model("tree", {"age": "number"}).steps]
    ['TableEncoder', 'DecisionTreeClassifier']
    """
    from sklearn.pipeline import Pipeline, make_pipeline

    from replearn.auditing.contenders import is_replicable
    from replearn.learners.regressor import PointwiseReplicableRegressor
    from replearn.tables.encoder import TableEncoder

    if name in known:
        module, kind, params, for_trees = known[name]
        model = getattr(_imported(module, name), kind)(**params)
        return make_pipeline(TableEncoder(dict(columns), for_trees=for_trees), model)
    model = _imported_model(name, known)
    if isinstance(model, Pipeline | PointwiseReplicableRegressor) or is_replicable(model):
        return model
    return make_pipeline(TableEncoder(dict(columns)), model)


def _imported(module: str, name: str) -> Any:
    """Import the package of a base estimator; an error names the package to install."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ValueError(
            f"--model {name} requires the package {package}, which cannot be imported ({error}): "
            f"pip install {package}."
        ) from error


def takes_columns_itself(model: Any) -> bool:
    """Tell whether a base estimator is a user's own pipeline, which may expect pandas."""
    from replearn.tables.encoder import TableEncoder

    steps = getattr(model, "steps", None)
    return steps is None or not isinstance(steps[0][1], TableEncoder)


def _imported_model(name: str, known: Iterable[str]) -> Any:
    module_name, colon, path = name.partition(":")
    if not colon or not module_name or not path:
        raise ValueError(f"model {name!r} is not one of {', '.join(known)}, nor module:object.")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)  # last: it replaces no other module; kept: workers look there, too
    try:
        model: Any = importlib.import_module(module_name)
        for part in path.split("."):
            model = getattr(model, part)
    except (ImportError, AttributeError) as error:
        raise ValueError(f"model {name!r} cannot be imported: {error}") from None
    if isinstance(model, type) or (callable(model) and not hasattr(model, "fit")):
        model = model()
    if not (hasattr(model, "fit") and hasattr(model, "predict")):
        raise ValueError(f"model {name!r} is {model!r:.80}, which has no fit and predict.")
    return model


# -- large tables: read whole or in pieces ---------------------------------------------------------
MIN_MEMORY = 1 << 30
"""What work in pieces takes, however large the file is: measured (docs/scale.md), rounded up."""

BLOCK_COPIES = 4
"""How often the rows of a block are in memory while it is sorted and trained on."""


@dataclass(frozen=True)
class Reading:
    """How a table is read."""

    needed: int  # bytes, if it is read whole
    limit: int | None  # bytes that may be taken; None: unknown
    requested: bool  # whether the user has set the limit

    @property
    def fits(self) -> bool:
        """Whether the table is read whole."""
        return self.limit is None or self.needed <= self.limit

    @property
    def why(self) -> str:
        """Why it is not read whole."""
        assert self.limit is not None
        there = "--max-memory allows" if self.requested else "this command takes at most"
        return (
            f"the table would take about {format_memory(self.needed)} of memory, and {there} "
            f"{format_memory(self.limit)}"
        )

    def require_whole(self, option: str) -> None:
        """Raise, or say so, if an option needs the table in memory and it does not fit."""
        if self.fits:
            return
        if self.requested:
            raise ValueError(f"{option} requires the table in memory, but {self.why}.")
        say(f"warning: {self.why}; {option} requires it in memory")

    def require_pieces(self, rows_per_block: int | None, n_columns: int) -> None:
        """Raise if work in pieces would take more than the user has allowed."""
        if not self.requested or self.limit is None:
            return
        block_bytes = BLOCK_COPIES * 8 * (rows_per_block or 0) * (n_columns + 2)
        needed = MIN_MEMORY + max(0, block_bytes - MIN_MEMORY // 4)
        if needed > self.limit:
            raise ValueError(
                f"--max-memory {format_memory(self.limit)}: must be at least "
                f"{format_memory(needed)} for this table"
                + (
                    f", with blocks of {rows_per_block:,} rows (more blocks are smaller: --plan)."
                    if block_bytes > MIN_MEMORY // 4
                    else "."
                )
            )


def reading_of(path: str, max_memory: int | None) -> Reading:
    """Choose how a file is read: in pieces if it is larger than a quarter of the free memory."""
    limit = available_memory() if max_memory is None else max_memory
    return Reading(memory_needed(Path(path)), limit, max_memory is not None)


def jobs_within(jobs: int | None, max_memory: int | None) -> int | None:
    """Return how many workers may run at once under a limit of memory that the user has set."""
    if max_memory is None or jobs in (None, 1):
        return jobs
    from joblib import effective_n_jobs

    return max(1, min(effective_n_jobs(jobs), max_memory // MIN_MEMORY))
