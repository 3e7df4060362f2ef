"""``replearn plan``: what n rows can promise, or how many rows a promise needs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from replearn.cli import (
    DONE,
    Action,
    CommandOptions,
    argument,
    flag,
    number,
    option,
    put,
    put_json,
    say,
)
from replearn.guarantees.planner import plan
from replearn.records.json import read_object
from replearn.registry import PLANNED

_NOT_PLANNED = ("task", "classes", "groups", "save", "json")


def _dashed(name: str) -> str:
    return name.replace(", ", "-").replace(" ", "-").replace("_", "-")


TASKS = tuple(_dashed(task) for task in PLANNED)


@dataclass(frozen=True, kw_only=True)
class PlanOptions(CommandOptions):
    """Options of the command; numbers that are left out are solved, or have a default."""

    COMMON = (
        *("n", "rho", "gamma", "alpha", "beta", "d", "n_blocks", "max_fits", "n_classes"),
        *("classes", "groups", "save", "json"),
    )
    EXAMPLES = (
        "replearn plan --n 20000 --rho 0.1 --save plan.json",
        "replearn plan selection --n-hypotheses 20 --rho 0.1 --alpha 0.05 --beta 0.05",
    )

    task: str = argument(
        "what is planned (default: pointwise): " + ", ".join(TASKS),
        nargs="?",
        default="pointwise",
        choices=TASKS,
        metavar="TASK",
    )
    n: int | None = number("rows of each sample")
    rho: float | None = number("probability that two runs differ", float)
    gamma: float | None = number("mass of points on which two models may differ", float)
    alpha: float | None = number("excess error that is allowed", float)
    beta: float | None = number("probability of a larger excess error", float)
    d: int | None = number("VC dimension of the class")

    # Blocks that vote: pointwise, approximate; score takes some.
    block_size: int | None = number("votes: minimum number of rows in a block")
    runs: int | None = number("votes: number of runs that must agree")
    n_classes: int | None = number("votes: number of labels, if --classes is not given")
    n_blocks: int | None = number("votes: number of blocks")
    n_partitions: int | None = number("votes: number of random partitions, derived from the key")
    max_fits: int | None = number("votes: maximum number of fits")
    decimals: int | None = number("votes: round numbers before thresholds are derived from them")
    classes: str | None = option("votes: the labels, part of the protocol", "A,B")
    law: str | None = option("votes: law of the thresholds", choices=("arcsine", "uniform"))
    vote: str | None = option("votes: labels or probabilities", choices=("hard", "soft"))
    small_blocks: str | None = option(
        "votes: whether default leaf sizes and bins follow the block size (default: adapt)",
        choices=("adapt", "keep"),
    )
    groups: bool = flag("n counts groups (fit --group-by)")

    # Other tasks.
    n_hypotheses: int | None = number("number of candidates or configurations")
    n_shared: int | None = number("rows of the shared pool, if fixed")
    direction: str | None = option("side of the rule", choices=("both", ">", "<="))
    n_candidates: int | None = number("candidates of finite randomness")
    resolution: float | None = number("spacing of the grid of a regression, in units of y", float)
    y_range: str | None = option("range of y", "LOW,HIGH")
    epsilon: float | None = number("privacy loss", float)
    delta: float | None = number("failure probability of privacy", float)
    standard_error: float | None = number("assumption: standard error of a score", float)
    nu: float | None = number("mass from which a point is heavy", float)
    p0: float | None = number("lower end of the gap of a coin, between -1 and 1", float)
    q0: float | None = number("upper end of the gap", float)

    tau: float | None = number("by how much errors of candidates of two lists may differ", float)
    label_noise: str | None = option(
        "whether one point may have different labels (default: yes)", choices=("yes", "no")
    )

    save: str | None = option("write the plan as JSON", "FILE")
    json: bool = flag("print the plan as JSON")

    def request(self) -> dict[str, Any]:
        """Return the arguments of `replearn.plan`."""
        known = {field.name: getattr(self, field.name) for field in fields(self)}
        requested = {
            name: value
            for name, value in known.items()
            if name not in _NOT_PLANNED and value is not None
        }
        if self.classes is not None:
            requested["classes"] = read_labels(self.classes)
        if self.label_noise is not None:
            requested["label_noise"] = self.label_noise == "yes"
        if self.y_range is not None:
            requested["y_range"] = tuple(map(float, self.y_range.split(",")))
        return requested | ({"unit": "groups"} if self.groups else {})


def run(options: PlanOptions) -> int:
    """Make the plan, save it, print it."""
    task = next((task for task in PLANNED if _dashed(task) == options.task), options.task)
    try:
        planned = plan(task, **options.request())
    except TypeError as error:
        if not str(error).startswith("plan("):
            raise  # a bug, not an option that this task does not take
        raise ValueError(str(error)) from None
    if options.save:
        planned.save(options.save)
        say(f"plan written to {options.save}")
    if options.json:
        put_json(read_object(planned.to_json(), "plan"))
    else:
        put(str(planned))
    return DONE


def read_labels(text: str) -> list[str] | list[int]:
    """Read labels from one argument: whole numbers if all are, texts otherwise.

    >>> read_labels("no, yes"), read_labels("0,1")
    (['no', 'yes'], [0, 1])
    """
    parts = [part.strip() for part in text.split(",")]
    if not all(parts) or len(set(parts)) < len(parts):
        raise ValueError(f"--classes {text}: different labels between commas are expected.")
    if len(parts) < 2:
        raise ValueError(f"--classes {text}: at least two labels are required, such as no,yes.")
    try:
        return [int(part) for part in parts]
    except ValueError:
        return parts


COMMAND = Action(PlanOptions, run, "what n rows can guarantee, or how many rows are needed")
