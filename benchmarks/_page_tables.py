"""The tables of the pages in docs/benchmarks: what each section shows of its page's data file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from _incumbent_tables import report as incumbent_report
from _tables import Record, cell, grouped, markdown_table, pivot, table

Records = Sequence[Record]
Show = Callable[[dict[str, Any]], str]

# -- pairs of samples (real_data.py) ---------------------------------------------------------------
SCORE = ("score, rho 0.1", "score, rho 0.2")
OURS = ("literal paper", "our defaults")
MAX_ACCURACY_LOST = 0.01
POINTS = "{gain!p:+.2f} ± {gain_error!p:.2f}"
PAIRS = {
    "contender": "{contender}",
    "accuracy": "{accuracy:.4f}",
    "against single": POINTS,
    "recall": "{recall!p:.1f} %",
    "balanced": "{balanced!p:.1f} %",
    "mean flips": "{flips!p:.2f} %",
    "± sd of pairs": "{flips_sd!p:.2f}",
    "ratio": "{ratio:.2f}",
    "99 % row": "{flips_99:.3f}",
    "worst row": "{flips_max:.3f}",
    "blocks": "{blocks}",
    "rho": "{rho:.3f}",
    "limit for halves": "{limit:.3f}",
    "AUC": "{auc:.4f}",
    "log loss": "{log_loss:.4f}",
    "Brier": "{brier:.4f}",
    "CPU s": "{seconds:.1f}",
    "lost": "{lost}",
}


def with_loss(record: Record) -> Record:
    """Add what a contender of ours loses; others are only compared."""
    name = record["contender"]
    lost = []
    if name in OURS and (record["ratio"] or 0) > 1:
        lost.append("flips")
    if name in (*OURS, SCORE[0]) and record["gain"] < -MAX_ACCURACY_LOST:
        lost.append("accuracy")
    if name in OURS and record["rho"] > 0.1:
        lost.append("not certified")
    return {**record, "lost": ", ".join(lost)}


def file_by_file(records: Records) -> str:
    """One table per file, estimator and sample size, with a line per contender."""
    parts = []
    for (data, model, n), found in grouped(records, "data", "model", "n").items():
        first = found[0]
        size = f"{n:,} rows per half, {first['test_rows']:,} test rows"
        title = f"**{data}, {model}**: {size}, {count_pairs(first['pairs'])}"
        parts.append(f"{title}\n\n{table([with_loss(one) for one in found], PAIRS)}")
    return "\n\n".join(parts)


def count_pairs(n_pairs: int) -> str:
    return f"{n_pairs} pair{'' if n_pairs == 1 else 's'}"


def overview(records: Records) -> str:
    """Our defaults in one table: share of the single fit's flips, and points of accuracy."""
    ours = [one for one in records if one["contender"] == "our defaults"]
    shown = [{**one, "pairs": count_pairs(one["pairs"])} for one in ours]
    template = f"{{ratio:.2f}} / {POINTS}"
    return pivot(shown, "flips / accuracy", "{data}", "{model}, {pairs}", template)


# -- what the score thresholds are judged by -------------------------------------------------------
TARGETS = {"logreg": -0.003, "boosting": -0.015, "forest": 0.0, "tree": 0.0}
"""Accuracy against the single fit, mean over the files with LARGE rows per half and more."""

REASONS = {
    "logreg": "thresholds reach five standard errors far",
    "boosting": (
        "the mean of 24 boosted models varies by about 0.05, and thresholds reach five times as "
        "far; on Adult blocks of a 24th of the rows lose a point by themselves"
    ),
    "forest": "thresholds reach five standard errors far",
    "tree": (
        "fully grown trees vote 0 or 1, so that the mean of 24 varies by about 0.1 and thresholds "
        "reach nearly all scores; where classes overlap, most rows lie there"
    ),
}
"""Why a line may be lost."""

LARGE = 5_000
BAGGING_FACTOR = 1.1
TAIL_FACTOR = 1.5
MAX_ABOVE = 0.01
ACCURACY = {
    "accuracy at nominal 0.1": "{model}",
    "mean of the large files": "{gain!p:+.2f}",
    "by file": "{by_file}",
    "wanted": "{wanted!p:+.1f}",
    "verdict": "{verdict}",
}
TAILS = {
    "tail": "{data}, {model}, {contender}",
    "pairs": "{pairs}",
    "99 % row": "{row_99:.3f}",
    "worst 1 %, on other pairs": "{worst_percent:.3f}",
    "rows above": "{above!p:.1f} %",
    "verdict": "{verdict}",
}


def verdicts(records: Records, means: Records) -> str:
    """Compare nominal 0.1 with the targets: accuracy over files, flips beside bagging by file."""
    ours = [one for one in records if one["contender"] == SCORE[0]]
    lines = [_judged_accuracy(mean, ours) for mean in means if mean["contender"] == SCORE[0]]
    beside = [
        {**one, "lost": " (lost)" * (one["to_bagging"] > BAGGING_FACTOR)}
        for one in ours
        if "to_bagging" in one
    ]
    corner = f"flips / bagging's, wanted: at most {BAGGING_FACTOR}"
    flips = pivot(beside, corner, "{data}", "{model}", "{to_bagging:.2f}{lost}")
    missing = [f"{one['data']} {one['model']}" for one in ours if "to_bagging" not in one]
    not_run = f"\n\nBagging was not run: {', '.join(missing)}." if missing else ""
    return f"{table(lines, ACCURACY)}\n\n{flips}{not_run}"


def _judged_accuracy(mean: Record, ours: Records) -> Record:
    model = mean["model"]
    target = TARGETS[model]
    each = [one for one in ours if one["model"] == model and one["n"] >= LARGE]
    by_file = ", ".join(cell("{data} {gain!p:+.2f}", one) for one in each)
    short = f"{100 * (target - mean['gain']):.2f} points short: {REASONS[model]}"
    verdict = verdict_of(mean["gain"] >= target, short)
    return {**mean, "by_file": by_file, "wanted": target, "verdict": verdict}


def verdict_of(met: bool, reason: str) -> str:
    return "met" if met else f"LOST: {reason}"


def tails(records: Records) -> str:
    """How often the rows flip that flip most, with many pairs."""
    return table([{**one, "verdict": _tail_verdict(one)} for one in records], TAILS)


def _tail_verdict(one: Record) -> str:
    """Say whether the 99 % row is below the limit, and if not, whether chance explains it."""
    limit = TAIL_FACTOR * one["rho"]
    if one["row_99"] > limit and one["above"] <= MAX_ABOVE:
        return f"not below {limit:g}, not refuted by the limits"
    reason = f"{100 * one['above']:.1f} % of the rows are surely above {limit:g}"
    return verdict_of(one["row_99"] <= limit, reason)


def new_files(records: Records, means: Records) -> str:
    """Accuracy at both nominal rhos and flips at the first; the last line is for all files."""
    lines = []
    for found in grouped([*records, *means], "data", "model").values():
        first, second = (_of(found, contender=name) for name in SCORE)
        lines.append({**first, "loose": second["gain"]})
    corner = "accuracy at nominal 0.1 / 0.2; flips at 0.1"
    shown = "{gain!p:+.2f} / {loose!p:+.2f}; {ratio:.2f}"
    return pivot(lines, corner, "{data}", "{model}", shown)


def _of(records: Records, **fields: Any) -> Record:
    """Return the one record with these fields."""
    (found,) = [one for one in records if all(one[name] == fields[name] for name in fields)]
    return found


# -- draws of the test rows, blocks and partitions -------------------------------------------------
DRAWS = {
    "draw": "{draw}",
    "single fit flips": "{single_flips!p:.2f} %",
    "our defaults flip": "{flips!p:.2f} %",
    "ratio": "{ratio:.2f}",
    "against single": POINTS,
    "99 % row": "{flips_99:.3f}",
    "literal: ratio": "{literal_ratio:.2f}",
    "literal: against single": "{literal_gain!p:+.2f} ± {literal_gain_error!p:.2f}",
    "flips in 3 %": "{share!p:.0f} %",
}
DRAW_MEANS = {
    "draws": "{draws}",
    "single fit flips": "{single_flips!p:.2f} ± {single_flips_error!p:.2f} %",
    "our defaults flip": "{flips!p:.2f} ± {flips_error!p:.2f} %",
    "ratio": "{ratio:.2f} ± {ratio_error:.2f}",
    "against single": POINTS,
    "literal: ratio": "{literal_ratio:.2f} ± {literal_ratio_error:.2f}",
    "literal: against single": "{literal_gain!p:+.2f} ± {literal_gain_error!p:.2f}",
    "flips in 3 %": "{share!p:.1f} ± {share_error!p:.2f} %",
}
PARTITIONS = {
    "blocks": "{T}",
    "partitions": "{partitions}",
    "ratio of flips": "{ratio:.2f}",
    "against single": "{gain!p:+.2f}",
    "in 3 %": "{share!p:.0f} %",
}

# -- the frontier (frontier.py) --------------------------------------------------------------------
DEFAULT = ("arcsine", "hard")
SHOWN_PARTITIONS = (1, 6)
SETTINGS = {
    "T": "{blocks}",
    "partitions": "{partitions}",
    "law": "{law}",
    "vote": "{vote}",
    "width": "{width:.3f}",
    "accuracy": "{accuracy:.4f}",
    "against single": "{points}",
    "mean flips": "{flips!p:.2f} %",
    "ratio": "{ratio:.2f}",
    "99 % row": "{flips_99:.3f}",
    "worst row": "{flips_max:.3f}",
}
BRIEF = {
    "data, estimator in the blocks": "{data}, {model}",
    "n": "{n:,}",
    "T x partitions": "{T} x {partitions}",
    "rows in a block": "{block_rows:,}",
    "accuracy": "{accuracy!p:.2f}",
    "against single fit": POINTS,
    "majority against single fit": "{majority!p:+.2f}",
    "ratio": "{ratio:.2f}",
    "99 % row": "{flips_99:.3f}",
}


def frontier(records: Records) -> str:
    """One table per file, estimator and sample size."""
    parts = []
    for (data, model, n, rho), found in grouped(records, "data", "model", "n", "rho").items():
        title = f"**{data}, {model}, n = {n:,}**, rho = {rho}"
        parts.append(f"{title}\n\n{table(_shown_settings(found), SETTINGS)}")
    return "\n\n".join(parts)


def _shown_settings(found: Records) -> list[Record]:
    """Show the default law for several numbers of partitions, the others for the largest."""
    most: dict[int, int] = {}
    for one in found:
        if one.get("T") is not None:
            most[one["T"]] = max(most.get(one["T"], 0), one["partitions"])
    shown = []
    for one in found:
        if one.get("T") is None:
            shown.append({**one, "blocks": "single fit", "points": "+0.00"})
            continue
        is_default = (one["law"], one["vote"]) == DEFAULT
        if one["partitions"] == most[one["T"]] or (
            is_default and one["partitions"] in SHOWN_PARTITIONS
        ):
            shown.append({**one, "blocks": one["T"], "points": cell(POINTS, one)})
    return shown


def brief_frontier(records: Records) -> str:
    """One line per setting with the default law, beside the plain majority of the same blocks."""
    lines = []
    for found in grouped(records, "data", "model", "n", "T").values():
        chosen = [one for one in found if (one.get("law"), one.get("vote")) == DEFAULT]
        if chosen:
            one = chosen[-1]  # the last one has the most partitions
            plain = _of(found, law="majority", partitions=one["partitions"])
            rows = one["n"] // one["T"]
            lines.append({**one, "majority": plain["gain"], "block_rows": rows})
    return table(lines, BRIEF)


# -- growing samples (growing.py) ------------------------------------------------------------------
GROWING = {
    "data, estimator in the blocks": "{data}, {model}",
    "n": "{n:,}",
    "T": "{T}",
    "rows in a block": "{block_rows:,}",
    "single boosting": "{single!p:.2f}",
    "ours": "{ours!p:.2f}",
    "gap": "{gap!p:+.2f} ± {gap_error!p:.2f}",
    "lost by blocks": "{blocks!p:+.2f} ± {blocks_error!p:.2f}",
    "lost by thresholds": "{thresholds!p:+.2f} ± {thresholds_error!p:.2f}",
    "gap to own single fit": "{own_gap!p:+.2f} ± {own_gap_error!p:.2f}",
    "flips / single fit's": "{ratio:.2f}",
    "pairs": "{pairs}",
}


def growing(records: Records) -> str:
    return table([{**one, "block_rows": one["n"] // one["T"]} for one in records], GROWING)


# -- flip probabilities (reliability.py) -----------------------------------------------------------
FORESEEN = {
    "data": "{data}, {model}",
    "samples": "{samples}",
    "n": "{n:,}",
    "T x partitions": "{T} x {partitions}",
    "fits": "{fits}",
    "mean predicted": "{predicted:.4f}",
    "mean observed": "{observed:.4f}",
    "share of flips in 3 %": "{share:.3f}",
    "± sd": "{share_sd:.3f}",
    "possible": "{possible:.3f}",
}
MISSED = {
    "data": "{data}, {model}",
    "samples": "{samples}",
    "n": "{n:,}",
    "cuts": "{cuts}",
    "limits missed": "{missed:.3f}",
    "expected": "{expected:.3f}",
    "difference": "{difference:+.3f}",
    "± se": "{difference_error:.3f}",
}
BINS = {
    "predicted": "{above:g} - {up_to:g}",
    "rows": "{rows:,}",
    "mean predicted": "{predicted:.4f}",
    "observed": "{observed:.4f}",
    "predicted - observed": "{difference:+.4f}",
    "± sd": "{difference_sd:.4f}",
    "mean lower limit": "{lower:.4f}",
    "mean upper limit": "{upper:.4f}",
    "within": "{within}",
}


def bins(records: Records) -> str:
    """One table per file, estimator and setting: that with the most fresh samples."""
    most: dict[Any, int] = {}
    for one in records:
        name = one["data"], one["model"]
        most[name] = max(most.get(name, 0), one["samples"])
    parts = []
    names = ("data", "model", "T", "partitions", "n", "fits", "samples")
    for (data, model, T, partitions, n, fits, samples), found in grouped(records, *names).items():
        if samples == most[data, model]:
            title = f"**{data}, {model}, {T} x {partitions}**: n = {n:,}, {fits} predicting fits"
            parts.append(f"{title}\n\n{table(found, BINS)}")
    return "\n\n".join(parts)


# -- several classes, abstaining, sources of change, search ----------------------------------------
MAX_LOSS_LEFT = 0.5
CLASSES = {
    "file, estimator": "{name}",
    "single fit": "{single!p:.1f}",
    "single fit flips": "{single_flips!p:.1f}",
    "most voted class": "{most_voted!p:.1f}",
    "this rule": "{rule!p:.1f}",
    "this rule flips": "{rule_flips!p:.1f}",
    "blocks": "{T}",
    "drawn from the shares": "{drawn!p:.1f}",
    "loss now / before": "{loss}",
    "score rule": "{score!p:.1f}",
    "score rule flips": "{score_flips!p:.1f}",
}
ABSTAINING = {
    "file, estimator": "{data}, {model}",
    "contender": "{contender}",
    "abstained": "{abstained!p:.2f}",
    "both predict, differently": "{differently!p:.2f}",
    "only one predicts": "{only_one!p:.2f}",
    "accuracy of the rest": "{accuracy!p:.2f}",
}
LIMITS = "{estimate!p:.1f} ({lower!p:.1f} to {upper!p:.1f})"


def classes(records: Records) -> str:
    """Files that only confirm are in italics; a loss of more than half of the former is lost."""
    lines = []
    for one in records:
        name = f"{one['data']}, {one['model']}"
        loss = cell("{loss:.2f}", one) + " (lost)" * (one["loss"] > MAX_LOSS_LEFT)
        lines.append({**one, "name": f"*{name}*" if one["confirms"] else name, "loss": loss})
    return table(lines, CLASSES)


def sources(records: Records) -> str:
    corner = "% of predictions that change"
    return pivot(records, corner, "{data}, {model}", "{source}", LIMITS)


def new_rows(records: Records) -> str:
    return pivot(records, "% by new rows", "{data}, {model}", "{new_rows!p:.0f} %", LIMITS)


# -- the summary page ------------------------------------------------------------------------------
ESTIMATORS = {
    "logreg": "logistic regression",
    "forest": "forest",
    "boosting": "boosting",
    "tree": "tree",
}


def brief_overview(records: Records) -> str:
    """Flips and accuracy of our defaults, without errors."""
    ours = [one for one in records if one["contender"] == "our defaults"]
    shown = [{**one, "estimator": ESTIMATORS[one["model"]]} for one in ours]
    corner = "flips / accuracy"
    return pivot(shown, corner, "{data} ({n:,})", "{estimator}", "{ratio:.2f} / {gain!p:+.2f}")


def brief_new_files(means: Records) -> str:
    """Mean accuracy at both nominal rhos, and flips at the first."""
    found = grouped(means, "model")
    pairs = [[_of(both, contender=name) for name in SCORE] for both in found.values()]
    accuracy = [f"{100 * one['gain']:+.2f} / {100 * two['gain']:+.2f}" for one, two in pairs]
    flips = [f"{one['ratio']:.2f}" for one, _ in pairs]
    models = [ESTIMATORS[model] for (model,) in found]
    return markdown_table(["", *models], [["accuracy", *accuracy], ["flips", *flips]])


# -- pages -----------------------------------------------------------------------------------------
def shown(show: Callable[..., str], *names: str) -> Show:
    """Return what shows the records of some sections of a data file."""
    return lambda data: show(*(data[name]["records"] for name in names))


def dated(show: Callable[..., str], *names: str) -> Show:
    """Return the same, under the machine and date of the first section."""
    return lambda data: f"{'; '.join(data[names[0]]['made'])}.\n\n{shown(show, *names)(data)}"


def of(columns: dict[str, str]) -> Callable[[Records], str]:
    """Return what writes one table of these columns."""
    return partial(table, columns=columns)


PAGES: dict[str, dict[str, Show]] = {
    "retraining": {
        "incumbent": dated(incumbent_report, "incumbent"),
    },
    "sources": {
        "sources": shown(sources, "sources"),
        "new_rows": shown(new_rows, "new_rows"),
    },
    "flips-and-accuracy": {
        "overview": shown(overview, "real_data"),
        "real_data": dated(file_by_file, "real_data"),
        "partitions": shown(of(PARTITIONS), "partitions"),
        "draw_means": shown(of(DRAW_MEANS), "draw_means"),
        "draws": dated(of(DRAWS), "draws"),
    },
    "score-thresholds": {
        "score_verdicts": shown(verdicts, "score_data", "score_data_means"),
        "score_tails": shown(tails, "score_data_tails"),
        "score_data": dated(file_by_file, "score_data"),
        "score_new": shown(new_files, "score_new", "score_new_means"),
        "score_other_verdicts": shown(verdicts, "score_other", "score_other_means"),
        "score_other": dated(file_by_file, "score_other"),
    },
    "frontier": {"frontier": dated(frontier, "frontier")},
    "gradient-boosting": {
        "blocks_adult": dated(brief_frontier, "blocks_adult"),
        "blocks_flights": dated(brief_frontier, "blocks_flights"),
        "growing": dated(growing, "growing"),
        "growing_64": dated(brief_frontier, "growing_64"),
    },
    "several-classes": {"classes": shown(classes, "classes")},
    "flip-probability": {
        "foreseen": dated(of(FORESEEN), "foreseen"),
        "missed": shown(of(MISSED), "missed"),
        "bins": shown(bins, "bins"),
    },
    "abstaining": {"selective": dated(of(ABSTAINING), "selective")},
}
SUMMARY: dict[str, tuple[str, Show]] = {
    "certified": ("flips-and-accuracy", shown(brief_overview, "real_data")),
    "estimated": ("score-thresholds", shown(brief_new_files, "score_new_means")),
}
"""Sections of docs/benchmarks.md, with the page whose data they show."""
