"""The tables and sentences that all reports share, as text."""

from __future__ import annotations

from replearn.auditing import _words
from replearn.auditing._judgement import Judgement
from replearn.auditing._records import CertificateRecord, ContenderRecord, Report
from replearn.auditing._statistics import Estimate, percent
from replearn.auditing._usefulness import NoModel, RegressionUsefulness

Lines = list[tuple[str, ...]]
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
    return [*lines, ("all rows are new", fresh.percent(), str(report.design.n_pairs))]


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
    """Name file, target and model in one line."""
    about = report.about
    parts = [about[name] for name in ("file", "model") if about.get(name)]
    if about.get("target"):
        parts.insert(1, f"target {about['target']}")
    return "Audit of " + ", ".join(parts)


def head_items(report: Report, version: str) -> list[tuple[str, str]]:
    """Return what the head of the page names: file, target, model, date, version."""
    items = {name: report.about.get(name.lower(), "") for name in ("File", "Target", "Model")}
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
        f"{d.n_pairs} pairs of {d.sample} samples{stopped}, {d.train_size:,} {d.unit} each, from a "
        f"table of {d.n_rows:,} rows; {d.n_test:,} test rows. In brackets: "
        f"{percent(1 - d.delta, 0)} limits, for {d.limits_hold_for}."
    )


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
    names = [f"{finding.code} {finding.title}" for finding in report.found]
    if not names:
        return "No findings."
    more = [f"{len(names) - SHOWN_FINDINGS} more"] if len(names) > SHOWN_FINDINGS else []
    return f"Findings: {'; '.join(names[:SHOWN_FINDINGS] + more)}."


def remarks(report: Report) -> list[str]:
    """Return what readers should know about single contenders, and what estimators warned of."""
    found = [f"{c.name}: {c.remark}" for c in report.contenders if c.remark]
    return found + [
        f"{c.name} warned in {note.pairs} of {report.design.n_pairs} pairs: {note.text}"
        for c in report.contenders
        for note in c.notes
    ]
