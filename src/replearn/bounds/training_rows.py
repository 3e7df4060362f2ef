"""The point is a row of the training sample itself: one block has seen it."""

from replearn.bounds.laws import ThresholdLaw
from replearn.bounds.runs import runs_bound
from replearn.bounds.theorem import theorem
from replearn.records.checks import check_count


@theorem("training-rows")
def training_row_bound(
    law: ThresholdLaw,
    *,
    vote: str = "hard",
    runs: int = 2,
    trained: int = 1,
    repeated: bool = False,
) -> float:
    """Return how often at most runs differ at a point on which some of them were trained.

    Parameters
    ----------
    law : ThresholdLaw
        Law of the shared threshold.
    vote : {"hard", "soft"}, default="hard"
        Kind of votes.
    runs : int, default=2
        Number of runs.
    trained : int, default=1
        How many of the runs have the row in their sample.
    repeated : bool, default=False
        Whether equal rows can occur (in one sample or in two) while blocks are cut by content;
        the bound then is twice as large.

    Returns
    -------
    float
        The bound for fresh points plus the law's largest step per run that has seen the row.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> round(training_row_bound(uniform_law(32)), 4)
    0.1306
    """
    runs = check_count("runs", runs, least=2)
    trained = check_count("trained", trained, least=0, most=runs)
    # theorem: training-rows
    if repeated and trained:
        pair = 2.0 * runs_bound(law, 2, vote) + min(trained, 2) * law.largest_step
        bound = (runs - 1) * pair
    else:
        bound = runs_bound(law, runs, vote) + trained * law.largest_step
    return min(bound * (1.0 + 1e-15), 1.0)


@theorem("training-rows")
def repeated_row_bound(law: ThresholdLaw, *, vote: str = "hard", runs: int = 2) -> float:
    """Return `training_row_bound` for data in which equal rows occur.

    Examples
    --------
    >>> from replearn.bounds import uniform_law
    >>> round(repeated_row_bound(uniform_law(32)), 4)
    0.2299
    """
    return training_row_bound(law, vote=vote, runs=runs, repeated=True)
