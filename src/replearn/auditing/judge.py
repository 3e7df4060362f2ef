"""The verdict of an audit: each contender against the baseline, and which one to use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from replearn.auditing.contenders import NEEDS, NOTHING
from replearn.auditing.runs import DIFFERENCE, FLIPS, Measured

if TYPE_CHECKING:
    from replearn.auditing.audits import AuditResult

STABLE_ENOUGH = 0.002
"""A baseline that changes fewer predictions leaves nothing to gain."""

MAX_PRICE = 0.01
"""By default, a contender that costs more than one point of its scores is not recommended."""

SIMILAR = 1.1
"""Of contenders whose changed predictions differ by less than a tenth, the simpler one is used."""

CLEARLY_BETTER = 0.01
"""A baseline is better than no model if its balanced accuracy is, beyond chance, by one point."""

BASELINE = "baseline"
WORTH_IT = "worth it"
COSTLY = "costs accuracy"
UNCLEAR = "no difference shown"
NOT_NEEDED = "not needed"
SINGLE_CLASS = "predicts a single class"
OUTCOMES = (BASELINE, WORTH_IT, COSTLY, UNCLEAR, NOT_NEEDED, SINGLE_CLASS)


@dataclass(frozen=True)
class ContenderJudgement:
    """One contender against the baseline.

    Parameters
    ----------
    name, kind, needs, measured_as : str
        As in `ContenderResult`.
    outcome : str
        "worth it" (fewer predictions change, beyond chance, at a price of at most ``max_price``),
        "costs accuracy" (a larger price), "no difference shown", "not needed" (the baseline changes
        fewer than two predictions in a thousand), "predicts a single class", or "baseline".
    price : float
        The larger loss of the leading score and of balanced accuracy, as a share.
    constant : object or None
        What it predicts for nearly every row, if it does.
    """

    name: str
    kind: str
    needs: str
    measured_as: str
    outcome: str
    price: float
    constant: Any

    @property
    def usable(self) -> bool:
        """Whether its predictions depend on the row."""
        return self.outcome != SINGLE_CLASS


@dataclass(frozen=True)
class Judgement:
    """What an audit says about its contenders.

    Parameters
    ----------
    contenders : tuple of ContenderJudgement
        In order; the first is the baseline.
    leading : str
        The score that leads the report: accuracy, AUC where a class is rare, or R².
    recommended : str or None
        The contender to use; None if the baseline predicts a single class, or is not shown to be
        better than always predicting the same.
    recommendations : dict of str to str
        The contender to use for each need that some contender serves at a fair price.
    max_price : float
        The largest price that is called worth it, as a share.
    no_better : bool
        Whether the baseline is not shown to be better than always predicting the same.
    """

    contenders: tuple[ContenderJudgement, ...]
    leading: str
    recommended: str | None
    recommendations: dict[str, str]
    max_price: float
    no_better: bool

    @property
    def baseline(self) -> ContenderJudgement:
        """The first contender."""
        return self.contenders[0]

    def __getitem__(self, name: str) -> ContenderJudgement:
        return next(c for c in self.contenders if c.name == name)


def judge(result: AuditResult) -> Judgement:
    """Judge every contender of an audit."""
    leading = leading_score(result)
    contenders = tuple(_judge(result, c.name, leading) for c in result.contenders)
    recommendations = dict(_recommendations(result, contenders))
    no_better = _no_better(result, leading)
    return Judgement(
        contenders=contenders,
        leading=leading,
        recommended=None if no_better else _recommended(result, recommendations),
        recommendations=recommendations,
        max_price=result.max_price,
        no_better=no_better,
    )


def leading_score(result: AuditResult) -> str:
    """Name the score that leads the report: one that every contender has."""
    predictions = [contender.predictions for contender in result.contenders]
    return predictions[0].leading if len({p.leading for p in predictions}) == 1 else "accuracy"


def _judge(result: AuditResult, name: str, leading: str) -> ContenderJudgement:
    contender = result[name]
    judged_by = (leading, "balanced accuracy")
    differences = [result.table.get(f"{DIFFERENCE}{score}", name) for score in judged_by]
    price = max(0.0, *(-found.value for found in differences if found is not None), 0.0)
    constant = contender.predictions.constant
    outcome = SINGLE_CLASS if constant is not None else _outcome(result, name, price)
    return ContenderJudgement(
        name=name,
        kind=contender.kind,
        needs=contender.needs,
        measured_as=contender.measured_as,
        outcome=outcome,
        price=price,
        constant=constant,
    )


def _outcome(result: AuditResult, name: str, price: float) -> str:
    fewer = result.table.get(f"{DIFFERENCE}{FLIPS}", name)
    if fewer is None:
        return BASELINE
    if result.flip_rate(result.contenders[0].name).value < STABLE_ENOUGH:
        return NOT_NEEDED
    if price > result.max_price:
        return COSTLY
    return WORTH_IT if fewer.upper < 0 else UNCLEAR


def _recommendations(
    result: AuditResult, contenders: tuple[ContenderJudgement, ...]
) -> list[tuple[str, str]]:
    """Return the contender with the fewest changed predictions for each need, where worth it.

    Who has nothing but the data, and finds nothing that is worth it, keeps the baseline.
    """
    baseline = contenders[0]
    found = []
    for need in NEEDS if baseline.usable else ():
        worth = [c.name for c in contenders if c.needs == need and c.outcome == WORTH_IT]
        if worth:
            found.append((need, min(worth, key=lambda name: result.flip_rate(name).value)))
        elif need == NOTHING:
            found.append((need, baseline.name))
    return found


def _recommended(result: AuditResult, recommendations: dict[str, str]) -> str | None:
    """Choose the recommendation with the fewest changed predictions; of similar ones the first."""
    changed = {name: result.flip_rate(name).value for name in recommendations.values()}
    fewest = min(changed.values(), default=0.0)
    similar = [name for name in changed if changed[name] <= SIMILAR * fewest]
    return similar[0] if similar else None


def _no_better(result: AuditResult, leading: str) -> bool:
    """Tell whether the limits of the baseline's scores allow that no model is as good."""
    none = result.contenders[0].predictions.no_model()

    def beats(found: Measured | None, score: str, margin: float = 0.0) -> bool:
        return found is not None and found.lower > none[score] + margin

    ranks = beats(result.table.get(leading), leading)
    if leading != "AUC" and ranks:
        return False
    balanced = result.table.get("balanced accuracy")
    finds = beats(balanced, "balanced accuracy", CLEARLY_BETTER)
    # Where a class is rare, a model must rank rows, and decide at a threshold that finds some.
    return not (ranks and finds) if leading == "AUC" else not finds
