"""The numbers of a report as typed records, and their JSON.

Reports of every kind (terminal, Markdown, HTML, notebook, JSON, displays) read these records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from replearn._version import __version__
from replearn.auditing._checks import Finding
from replearn.auditing._contender_results import ClassifierResult, ContenderResult
from replearn.auditing._judgement import ContenderJudgement, Judgement, decision_rule
from replearn.auditing._statistics import (
    MIN_GROUP_ROWS,
    Estimate,
    GroupFlips,
    RegressionUsefulness,
    ReliabilityBin,
    Usefulness,
    as_json,
    quantile_limits,
    reliability,
    row_limits,
    strict_limits,
    tail_mean,
)
from replearn.auditing._time import TimeResult
from replearn.bounds import binomial_limits
from replearn.guarantees.assumptions import ASSUMPTIONS

if TYPE_CHECKING:
    from replearn.auditing._audit import Measurement

FORMAT = "replearn-audit"
VERSION = 2
MIN_STABLE_SHARE = 0.01
RELIABILITY_EDGES = (0.001, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4, 0.5)
NEAR_THRESHOLD = 0.2
"""Under one key, rows that flip in at least this share of pairs are listed."""

HISTOGRAM_EDGES = tuple(round(0.05 * i, 2) for i in range(21))
Floats = NDArray[np.float64]
Levels = tuple[list[str], NDArray[np.intp]]


@dataclass(frozen=True)
class FlipRate(Estimate):
    """Share of predictions that change; ``strict`` limits assume no distribution."""

    strict: Estimate


@dataclass(frozen=True)
class Accuracy(Estimate):
    """Share of right predictions, and its range over runs."""

    sd: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class Histogram:
    """Test rows by how often their prediction changes."""

    never: int
    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class RowFlips:
    """How often the predictions of single rows change: quantiles over rows."""

    p90: Estimate
    p99: Estimate
    max: Estimate
    least_stable_share: float
    least_stable_mean: Estimate
    histogram: Histogram


@dataclass(frozen=True)
class FlipsAgainstTruth:
    """Changes from the first run to the second, by whether they are for the better."""

    right_to_wrong: float
    wrong_to_right: float
    wrong_to_wrong: float


@dataclass(frozen=True)
class ProbabilityChange:
    """Mean absolute change of the probability of the last class, and that of 1 row in 100."""

    mean: float
    p99: float


@dataclass(frozen=True)
class NearRow:
    """A row whose score is near its own threshold."""

    row: int
    frequency: float
    lower: float
    upper: float
    law_value: float
    threshold: float


@dataclass(frozen=True)
class FixedKey:
    """Changes under the contender's own key, instead of on average over keys."""

    flip_rate: Estimate
    flips_at_least: float
    rows_near_threshold: int
    share_near_threshold: float
    rows: tuple[NearRow, ...]


@dataclass(frozen=True)
class CertificateRecord:
    """What the certificate of the first run promises."""

    certified: bool
    reason: str
    promise: str
    notion: str
    rho: float | None
    gamma: float | None
    n: int
    unit: str
    n_blocks: int
    block_size: int
    n_partitions: int
    key_fingerprint: str
    digest: str
    assumptions: tuple[str, ...]
    limit_for_these_pairs: float | None
    void_because: tuple[str, ...]


@dataclass(frozen=True)
class Note:
    """A warning of an estimator, and in how many pairs it was raised."""

    text: str
    pairs: int


@dataclass(frozen=True)
class ContenderRecord:
    """All numbers of one contender; see the page on the JSON schema."""

    name: str
    description: str
    needs: str
    remark: str
    measured_as: str
    flip_rate: FlipRate
    flip_rate_difference: Estimate | None
    row_flips: RowFlips
    by_class: tuple[GroupFlips, ...]
    by_subgroup: tuple[GroupFlips, ...]
    accuracy: Accuracy | None
    accuracy_difference: Estimate | None
    usefulness: Usefulness | RegressionUsefulness
    flips_against_truth: FlipsAgainstTruth | None
    mape: ProbabilityChange | None
    fixed_key: FixedKey | None
    reliability: tuple[ReliabilityBin, ...] | None
    certificate: CertificateRecord | None
    other_promises: tuple[str, ...]
    promised_as: str
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class RowRecord:
    """One of the least stable test rows."""

    row: int
    label: str
    flips: Mapping[str, Estimate]
    cells: tuple[str, ...]


@dataclass(frozen=True)
class DesignRecord:
    """How the file was split; see `AuditDesign`."""

    n_rows: int
    n_test: int
    n_pairs: int
    pairs_wanted: int
    train_size: int
    sample: str
    unit: str
    independent_pairs: bool
    limits_hold_for: str
    delta: float
    rho: float
    key_fingerprint: str
    new_rows: float


@dataclass(frozen=True)
class SourceRecord:
    """Share of the baseline's predictions that change when one thing does, and the rows do not."""

    name: str
    changed: Estimate
    repeats: int


@dataclass(frozen=True)
class NewRowsRecord:
    """Share of changed predictions of each contender when this many training rows are new."""

    share: float
    changed: Mapping[str, Estimate]


@dataclass(frozen=True)
class Retraining:
    """One retraining in time order, beside those of the same sizes with the rows shuffled."""

    trained_until: str
    test_until: str
    test_rows: int
    changed: Estimate
    shuffled: float
    accuracy: float | None
    shuffled_accuracy: float | None


@dataclass(frozen=True)
class TimeRecord:
    """Changed predictions in time order, and with the rows shuffled."""

    window: str
    periods: int
    shuffles: int
    changed: Estimate
    shuffled: Estimate
    p_value: float
    accuracy: float | None
    shuffled_accuracy: float | None
    accuracy_p_value: float | None
    retrainings: tuple[Retraining, ...]


@dataclass(frozen=True)
class Timings:
    """When the audit ended, and how long it took."""

    finished: str
    wall_seconds: float
    seconds_per_run: Mapping[str, float]


@dataclass(frozen=True)
class Report:
    """Everything that a report shows."""

    about: Mapping[str, str]
    judgement: Judgement
    cut_short: tuple[str, ...]
    design: DesignRecord
    classes: tuple[Any, ...]
    contenders: tuple[ContenderRecord, ...]
    sources: tuple[SourceRecord, ...]
    new_rows: tuple[NewRowsRecord, ...]
    in_time_order: TimeRecord | None
    least_stable_rows: tuple[RowRecord, ...]
    columns: tuple[str, ...]
    findings: tuple[Finding, ...]
    timings: Timings

    @property
    def found(self) -> tuple[Finding, ...]:
        """The findings that were found."""
        return tuple(finding for finding in self.findings if finding.status == "found")


def make_report(result: Measurement, findings: Iterable[Finding]) -> Report:
    """Derive all numbers of a report from a measurement."""
    return Report(
        about=_about(result),
        judgement=result.judgement,
        cut_short=result.cut_short,
        design=_design(result),
        classes=result.classes,
        contenders=tuple(_contender(result, contender) for contender in result.contenders),
        sources=tuple(
            SourceRecord(source.name, result.mean(source.flips), len(source.flips))
            for source in result.sources
        ),
        new_rows=tuple(_new_rows(result)),
        in_time_order=_in_time_order(result),
        least_stable_rows=tuple(_rows(result)),
        columns=result.columns,
        findings=tuple(findings),
        timings=Timings(
            result.finished,
            result.wall_seconds,
            {c.name: float(c.seconds.mean()) for c in result.contenders},
        ),
    )


def _about(result: Measurement) -> dict[str, str]:
    about = {"model": result.contenders[0].kind, **result.about}
    rule = decision_rule(result)
    return about | {"threshold": rule} if rule else about


# -- JSON ------------------------------------------------------------------------------------------
def to_dict(report: Report, *, timings: bool = True, values: bool = True) -> dict[str, Any]:
    """Return a report as JSON values, as the page on the schema says."""
    items = {"format": FORMAT, "version": VERSION, "replearn": __version__, **as_json(report)}
    if not timings:
        del items["timings"]
    if not values:
        items["columns"] = []
        for row in items["least_stable_rows"]:
            row["cells"] = []
    return items


def flat_line(report: Report, c: ContenderRecord) -> dict[str, Any]:
    """Return one flat line of numbers of a contender, for a table."""
    return {
        "contender": c.name,
        "needs": c.needs,
        "outcome": report.judgement[c.name].outcome,
        "flip_rate": c.flip_rate.value,
        "flip_rate_lower": c.flip_rate.lower,
        "flip_rate_upper": c.flip_rate.upper,
        "p99": c.row_flips.p99.value,
        "max": c.row_flips.max.value,
        **_useful_items(c),
        "promised": None if c.certificate is None else c.certificate.rho,
        "seconds": report.timings.seconds_per_run[c.name],
    }


def _useful_items(c: ContenderRecord) -> dict[str, Any]:
    useful = c.usefulness
    if isinstance(useful, RegressionUsefulness):
        return {"r2": useful.r2.value, "rmse": useful.rmse, "spread": useful.spread.value}
    rare = useful.shown
    estimates = {
        "balanced_accuracy": useful.balanced_accuracy,
        "auc": useful.auc,
        "brier": useful.brier,
        "log_loss": useful.log_loss,
        "recall": rare.recall,
        "precision": rare.precision,
    }
    return {
        "accuracy": useful.accuracy.value,
        "accuracy_sd": None if c.accuracy is None else c.accuracy.sd,
        **{name: None if e is None else e.value for name, e in estimates.items()},
        "recall_of": rare.label,
    }


# -- from the measurement to the records -----------------------------------------------------------
def _design(result: Measurement) -> DesignRecord:
    design = result.design
    return DesignRecord(
        n_rows=design.n_rows,
        n_test=design.n_test,
        n_pairs=design.n_pairs,
        pairs_wanted=result.pairs_wanted,
        train_size=design.train_size,
        sample=design.sample,
        unit=design.unit,
        independent_pairs=design.independent_pairs,
        limits_hold_for=design.limits_hold_for,
        delta=result.delta,
        rho=result.rho,
        key_fingerprint=design.key_fingerprint,
        new_rows=design.new_rows,
    )


def _new_rows(result: Measurement) -> Iterable[NewRowsRecord]:
    for found in result.new_rows:
        deltas = {name: result.delta_of(result[name]) for name in found.flips}
        limits = {n: result.mean(flips, delta=deltas[n]) for n, flips in found.flips.items()}
        yield NewRowsRecord(found.share, limits)


def _in_time_order(result: Measurement) -> TimeRecord | None:
    found = result.in_time_order
    if found is None:
        return None
    right = found.accuracies
    return TimeRecord(
        window=found.design.window,
        periods=len(found.design.ends),
        shuffles=found.n_shuffles,
        changed=found.in_time(result.delta),
        shuffled=found.shuffled(result.delta),
        p_value=found.p_value,
        accuracy=None if right is None else float(right[0]),
        shuffled_accuracy=None if right is None else float(right[1:].mean()),
        accuracy_p_value=found.accuracy_p_value,
        retrainings=tuple(_retrainings(found, result.delta)),
    )


def _retrainings(found: TimeResult, delta: float) -> Iterable[Retraining]:
    lower, upper = binomial_limits(found.changed[0], found.n_test, delta)
    is_quantity = bool(np.isnan(found.right).any())
    for index, n_test in enumerate(found.n_test.tolist()):
        last = index + found.design.n_window
        changed = found.changed[:, index] / n_test
        accuracy = found.right[:, index] / n_test
        yield Retraining(
            trained_until=found.design.last_values[last],
            test_until=found.design.last_values[last + 1],
            test_rows=n_test,
            changed=Estimate(float(changed[0]), float(lower[index]), float(upper[index])),
            shuffled=float(changed[1:].mean()),
            accuracy=None if is_quantity else float(accuracy[0]),
            shuffled_accuracy=None if is_quantity else float(accuracy[1:].mean()),
        )


def _rows(result: Measurement) -> Iterable[RowRecord]:
    limits = {c.name: row_limits(c.flips, result.delta) for c in result.contenders}
    for index, i in enumerate(result.shown_rows):
        yield RowRecord(
            row=int(result.test[i]),
            label=_label(result, result.contenders[0].truth[i]),
            flips={
                name: Estimate(*(float(values[i]) for values in limit))
                for name, limit in limits.items()
            },
            cells=tuple(result.cells[index]),
        )


def _label(result: Measurement, truth: Any) -> str:
    return str(result.classes[truth]) if result.classes else f"{truth:g}"


def _contender(result: Measurement, c: ContenderResult) -> ContenderRecord:
    first = result.contenders[0]
    classes = [str(label) for label in result.classes], first.truth
    classifier = c if isinstance(c, ClassifierResult) else None
    judged = result.judgement[c.name]
    return ContenderRecord(
        name=c.name,
        description=c.description,
        needs=c.needs,
        remark=c.remark,
        measured_as=c.measured_as,
        flip_rate=FlipRate(**vars(judged.changed), strict=strict_limits(c.flips, result.delta)),
        flip_rate_difference=None if c is first else judged.difference,
        row_flips=_row_flips(result, c, judged.tail),
        by_class=tuple(_by(result, c.flips, "class", classes)),
        by_subgroup=tuple(
            group
            for name, levels in result.subgroups.items()
            for group in _by(result, c.flips, name, levels)
        ),
        accuracy=None if classifier is None else _accuracy(classifier, judged),
        accuracy_difference=_accuracy_difference(result, c),
        usefulness=judged.usefulness,
        flips_against_truth=None if classifier is None else _against_truth(classifier),
        mape=None if classifier is None else _probability_change(classifier),
        fixed_key=None if classifier is None else _fixed_key(result, classifier),
        reliability=_reliability(c),
        certificate=_certificate(result, c),
        other_promises=c.promises,
        promised_as=c.promised_as,
        notes=tuple(Note(text, count) for text, count in c.notes),
    )


def _row_flips(result: Measurement, c: ContenderResult, p99: Estimate) -> RowFlips:
    return RowFlips(
        p90=quantile_limits(c.flips, 0.9, result.delta),
        p99=p99,
        max=quantile_limits(c.flips, 1.0, result.delta),
        least_stable_share=MIN_STABLE_SHARE,
        least_stable_mean=tail_mean(c.flips, MIN_STABLE_SHARE),
        histogram=_histogram(c.frequency),
    )


def _histogram(frequency: Floats) -> Histogram:
    """Count rows that never flip, and the others by flip frequency."""
    edges = np.array(HISTOGRAM_EDGES)
    edges[0] = 1e-12
    counts, _ = np.histogram(frequency, bins=edges)
    return Histogram(int((frequency < edges[0]).sum()), HISTOGRAM_EDGES, tuple(counts.tolist()))


def _by(result: Measurement, flips: Floats, name: str, levels: Levels) -> Iterable[GroupFlips]:
    """Yield the mean with limits of each level that has enough test rows."""
    for index, level in enumerate(levels[0]):
        here = levels[1] == index
        if here.sum() >= MIN_GROUP_ROWS:
            rate = result.mean(flips, rows=here)
            yield GroupFlips(**vars(rate), subgroup=name, level=level, rows=int(here.sum()))


def _accuracy(c: ClassifierResult, judged: ContenderJudgement) -> Accuracy:
    by_run = c.right.mean(axis=2)
    useful = judged.usefulness
    assert isinstance(useful, Usefulness), "of a classifier"
    return Accuracy(
        **vars(useful.accuracy),
        sd=float(by_run.std(ddof=1)),
        lowest=float(by_run.min()),
        highest=float(by_run.max()),
    )


def _accuracy_difference(result: Measurement, c: ContenderResult) -> Estimate | None:
    first = result.contenders[0]
    if c is first or not (isinstance(c, ClassifierResult) and isinstance(first, ClassifierResult)):
        return None
    return result.mean((c.right - first.right).mean(axis=1), within=(-1.0, 1.0))


def _against_truth(c: ClassifierResult) -> FlipsAgainstTruth:
    """Flips from the first run to the second, as if it were the model that replaces it."""
    became_wrong = float((c.right[:, 0] - c.both_right).mean())
    became_right = float((c.right[:, 1] - c.both_right).mean())
    others = max(0.0, float(c.flips.mean()) - became_wrong - became_right)
    return FlipsAgainstTruth(became_wrong, became_right, others)


def _probability_change(c: ClassifierResult) -> ProbabilityChange | None:
    if c.probabilities is None:
        return None
    gaps = np.abs(c.probabilities[:, 0, :, -1] - c.probabilities[:, 1, :, -1]).mean(axis=0)
    return ProbabilityChange(float(gaps.mean()), float(np.quantile(gaps, 0.99)))


def _fixed_key(result: Measurement, c: ClassifierResult) -> FixedKey | None:
    if c.thresholds is None or c.law is None:
        return None
    frequency, lower, upper = row_limits(c.key_flips, result.delta)
    near = np.flatnonzero(frequency >= NEAR_THRESHOLD)
    near = near[np.argsort(-frequency[near], kind="stable")]
    return FixedKey(
        flip_rate=result.mean(c.key_flips),
        flips_at_least=NEAR_THRESHOLD,
        rows_near_threshold=len(near),
        share_near_threshold=len(near) / len(frequency),
        rows=tuple(
            NearRow(
                row=int(result.test[i]),
                frequency=float(frequency[i]),
                lower=float(lower[i]),
                upper=float(upper[i]),
                law_value=float(c.law[:, :, i].mean()),
                threshold=float(c.thresholds[0, i]),
            )
            for i in near[:20]
        ),
    )


def _reliability(c: ContenderResult) -> tuple[ReliabilityBin, ...] | None:
    if c.predicted_flips is None:
        return None
    observed = np.repeat(c.key_flips[:, np.newaxis], 2, axis=1)
    return reliability(c.predicted_flips, observed, RELIABILITY_EDGES)


def _certificate(result: Measurement, c: ContenderResult) -> CertificateRecord | None:
    certificate = c.certificate
    if certificate is None:
        return None
    vote = certificate.design
    assert vote is not None, "only certificates of votes are kept"
    in_front = [f"{name} in front of the replicable estimator" for name in c.in_front]
    return CertificateRecord(
        certified=bool(certificate.certified),
        reason=certificate.reason,
        promise=certificate.promises[0],
        notion=certificate.task,
        rho=certificate.rho,
        gamma=certificate.gamma,
        n=vote.n,
        unit=vote.unit,
        n_blocks=vote.n_blocks,
        block_size=vote.block_size,
        n_partitions=vote.n_partitions,
        key_fingerprint=certificate.key_fingerprint,
        digest=certificate.digest,
        assumptions=tuple(ASSUMPTIONS[code] for code in certificate.assumptions),
        limit_for_these_pairs=c.promise(result.design),
        void_because=(*c.incomparable, *in_front),
    )
