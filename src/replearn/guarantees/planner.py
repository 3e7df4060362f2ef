"""The function ``plan``: give all but one of the numbers, and the missing one is solved."""

import dataclasses
from typing import Any

from replearn.guarantees.choices import choice_inputs, needed_for
from replearn.guarantees.design import NOTIONS, Design, HeavyStage
from replearn.guarantees.law_search import Promise
from replearn.guarantees.plan import Plan
from replearn.guarantees.solve import design_for, needed_sample, solve
from replearn.guarantees.stage_plan import heavy_rows_needed, heavy_stage
from replearn.guarantees.tasks import GUARANTEES
from replearn.guarantees.wish import Wish, make_request, make_wish
from replearn.records.checks import check_choice

_HEAVY = ("auto", "paper", "off")


def plan(
    task: str = "pointwise",
    *,
    n: int | None = None,
    rho: float | None = None,
    gamma: float | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    d: int | None = None,
    **options: Any,
) -> Plan:
    """Plan a promise: give all but one of the numbers, and the missing one is solved.

    A plan depends on these arguments only, never on data, so that all labs get the same one.

    Parameters
    ----------
    task : str or class
        What is planned. Blocks that vote: "pointwise" (the same answer at each fixed point) or
        "approximate" (on all but a small mass of points). Others: "selection", "finite class",
        "search", "thresholds", "realizable", "semi", "finite randomness", "heavy",
        "heavy, whole set", "one heavy point", "coins", "score"; or the learner itself.
    n : int or None
        Rows (or groups) of each sample; None: the smallest number that meets the targets.
    rho : float or None
        Probability that two runs differ; None: the smallest that n allows (votes), or 0.1.
    gamma : float or None
        Mass of points on which two models may differ; None: the smallest, or the learner's default.
    alpha, beta : float or None
        Excess error, and the probability that it is larger. Votes: over the best hypothesis of a
        class of VC dimension ``d``, or, with ``heavy="auto"``, over the mean of the block models.
    d : int or None
        VC dimension of the class of hypotheses.
    **options
        Options of votes: ``n_blocks``, ``block_size`` (rows that a block needs at least), ``law``
        ("arcsine", "uniform", "optimal" or a ThresholdLaw), ``width`` of the law, ``vote``
        ("hard", "soft"), ``n_partitions``, ``max_fits`` (base learners at most), ``classes`` or
        ``n_classes``, ``runs`` (how many shall agree), ``unit`` ("rows", "groups"), ``decimals``
        (rounding of points), ``label_noise`` (False: every point has one label only),
        ``max_point_mass`` (bound on the sum of squared probabilities of single points; 0 for
        continuous data, and ``fit`` tests it), ``heavy`` ("auto", "paper", "off" or a HeavyStage:
        separate treatment of points that occur often),
        ``min_block`` (rows per block below which fewer blocks are used).
        Options of other tasks: ``n_hypotheses`` ("selection", "finite class", "search"),
        ``train_size`` or ``drift`` and ``cv`` ("search"), ``n_directions`` ("thresholds"),
        ``n_shared`` ("semi", "semi-private"), ``epsilon`` and ``delta`` ("semi-private"),
        ``y_span``, ``resolution`` and ``block_size`` ("regression"),
        ``n_candidates`` and ``block_size`` ("finite randomness"), ``nu`` ("heavy"),
        ``p0`` and ``q0`` ("coins"), ``standard_error``, ``n_classes``, ``n_blocks`` and
        ``n_partitions`` ("score", which needs n and is an estimate: ``verdict``).

    Returns
    -------
    Plan
        With ``certified`` False when the targets are out of reach; ``reason`` then says what this
        n can promise and which n the targets need.

    Examples
    --------
    >>> plan(rho=0.1, block_size=100).n
    1800
    >>> small = plan(n=300, rho=0.1)
    >>> small.certified, small.needed_n
    (False, 450)
    >>> plan("search", n_hypotheses=20, train_size=50, rho=0.2, alpha=0.2).n
    190332
    >>> plan("thresholds", n=10_000).reason
    '885934 rows are needed, there are 10000'
    """
    targets = {"rho": rho, "gamma": gamma, "alpha": alpha, "beta": beta}
    name = _task_name(task)
    if name not in NOTIONS:
        inputs = choice_inputs(name, n, **targets, d=d, **options)
        solved = ("n",) if n is None else ()
        return Plan(name, inputs, solved, needed_n=needed_for(name, inputs).n)
    wish, stage_rows = _wish(name, n, targets, d, options)
    made = _of(*solve(wish))
    if n is None and made.n < stage_rows:  # with fewer rows, plan(n=made.n) has another stage
        wish = dataclasses.replace(wish, n=stage_rows)
        made = _of(*solve(wish))
        made = dataclasses.replace(made, solved=("n", *made.solved))
    return made if made.certified else _with_way_out(made, wish)


def _task_name(task: Any) -> str:
    name = getattr(task, "__name__", task)
    plannable = {key for key, entry in GUARANTEES.items() if entry.needed} | set(NOTIONS)
    by_learner = {
        learner: key
        for key, entry in reversed(GUARANTEES.items())
        for learner in entry.learners
        if key in plannable
    }
    choices = tuple(key for key in GUARANTEES if key in plannable)
    return check_choice("task", by_learner.get(name, name), choices)


def _of(design: Design, solved: tuple[str, ...] = ()) -> Plan:
    made = Plan(design.task, design.to_dict(), solved)
    made.__dict__["design"] = design  # the cached property: nothing is parsed again
    return made


# -- votes -----------------------------------------------------------------------------------------
def _wish(
    notion: str,
    n: int | None,
    targets: dict[str, float | None],
    d: int | None,
    options: dict[str, Any],
) -> tuple[Wish, int]:
    """Check the arguments; return them, and the rows that a planned heavy stage is made for."""
    heavy = options.pop("heavy", None)
    label_noise = bool(options.pop("label_noise", True))
    stage, rows = heavy if isinstance(heavy, HeavyStage) else None, 0
    if heavy is not None and stage is None and check_choice("heavy", heavy, _HEAVY) != "off":
        stage, rows = _planned_stage(n, targets, d, heavy, label_noise, options)
        targets = {**targets, "alpha": None, "beta": None}
    realizable = not label_noise and stage is None  # with a stage it is the stage that knows
    request = make_request(notion, targets, d, realizable, options.pop("runs", 2))
    return make_wish(request, n=n, heavy=stage, **options), rows


def _planned_stage(
    n: int | None,
    targets: dict[str, float | None],
    d: int | None,
    heavy: str,
    label_noise: bool,
    options: dict[str, Any],
) -> tuple[HeavyStage, int]:
    """Plan the treatment of heavy points for alpha and beta, relative to the block models."""
    if d is not None:
        raise ValueError(f'd={d} and heavy="{heavy}": alpha is relative to one of them, give one.')
    if targets["rho"] is None or targets["alpha"] is None:
        raise ValueError(f'heavy="{heavy}" needs rho and alpha: the stage is planned for them.')
    classes = options.get("classes")
    goal: dict[str, Any] = {
        "rho": targets["rho"],
        "alpha": targets["alpha"],
        "beta": 0.05 if targets["beta"] is None else targets["beta"],
        "realizable": not label_noise,
        "paper": heavy == "paper",
        "gamma": targets["gamma"],
        "n_classes": options.get("n_classes") or max(2, 0 if classes is None else len(classes)),
    }
    rows = heavy_rows_needed(**goal) if n is None else n
    if rows is None:
        asked = ", ".join(f"{name}={goal[name]}" for name in ("rho", "alpha", "beta"))
        raise ValueError(f'no number of rows is enough for {asked} with heavy="{heavy}"')
    return heavy_stage(n=rows, **goal), rows


def _with_way_out(made: Plan, wish: Wish) -> Plan:
    """Add what this n can promise, and which blocks and rows the request needs."""
    stage, rho = wish.heavy, wish.request.rho
    if stage is not None and stage.alpha is not None and rho is not None:
        return _with_heavy_way_out(made, wish, stage, rho)
    free = dataclasses.replace(wish, n_blocks=None, max_fits=None)
    reachable = _of(design_for(free, made.n))
    return dataclasses.replace(
        made,
        reachable={"rho": reachable.rho, "gamma": reachable.gamma},
        needed_n=needed_sample(free),
        needed_blocks=Promise(free, made.n).smallest_blocks(),
    )


def _with_heavy_way_out(made: Plan, wish: Wish, stage: HeavyStage, rho: float) -> Plan:
    """Add the rows at which a heavy stage made for them would keep its accuracy."""
    assert stage.alpha is not None
    assert stage.beta is not None
    needed = heavy_rows_needed(
        rho=rho,
        alpha=stage.alpha,
        beta=stage.beta,
        realizable=stage.clear == 1.0,
        paper=stage.kind == "uniform",
        gamma=wish.request.gamma,
        n_classes=wish.n_classes,
    )
    reachable = {"rho": made.rho, "gamma": made.gamma}
    return dataclasses.replace(made, reachable=reachable, needed_n=needed)
