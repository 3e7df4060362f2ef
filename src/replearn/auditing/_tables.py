"""The tables and sentences that all reports share, as text."""

from __future__ import annotations

from typing import Any

from replearn.auditing._statistics import percent, points
from replearn.auditing._summary import rare_class

Lines = list[tuple[str, ...]]


def stability(summary: dict[str, Any]) -> Lines:
    """Return the table of changed predictions, header first."""
    seconds = summary.get("timings", {}).get("seconds_per_run", {})
    lines: Lines = [
        (
            "contender",
            "changed predictions",
            "limits",
            "1 row in 100",
            "worst row",
            "guarantee",
            "s per run",
        )
    ]
    for c in summary["contenders"]:
        rate = c["flip_rate"]
        rows = c["row_flips"]
        lines.append(
            (
                c["name"],
                percent(rate["estimate"]),
                f"{percent(rate['lower'])} to {percent(rate['upper'])}",
                at_least(rows["p99"]["estimate"]),
                percent(rows["max"]["estimate"], 0),
                guarantee(c),
                f"{seconds[c['name']]:.2f}" if c["name"] in seconds else "",
            )
        )
    return lines


def at_least(value: float) -> str:
    """Write the share of pairs in which one row in a hundred changes."""
    return f"{percent(value, 0)} or more" if value > 0 else "0 %"


def usefulness(summary: dict[str, Any]) -> Lines:
    """Return the table of right predictions, header first, no model at all last."""
    first = summary["contenders"][0]["usefulness"]
    several = len(first["classes"]) > 2
    rarest = repr(first["rarest_class"])
    found = ("lowest recall", "precision there") if several else (f"{rarest} found", "precision")
    lines: Lines = [("contender", "accuracy", "balanced", "AUC", *found, "Brier", "log-loss")]
    for c in summary["contenders"]:
        useful = c["usefulness"]
        rare = rare_class(useful)
        named = f" ({rare['label']})" if several else ""
        lines.append(
            (
                c["name"],
                share(c["accuracy"]),
                share(useful["balanced_accuracy"]),
                number(useful["auc"]),
                share(rare["recall"]) + named,
                share(rare["precision"]) or "no such prediction",
                number(useful["brier"]),
                number(useful["log_loss"]),
            )
        )
    return [*lines, _no_model(summary["majority"])]


def _no_model(majority: dict[str, Any]) -> tuple[str, ...]:
    shares = [percent(majority[name], 1) for name in ("accuracy", "balanced_accuracy")]
    numbers = [f"{majority[name]:.3f}" for name in ("brier", "log_loss")]
    name = f"always {majority['label']!r}"
    return (name, *shares, "0.500", "0.0 %", "no such prediction", *numbers)


def share(estimate: dict[str, float] | None) -> str:
    """Write a share with how far its limits reach."""
    if estimate is None:
        return ""
    return f"{percent(estimate['estimate'], 1)} ± {100 * _reach(estimate):.1f}"


def number(estimate: dict[str, float] | None) -> str:
    """Write a number with how far its limits reach."""
    return "" if estimate is None else f"{estimate['estimate']:.3f} ± {_reach(estimate):.3f}"


def _reach(estimate: dict[str, float]) -> float:
    return max(estimate["upper"] - estimate["estimate"], estimate["estimate"] - estimate["lower"])


def guarantee(contender: dict[str, Any]) -> str:
    """Say what the certificate guarantees, and where it is worth nothing."""
    certificate = contender["certificate"]
    if certificate is None:
        kind = contender["promised_as"] or "another kind"
        return f"{kind}, see its promise" if contender["other_promises"] else "none"
    if certificate["void_because"]:
        return "void"
    if contender["usefulness"]["constant"] is not None:
        return "empty: a constant prediction"
    if contender["usefulness"]["uninformed"]:
        return "empty: predictions ignore the rows"
    limit = f"at most {percent(certificate['rho'], 1)}"
    if certificate["gamma"] is not None:
        gamma = percent(certificate["gamma"], 1)
        limit = f"at most {gamma} of the rows, except with probability {certificate['rho']:.3g}"
    return limit if certificate["certified"] else f"{limit}, more than requested"


def guarantee_note(summary: dict[str, Any]) -> str:
    """Explain why a measured row may lie above the guarantee; empty without one."""
    if all(c["certificate"] is None for c in summary["contenders"]):
        return ""
    pairs = summary["design"]["n_pairs"]
    return (
        "The guarantee is, for each row, an average over keys and samples; the worst row is the "
        f"largest of {summary['design']['n_test']:,} measured rows over {pairs} pairs, and may lie "
        "above it by chance."
    )


def title(summary: dict[str, Any]) -> str:
    """Name file, target and model in one line."""
    about = summary["about"]
    parts = [about[name] for name in ("file", "model") if about.get(name)]
    if about.get("target"):
        parts.insert(1, f"target {about['target']}")
    return "Audit of " + ", ".join(parts)


def head_items(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return what the head of the page names: file, target, model, date, version."""
    items = {name: summary["about"].get(name.lower()) for name in ("File", "Target", "Model")}
    items["Date"] = summary.get("timings", {}).get("finished")
    items["Version"] = f"replearn {summary['replearn']}"
    return [(name, text) for name, text in items.items() if text]


def needs_sentence(summary: dict[str, Any]) -> str:
    """Say which contender serves which need; empty if there is no choice."""
    needs = summary["verdict"]["needs"]
    words = "; ".join(f"{need['need']}: {need['contender']}" for need in needs)
    return f"Which one: {words}." if words else ""


def frontier(summary: dict[str, Any]) -> Lines:
    """Return accuracy against flips, on average and in the tail, header first; empty if alone."""
    indices = summary["verdict"]["frontier"]
    if len(indices) < 2:
        return []
    head = (
        "contender",
        "accuracy, points",
        "changed predictions",
        "1 row in 100",
        "nothing better",
    )
    return [
        head,
        *(
            (
                p["contender"],
                points(p["points"]),
                percent(p["changed"]),
                percent(p["tail"], 0),
                _where_best(p),
            )
            for p in indices
        ),
    ]


def _where_best(standing: dict[str, Any]) -> str:
    """Say in which respect no other contender is as accurate and more stable."""
    names = {"undominated_on_average": "on average", "undominated_in_the_tail": "in the tail"}
    return " and ".join(words for item, words in names.items() if standing[item])


def shortage_sentence(summary: dict[str, Any]) -> str:
    """Say how far the audit got, if not as far as requested."""
    return f"How far it got: {'; '.join(summary['cut_short'])}." if summary["cut_short"] else ""


def design_sentence(summary: dict[str, Any]) -> str:
    """Describe the design in one sentence."""
    d = summary["design"]
    stopped = f" (of {d['pairs_wanted']} requested)" if d["n_pairs"] < d["pairs_wanted"] else ""
    return (
        f"{d['n_pairs']} pairs of {d['sample']} samples{stopped}, {d['train_size']:,} {d['unit']} "
        f"each, from a table of {d['n_rows']:,} rows; {d['n_test']:,} test rows. "
        f"Limits: {percent(1 - d['delta'], 0)}, for {d['limits_hold_for']}."
    )


def remarks(summary: dict[str, Any]) -> list[str]:
    """Return what readers should know about single contenders, and what estimators warned of."""
    found = [f"{c['name']}: {c['remark']}" for c in summary["contenders"] if c["remark"]]
    pairs = summary["design"]["n_pairs"]
    return found + [
        f"{c['name']} warned in {note['pairs']} of {pairs} pairs: {note['text']}"
        for c in summary["contenders"]
        for note in c["notes"]
    ]
