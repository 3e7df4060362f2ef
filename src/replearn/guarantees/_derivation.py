"""From a design to its promise: every number, in order, through the theorem registry.

This is the only place that decides which theorem applies. Plans and certificates are made by it
and checked by running it again.
"""

from dataclasses import dataclass
from typing import Any

from replearn.exceptions import CertificateError
from replearn.guarantees._accuracy import accuracy_of
from replearn.guarantees._assumptions import assumption
from replearn.guarantees._claims import Claim
from replearn.guarantees._design import Design
from replearn.guarantees._steps import Ledger, Step
from replearn.records.json import Reader
from replearn.records.text import rounded_up


@dataclass(frozen=True)
class Derivation:
    """What follows from a design.

    Parameters
    ----------
    claim : Claim
        The promise that holds.
    steps : tuple of Step
        Every number it uses.
    certified : bool
        Whether the promise is what was asked for.
    reason : str
        Why not; empty when certified.
    accuracy : str
        Which statement about the error holds.
    """

    claim: Claim
    steps: tuple[Step, ...]
    certified: bool
    reason: str
    accuracy: str

    def to_dict(self) -> dict[str, Any]:
        """Return the derivation as JSON values."""
        return {
            "claim": self.claim.to_dict(),
            "steps": [step.to_dict() for step in self.steps],
            "certified": self.certified,
            "reason": self.reason,
            "accuracy": self.accuracy,
        }

    @classmethod
    def from_reader(cls, reader: Reader) -> "Derivation":
        """Take a derivation out of a certificate or a plan; nothing is computed again yet."""
        return cls(
            claim=Claim.from_dict(reader.take_any("claim")),
            steps=tuple(Step.from_dict(item) for item in reader.take("steps", list)),
            certified=reader.take("certified", bool),
            reason=reader.take("reason", str),
            accuracy=reader.take("accuracy", str),
        )


def derive(design: Design) -> Derivation:
    """Compute what a design promises.

    Parameters
    ----------
    design : Design
        The items all runs share.

    Returns
    -------
    Derivation
        Claim, steps, and whether the request is met.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> from replearn.guarantees._design import Design, Request
    >>> result = derive(Design(Request(rho=0.1), n=3200, n_blocks=32, law=uniform_law(32)))
    >>> result.certified, round(result.claim.rho, 4)
    (True, 0.0993)
    """
    design.validate()
    ledger = Ledger(design.law)
    size = ledger.add("block_size", "content-keyed-partition", n=design.n, n_blocks=design.n_blocks)
    ledger.add("n_used", "content-keyed-partition", block_size=size, n_blocks=design.n_blocks)
    flip = _pair_flip(design, ledger)
    rho, gamma = _promise(design, ledger, flip)
    enough, accuracy = accuracy_of(design, ledger, size)
    reasons = _too_few_labels(design, ledger) + _shortfalls(design, rho, gamma)
    reasons += [] if enough else [accuracy]
    request = design.request
    claim = Claim(
        notion=request.notion,
        rho=rho,
        gamma=gamma,
        **_accuracy_items(design, enough),
        runs=request.runs,
        assumptions=tuple(assumption(code) for code in _assumption_codes(design)),
    )
    return Derivation(claim, tuple(ledger.steps), not reasons, "; ".join(reasons), accuracy)


def _accuracy_items(design: Design, enough: bool) -> dict[str, float | None]:
    """Alpha and beta of the claim: only what was asked for, and only if it is reached."""
    asked = design.request if design.request.asks_accuracy else design.heavy
    if asked is None or not enough:
        return {"alpha": None, "beta": None}
    return {"alpha": asked.alpha, "beta": asked.beta}


def promised(design: Design) -> tuple[float, float | None]:
    """Return only rho and gamma of what a design promises: the predicate of the planner.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> from replearn.guarantees._design import Design, Request
    >>> rho, gamma = promised(Design(Request(), n=32, n_blocks=32, law=uniform_law(32)))
    >>> round(rho, 4), gamma
    (0.0993, None)
    """
    ledger = Ledger(design.law)
    return _promise(design, ledger, _pair_flip(design, ledger))


def _pair_flip(design: Design, ledger: Ledger) -> float:
    """Flip probability of one fixed point between two runs."""
    if design.law is None:
        flip: float = ledger.add(
            "flip_bound", "multiclass-vote", n_blocks=design.n_blocks, n_classes=design.n_classes
        )
    else:
        key = "pointwise-threshold" if design.vote == "hard" else "soft-votes"
        flip = ledger.add("flip_bound", key, law=design.law)
    flip = ledger.add(
        "flip_bound_partitions",
        "several-partitions",
        flip_bound=flip,
        n_partitions=design.n_partitions,
    )
    return flip if design.heavy is None else _heavy_flip(design, ledger, flip)


def _heavy_flip(design: Design, ledger: Ledger, flip: float) -> float:
    """Add membership and labels of heavy points to the flip probability of the votes."""
    stage = design.heavy
    assert stage is not None
    member = ledger.add(
        "membership_flip",
        "heavy-membership",
        n=design.n,
        kind=stage.kind,
        low=stage.low,
        high=stage.high,
    )
    label = _label_flip(design, ledger)
    total: float = ledger.add(
        "flip_bound_reuse",
        "sample-reuse",
        membership_flip=member,
        label_flip=label,
        flip_bound=flip,
    )
    return total


def _label_flip(design: Design, ledger: Ledger) -> float:
    stage = design.heavy
    assert stage is not None
    data = {"n_labels": stage.n_labels, "band": stage.band}
    if design.n_classes == 2:
        flip: float = ledger.add("label_flip", "heavy-labels", **data)
    else:
        flip = ledger.add("class_label_flip", "heavy-labels", n_classes=design.n_classes, **data)
    return flip


def _too_few_labels(design: Design, ledger: Ledger) -> list[str]:
    """Say so when a heavy point may have fewer labels than are to be used."""
    stage = design.heavy
    if stage is None:
        return []
    found = ledger.add("labels_guaranteed", "heavy-labels", n=design.n, low=stage.low)
    if found >= stage.n_labels:
        return []
    return [f"a heavy point may have only {found} of the {stage.n_labels} labels it needs"]


def _promise(design: Design, ledger: Ledger, flip: float) -> tuple[float, float | None]:
    """Return (rho, gamma) of the claim."""
    request = design.request
    if request.notion == "approximate":
        return _approximate(design, ledger, flip)
    if design.law is None or design.heavy is not None:
        data = {"flip_bound": flip, "runs": request.runs}
        step = _row_step(design, ledger)
        for name in ("training_row_stage", "repeated_row_stage"):
            ledger.add(name, "training-rows", step=step, **data)
        return ledger.add("runs_bound_union", "many-runs", **data), None
    items = {"law": design.law, "runs": request.runs, "vote": design.vote}
    # the numbers for a row that was trained on are no claim, but people will ask for them
    ledger.add("training_row_bound", "training-rows", **items)
    ledger.add("repeated_row_bound", "training-rows", **items)
    return (flip if request.runs == 2 else ledger.add("runs_bound", "many-runs", **items)), None


def _row_step(design: Design, ledger: Ledger) -> float:
    """Flip probability when one row of one sample changes."""
    if design.law is None:
        step: float = ledger.add("class_step", "training-rows", n_blocks=design.n_blocks)
    else:
        step = ledger.add("vote_step", "training-rows", law=design.law)
    stage = design.heavy
    if stage is None:
        return step
    total: float = ledger.add(
        "heavy_step",
        "training-rows",
        n=design.n,
        kind=stage.kind,
        low=stage.low,
        high=stage.high,
        n_labels=stage.n_labels,
        band=stage.band,
        n_classes=design.n_classes,
        vote_step=step,
    )
    return total


def _approximate(design: Design, ledger: Ledger, flip: float) -> tuple[float, float]:
    """Take the better of the direct and the Markov route; a missing target is solved."""
    request = design.request
    if request.rho is not None:
        rho = request.rho
        mass = ledger.add("markov_gamma", "approximate-markov", flip_bound=flip, rho=rho)
        return rho, min(1.0, mass, _direct(design, ledger, "gamma", rho=rho))
    gamma = request.gamma
    if gamma is None:
        raise CertificateError("request: the approximate notion needs rho or gamma")
    chance = ledger.add("markov_rho", "approximate-markov", flip_bound=flip, gamma=gamma)
    return min(chance, _direct(design, ledger, "rho", gamma=gamma)), gamma


def _direct(design: Design, ledger: Ledger, wanted: str, **given: float) -> float:
    """Return the number of the direct route: for votes alone, or beside a heavy stage."""
    votes: dict[str, Any] = {"shared_rows": design.shared_rows}
    if design.law is None:
        votes |= {"n_blocks": design.n_blocks, "n_classes": design.n_classes}
        name, kind = f"class_{wanted}", "class"
    else:
        votes |= {"law": design.law, "vote": design.vote}
        name, kind = f"direct_{wanted}", "vote"
    stage = design.heavy
    if stage is None:
        found: float = ledger.add(
            name, "approximate-direct", max_point_mass=design.max_point_mass, **given, **votes
        )
        return found
    values = {step.name: step.value for step in ledger.steps}
    label = "label_flip" if design.n_classes == 2 else "class_label_flip"
    found = ledger.add(
        f"heavy_{wanted}",
        "approximate-heavy",
        mean=ledger.add(f"{kind}_mean", "approximate-direct", **votes),
        spread=ledger.add(f"{kind}_spread", "approximate-direct", **votes),
        n=design.n,
        kind=stage.kind,
        low=stage.low,
        high=stage.high,
        membership_flip=values["membership_flip"],
        label_flip=values[label],
        **given,
    )
    return found


def _shortfalls(design: Design, rho: float, gamma: float | None) -> list[str]:
    """Say which target is missed."""
    request = design.request
    noun = "block" if design.n_blocks == 1 else "blocks"
    blocks = f"{design.n_blocks} {noun} of {design.block_size} {design.unit}"
    found = []
    if request.rho is not None and rho > request.rho:
        found.append(
            f"asked for rho = {request.rho:g}, but with {blocks} it is rho = {rounded_up(rho)}"
        )
    if request.gamma is not None and gamma is not None and gamma > request.gamma:
        found.append(
            f"asked for gamma = {request.gamma:g} at rho = {rho:g}, "
            f"but with {blocks} it is gamma = {rounded_up(gamma)}"
        )
    return found


def _assumption_codes(design: Design) -> list[str]:
    """List the conditions that apply to this design."""
    codes = ["equal-design", "learned-inside-blocks"]
    if design.classes is None:
        codes.append("classes-agree")
    codes += ["key-before-data", "point-not-in-sample", "same-point", "separate-keys"]
    codes.append("threshold-rule" if design.law is not None else "label-rule")
    codes += ["number-of-runs", "no-drift", "independent-samples", "random-function"]
    if design.request.notion == "approximate":
        if not design.shared_rows:
            codes.append("no-shared-rows")
        if design.heavy is None:
            codes.append("point-masses")
    if design.request.asks_accuracy:
        codes.append("base-learner")
        if "point-masses" not in codes:
            codes.append("point-masses")
    return codes
