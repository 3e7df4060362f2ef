"""The tables and sentences that all reports share, as text."""

from __future__ import annotations

from typing import NamedTuple

from replearn.auditing import _words
from replearn.auditing._checks import Finding
from replearn.auditing._contenders import NOTHING
from replearn.auditing._judgement import Judgement
from replearn.auditing._records import (
    CertificateRecord,
    ContenderRecord,
    DesignRecord,
    Report,
    TimeRecord,
)
from replearn.auditing._statistics import MIN_GROUP_ROWS, Estimate, percent, points
from replearn.auditing._time import N_SHUFFLES
from replearn.auditing._usefulness import NoModel, RegressionUsefulness

Lines = list[tuple[str, ...]]
SHOWN_COLUMNS = 15
SHOWN_FINDINGS = 2
"""Findings that the first screen names; the others are counted."""


def overview(judgement: Judgement) -> Lines:
    """Return the table of the first screen, header first: five columns."""
    score = judgement.baseline.scores[0].name
    lines: Lines = [("contender", "needs", "predictions that change", score, "verdict")]
    for judged in judgement.contenders:
        name = f"{judged.name} *" if judged.name == judgement.recommended else judged.name
        lines.append(
            (
                name,
                judged.needs,
                judged.changed.percent(),
                _words.score_text(judged.scores[0]),
                _words.verdict(judged),
            )
        )
    none = judgement.no_model
    if none is not None:
        lines.append((f"always {none.label!r}", NOTHING, percent(0, 1), none.score(score), ""))
    return lines


def stability(report: Report) -> Lines:
    """Return the table of changed predictions, header first."""
    lines: Lines = [
        ("contender", "changed predictions", "1 row in 100", "worst row", "guarantee", "s per run")
    ]
    seconds = report.timings.seconds_per_run
    for c in report.contenders:
        lines.append(
            (
                c.name,
                c.flip_rate.percent(2),
                at_least(c.row_flips.p99.value),
                percent(c.row_flips.max.value, 0),
                guarantee(c),
                f"{seconds[c.name]:.2f}",
            )
        )
    return lines


def sources(report: Report) -> Lines:
    """Tabulate where changes of the baseline come from; nothing if it was not measured."""
    if not report.sources:
        return []
    lines = [("Only this changes", "Predictions that change", "Repetitions")]
    for source in report.sources:
        lines.append((source.name, source.changed.percent(), str(source.repeats)))
    fresh = report.contenders[0].flip_rate
    share = report.design.new_rows
    what = "all rows are new" if share == 1 else f"{_share(share)} of the rows are new"
    return [*lines, (what, fresh.percent(), str(report.design.n_pairs))]


def new_rows(report: Report) -> Lines:
    """Tabulate changes against the share of new rows; nothing for a single share."""
    if not report.new_rows:
        return []
    names = list(report.new_rows[0].changed)
    lines: Lines = [("New rows", *names)]
    for found in report.new_rows:
        lines.append((_share(found.share), *(found.changed[name].percent() for name in names)))
    return lines


def in_time_order(report: Report) -> Lines:
    """Tabulate retrainings in time order beside shuffled ones; nothing if not measured."""
    found = report.in_time_order
    if found is None:
        return []
    lines: Lines = [
        ("Trained until", "Tested until", "Test rows", "Changed in time order", "Shuffled")
        + (() if found.retrainings[0].accuracy is None else ("Accuracy", "Shuffled accuracy"))
    ]
    for step in found.retrainings:
        line = [step.trained_until, step.test_until, f"{step.test_rows:,}", step.changed.percent()]
        line += [percent(step.shuffled, 1)]
        if step.accuracy is not None:
            line += [percent(step.accuracy, 1), percent(step.shuffled_accuracy, 1)]
        lines.append(tuple(line))
    return lines


def explanation(report: Report) -> Lines:
    """Tabulate the most important columns of the baseline; nothing if not measured."""
    found = report.explanation
    if found is None:
        return []
    top = f"In the top {found.n_top}"
    signs = {sign.name: sign for sign in found.signs}
    lines: Lines = [("Column", "Importance", "Rank", "Rank over runs", top)]
    if signs:
        lines = [(*lines[0], "Sign changes")]
    for column in found.columns[:SHOWN_COLUMNS]:
        ranks = f"{column.best_rank} to {column.worst_rank}"
        line = [column.name, f"{column.importance:.3g}", str(column.rank), ranks]
        line += [f"{percent(column.in_top, 0)} of runs"]
        if signs:
            line += [signs[column.name].percent(0) if column.name in signs else ""]
        lines.append(tuple(line))
    return lines


def other_names(report: Report) -> Lines:
    """Tabulate churn, multiplicity and negative flips; nothing for quantities."""
    if not report.multiplicity:
        return []
    head = ("contender", "churn", "self-consistency", "ambiguity", "discrepancy", "negative flips")
    lines: Lines = [head]
    for found in report.multiplicity:
        estimates = (
            *(found.churn, found.self_consistency, found.ambiguity),
            *(found.discrepancy, found.negative_flips),
        )
        lines.append((found.contender, *(estimate.percent() for estimate in estimates)))
    return lines


def by_group(report: Report) -> list[Section]:
    """Return the table of changes by true class and by value of each subgroup, if there are any."""
    lines: Lines = [("Group", "Test rows", *(c.name for c in report.contenders))]
    flips = [(*c.by_class, *c.by_subgroup) for c in report.contenders]
    for group in zip(*flips, strict=True):
        named = f"{group[0].subgroup} = {group[0].level}"
        lines.append((named, f"{group[0].rows:,}", *(share.percent() for share in group)))
    note = (
        "Predictions that change, by true class and by subgroup; values with fewer than "
        f"{MIN_GROUP_ROWS} test rows are left out."
    )
    return [Section("groups", "Changes by group", note, lines)] if len(lines) > 1 else []


def new_rows_sentence(report: Report) -> str:
    """Say how the changes of the baseline depend on the share of new rows; empty for one share."""
    if not report.new_rows:
        return ""
    name = report.contenders[0].name
    parts = [
        f"{percent(found.changed[name].value, 1)} with {_share(found.share)}"
        for found in report.new_rows
    ]
    return f"Predictions of {name} that change by the share of new rows: {', '.join(parts)}."


def time_sentence(report: Report) -> str:
    """Say how much of the changes in time order is drift; empty if it was not measured."""
    found = report.in_time_order
    if found is None:
        return ""
    sizes = f"{found.periods} periods, {found.window} windows"
    sentence = (
        f"In time order {found.changed.percent()} of predictions change at a retraining ({sizes}), "
        f"with the same rows shuffled {found.shuffled.percent()}: {_judged_drift(found)} "
        f"(p = {found.p_value:.2g}, {found.shuffles} shuffles)."
    )
    if found.accuracy is None:
        return sentence
    return (
        f"{sentence} Accuracy on the period after the windows is {percent(found.accuracy, 1)}, "
        f"shuffled {percent(found.shuffled_accuracy, 1)} (p = {found.accuracy_p_value:.2g})."
    )


def _judged_drift(found: TimeRecord) -> str:
    drift = found.changed.value - found.shuffled.value
    if found.p_value <= 1 / (1 + N_SHUFFLES):
        return f"drift adds {points(drift, 1)} points"
    return "no changes by drift are shown"


def explanation_sentence(report: Report) -> str:
    """Say what changes in the explanation of the baseline; empty if it was not measured."""
    found = report.explanation
    if found is None:
        return ""
    sentence = (
        f"Two trainings of {report.contenders[0].name} share {found.top_overlap.percent(0)} of "
        f"their {found.n_top} most important columns; the most important one differs in "
        f"{found.first_changes.percent(0)} of the pairs."
    )
    if found.sign_changes is None:
        return sentence
    return (
        f"{sentence} {found.sign_changes.percent(0)} of {found.n_coefficients} coefficients change "
        "their sign."
    )


def grid_sentence(report: Report) -> str:
    """Say for what the limits of the settings of a grid hold; empty without a grid."""
    n_settings = report.judgement.n_settings
    if not n_settings:
        return ""
    return (
        f"Limits of the {n_settings} settings hold for all of them at once, so also for the one "
        "that is chosen."
    )


class Section(NamedTuple):
    """A part of a report about how a model is retrained."""

    id: str
    title: str
    note: str
    lines: Lines


def retraining(report: Report) -> list[Section]:
    """Return the parts about retraining that were measured."""
    repeated = (
        "The baseline was trained again on the same rows with one thing changed. What changes then "
        "is not due to the data."
    )
    models = report.multiplicity[0].n_models if report.multiplicity else 0
    names = (
        f"The same pairs in words of the literature, over {models} models. Churn: two models "
        "differ. Self-consistency: two models agree. Ambiguity: rows on which they are not "
        "unanimous. Discrepancy: the largest share on which two models of a pair differ. Negative "
        "flips: right before, wrong after."
    )
    sections = [
        Section("sources", "Where changes come from", repeated, sources(report)),
        Section("new-rows", "Some rows are new", new_rows_sentence(report), new_rows(report)),
        Section("time", "Retraining in time order", time_sentence(report), in_time_order(report)),
        Section(
            "explanation",
            "What changes in the explanation",
            explanation_sentence(report),
            explanation(report),
        ),
        Section("other-names", "Churn and multiplicity", names, other_names(report)),
    ]
    return [section for section in sections if section.lines]


def _share(share: float) -> str:
    return f"{100 * share:.3g} %"


def at_least(value: float) -> str:
    """Write the share of pairs in which one row in a hundred changes."""
    return f"{percent(value, 0)} or more" if value > 0 else "0 %"


def usefulness(report: Report) -> Lines:
    """Return the table of right predictions, header first, no model at all last."""
    first = report.contenders[0].usefulness
    if isinstance(first, RegressionUsefulness):
        return _errors(report)
    several = len(first.classes) > 2
    label = f"class {str(first.rarest.label)!r}"
    found = ("lowest recall", "precision there") if several else (f"recall, {label}", "precision")
    lines: Lines = [("contender", "accuracy", "balanced", "AUC", *found, "Brier", "log-loss")]
    for c in report.contenders:
        useful = c.usefulness
        assert not isinstance(useful, RegressionUsefulness), "one audit has one kind of target"
        rare = useful.shown
        named = f", {str(rare.label)!r}" if several else ""
        lines.append(
            (
                c.name,
                useful.accuracy.percent(),
                useful.balanced_accuracy.percent(),
                _number(useful.auc),
                rare.recall.percent() + named,
                "not predicted" if rare.precision is None else rare.precision.percent(),
                _number(useful.brier),
                _number(useful.log_loss),
            )
        )
    none = report.judgement.no_model
    return lines if none is None else [*lines, _no_model(none)]


def _errors(report: Report) -> Lines:
    """Return the table of errors of regressors, header first."""
    lines: Lines = [("contender", "R²", "RMSE", "mean change of a prediction")]
    for c in report.contenders:
        useful = c.usefulness
        assert isinstance(useful, RegressionUsefulness), "one audit has one kind of target"
        spread = (
            f"{useful.spread.value:.4g} ({useful.spread.lower:.4g} to {useful.spread.upper:.4g})"
        )
        lines.append((c.name, useful.r2.number(), f"{useful.rmse:.4g}", spread))
    return lines


def _no_model(none: NoModel) -> tuple[str, ...]:
    shares = [percent(none.accuracy, 1), percent(none.balanced_accuracy, 1)]
    numbers = [f"{none.brier:.3f}", f"{none.log_loss:.3f}"]
    return (f"always {none.label!r}", *shares, "0.500", "0.0 %", "not predicted", *numbers)


def _number(estimate: Estimate | None) -> str:
    return "" if estimate is None else estimate.number()


def guarantee(contender: ContenderRecord) -> str:
    """Say what the certificate guarantees, and where it is worth nothing."""
    certificate = contender.certificate
    if certificate is None:
        kind = contender.promised_as or "another kind"
        return f"{kind}, see its promise" if contender.other_promises else "none"
    if certificate.void_because:
        return "void"
    if contender.usefulness.undecided:
        constant = getattr(contender.usefulness, "constant", None)
        return "empty: predicts " + ("as by chance" if constant is None else "a single class")
    return _limit(certificate)


def _limit(certificate: CertificateRecord) -> str:
    limit = f"at most {percent(certificate.rho, 1)}"
    if certificate.gamma is not None:
        gamma = percent(certificate.gamma, 1)
        limit = f"at most {gamma} of the rows, except with probability {certificate.rho:.3g}"
    if certificate.certified:
        return limit
    return f"{limit} (not certified as requested)"


def guarantee_note(report: Report) -> str:
    """Explain why a measured row may lie above the guarantee; empty without one."""
    if all(c.certificate is None for c in report.contenders):
        return ""
    return (
        "The guarantee is, for each row, an average over keys and samples; the worst row is the "
        f"largest of {report.design.n_test:,} measured rows over {report.design.n_pairs} pairs, "
        "and may lie above it by chance."
    )


def title(report: Report) -> str:
    """Name file, target, model and decision threshold in one line."""
    about = report.about
    parts = [about[name] for name in ("file", "model") if about.get(name)]
    if about.get("target"):
        parts.insert(1, f"target {about['target']}")
    if about.get("threshold"):
        parts.append(f"threshold {about['threshold']}")
    return "Audit of " + ", ".join(parts)


def head_items(report: Report, version: str) -> list[tuple[str, str]]:
    """Return what the head of the page names: file, target, model, threshold, date, version."""
    names = ("File", "Target", "Model", "Threshold")
    items = {name: report.about.get(name.lower(), "") for name in names}
    items["Date"] = report.timings.finished
    items["Version"] = f"replearn {version}"
    return [(name, text) for name, text in items.items() if text]


def shortage(report: Report) -> str:
    """Say how far the audit got, if not as far as requested."""
    return f"How far it got: {'; '.join(report.cut_short)}." if report.cut_short else ""


def design_sentence(report: Report) -> str:
    """Describe the design in one sentence."""
    d = report.design
    stopped = f" (of {d.pairs_wanted} requested)" if d.n_pairs < d.pairs_wanted else ""
    return (
        f"{d.n_pairs} pairs of {_kind_of_samples(d)}{stopped}, {d.train_size:,} {d.unit} each, "
        f"from a table of {d.n_rows:,} rows; {d.n_test:,} test rows. In brackets: "
        f"{percent(1 - d.delta, 0)} limits, for {d.limits_hold_for}."
    )


def _kind_of_samples(design: DesignRecord) -> str:
    if design.new_rows == 1:
        return f"{design.sample} samples"
    return f"samples of which {_share(design.new_rows)} are new"


def short_design(report: Report) -> str:
    """Describe the design in one line."""
    d = report.design
    source = "fresh samples" if d.independent_pairs else "random splits of this file"
    return (
        f"{d.n_pairs} pairs of samples of {d.train_size:,} {d.unit}, {d.n_test:,} test rows; in "
        f"brackets {percent(1 - d.delta, 0)} limits for {source}."
    )


def findings_sentence(report: Report) -> str:
    """Name what the checks found in one line."""
    names = [f"{f.code} {f.title}{_other_contenders(report, f)}" for f in report.found]
    if not names:
        return "No findings."
    more = [f"{len(names) - SHOWN_FINDINGS} more"] if len(names) > SHOWN_FINDINGS else []
    return f"Findings: {'; '.join(names[:SHOWN_FINDINGS] + more)}."


def _other_contenders(report: Report, finding: Finding) -> str:
    """Name the contenders of a finding, if the baseline is not one of them."""
    named = [
        c.name
        for c in report.contenders
        if any(text.startswith(f"{c.name}: ") for text in finding.explanations)
    ]
    if not named or report.contenders[0].name in named:
        return ""
    return f" ({', '.join(named)})"


def remarks(report: Report) -> list[str]:
    """Return what readers should know about single contenders, and what estimators warned of."""
    found = [f"{c.name}: {c.remark}" for c in report.contenders if c.remark]
    return found + [
        f"{c.name} warned in {note.pairs} of {report.design.n_pairs} pairs: {note.text}"
        for c in report.contenders
        for note in c.notes
    ]
