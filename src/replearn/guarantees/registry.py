"""The theorems the library relies on: key, statement, place in the paper, page, computations.

A certificate computes every number through this registry, so that a number without a theorem
cannot enter it. Each key has a page ``docs/theory/<key>.md`` with the proof.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from replearn.exceptions import CertificateError
from replearn.guarantees import _choice_computations as choice
from replearn.guarantees import _computations as compute
from replearn.guarantees import _primitive_computations as primitive

Computation = Callable[..., Any]


@dataclass(frozen=True)
class Theorem:
    """One statement that has a proof.

    Parameters
    ----------
    key : str
        Name in code, certificates and documentation.
    statement : str
        What it says, in one sentence.
    paper_label : str
        Label in the paper's source, or "ours" where the paper has no such statement.
    quantities : mapping
        Name of each number that follows from it, with the function that computes it.

    Examples
    --------
    >>> THEOREMS["pointwise-threshold"].page
    'docs/theory/pointwise-threshold.md'
    """

    key: str
    statement: str
    paper_label: str
    quantities: Mapping[str, Computation] = field(default_factory=dict)

    @property
    def page(self) -> str:
        """Where statement, assumptions and proof are written down."""
        return f"docs/theory/{self.key}.md"

    def quantity(self, name: str) -> Computation:
        """Return the function that computes a number of this theorem.

        Examples
        --------
        >>> THEOREMS["content-keyed-partition"].quantity("block_size")(n=100, n_blocks=8)
        12
        """
        try:
            return self.quantities[name]
        except KeyError:
            raise CertificateError(f"{name}: theorem {self.key!r} gives no such number") from None


_ENTRIES = (
    Theorem(
        "pointwise-threshold",
        "Two vote shares from T independent blocks fall on different sides of one shared random "
        "threshold with probability at most sup_q H(q).",
        "lem:p-estimate",
        {"flip_bound": compute.flip_bound_hard},
    ),
    Theorem(
        "soft-votes",
        "With scores instead of votes and a continuous law of Lipschitz constant L the flip "
        "probability is at most 2 L f(T).",
        "ours",
        {"flip_bound": compute.flip_bound_soft},
    ),
    Theorem(
        "several-partitions",
        "Averaging the law's value over several keyed partitions of the same rows keeps the flip "
        "bound of one partition.",
        "ours",
        {"flip_bound_partitions": compute.flip_bound_partitions},
    ),
    Theorem(
        "content-keyed-partition",
        "Cutting the rows in the order of a keyed hash of their content into blocks of equal size "
        "keeps all pointwise bounds.",
        "ours",
        {"block_size": compute.block_size, "n_used": compute.n_used},
    ),
    Theorem(
        "many-runs",
        "k runs do not all agree with probability at most "
        "sup_q sum_j dG_j (1 - F_j^k - (1 - F_j)^k).",
        "ours",
        {"runs_bound": compute.runs_bound, "runs_bound_union": compute.runs_bound_union},
    ),
    Theorem(
        "halves-of-one-file",
        "Two disjoint halves of one finite file flip with probability at most the hypergeometric "
        "version of the flip curve.",
        "ours",
        {"halves_bound": compute.halves_bound},
    ),
    Theorem(
        "training-rows",
        "For a row of one training sample the flip bound grows by the law's largest step, and it "
        "doubles where equal rows occur.",
        "ours",
        {
            "training_row_bound": compute.training_row_bound,
            "repeated_row_bound": compute.repeated_row_bound,
            "vote_step": primitive.vote_step,
            "class_step": primitive.class_step,
            "heavy_step": primitive.heavy_step,
            "training_row_stage": primitive.training_row_stage,
            "repeated_row_stage": primitive.repeated_row_stage,
        },
    ),
    Theorem(
        "multiclass-vote",
        "Labels drawn from two vote distributions by correlated sampling differ with probability "
        "at most 2 tau / (1 + tau).",
        "ours",
        {"flip_bound": compute.flip_bound_multiclass},
    ),
    Theorem(
        "accuracy-factor",
        "Averaged over the thresholds the error is at most C_G times the mean error of the block "
        "models.",
        "lem:exp-error-ub-pred",
        {"error_factor": compute.error_factor},
    ),
    Theorem(
        "sample-reuse",
        "One sample may serve membership, heavy labels and votes: the flip probability is at most "
        "membership + max(labels, votes).",
        "ours",
        {"flip_bound_reuse": compute.flip_bound_reuse, "heavy_error": primitive.heavy_error},
    ),
    Theorem(
        "heavy-membership",
        "Membership of a point in the heavy set, decided by its count and a shared threshold, "
        "differs between two runs with the stated probability.",
        "prop:finding-heavy",
        {
            "membership_flip": compute.membership_flip,
            "found_from": primitive.heavy_found_from,
            "none_below": primitive.heavy_none_below,
            "missed_points": primitive.missed_points,
        },
    ),
    Theorem(
        "heavy-labels",
        "The label of a heavy point from exactly k of its labels flips with probability at most "
        "f(k)/a.",
        "prop:learn-hh-label",
        {
            "label_flip": compute.label_flip,
            "label_error": compute.label_error,
            "labels_guaranteed": compute.labels_guaranteed,
            "label_errors": primitive.label_errors,
            "class_label_flip": primitive.class_label_flip,
            "class_label_errors": primitive.class_label_errors,
        },
    ),
    Theorem(
        "coin-testing",
        "A coin is called above or below a gap by its share of heads and one shared threshold; two "
        "runs differ with probability at most sup_q E|G(s1) - G(s2)|.",
        "lem:replicable-coin-testing",
        {"coin_flip": primitive.coin_flip, "coin_error": primitive.coin_error},
    ),
    Theorem(
        "coins-at-once",
        "The signs of d coins all agree in two runs except with probability d f(n)/a (one "
        "threshold each) or 2t/(1+t), t = pi sqrt(2d/n)/(4a) (the vector drawn at once).",
        "lem:r-linf-extimate",
        {
            "signs_flip": primitive.signs_flip,
            "signs_error": primitive.signs_error,
            "labels_flip_any": primitive.labels_flip_any,
        },
    ),
    Theorem(
        "replicable-heavy-hitters",
        "With one threshold for all points, uniform in the power 3/2 of the frequency, two runs "
        "find different sets with probability at most 3 / (sqrt(pi n) (high^1.5 - low^1.5)).",
        "lem:r-heavy-hitters",
        {"set_flip": primitive.set_flip},
    ),
    Theorem(
        "single-heavy-hitter",
        "If some point has mass nu, drawing one point with weights count^kappa and shared Gumbels "
        "names the same point twice with about 1/(nu rho^2) rows.",
        "ours",
        {"one_heavy_flip": primitive.one_heavy_flip, "one_heavy_mass": primitive.one_heavy_mass},
    ),
    Theorem(
        "correlated-sampling",
        "Two draws with shared Gumbels keyed by the element agree with probability "
        "sum_i 1 / sum_j max(p_j/p_i, q_j/q_i) >= (1 - TV)/(1 + TV).",
        "lemma:correlated-sampling",
        {"draw_flip": primitive.draw_flip},
    ),
    Theorem(
        "light-point-deviation",
        "The error exceeds its mean over the thresholds by t with probability at most "
        "exp(-2 t^2 / q), q the sum of squared masses of the light points.",
        "thm:countable-tail-bound",
        {"error_slack": compute.error_slack, "light_tail": primitive.light_tail},
    ),
    Theorem(
        "approximate-direct",
        "The disagreeing mass of two models exceeds R + t with probability at most "
        "exp(-t^2 / (T g^2 + q/2)).",
        "thm:apx-repl-chernoff",
        {
            "direct_gamma": compute.direct_gamma,
            "direct_rho": compute.direct_rho,
            "class_gamma": primitive.class_gamma,
            "class_rho": primitive.class_rho,
            "vote_mean": primitive.vote_mean,
            "vote_spread": primitive.vote_spread,
            "class_mean": primitive.class_mean,
            "class_spread": primitive.class_spread,
        },
    ),
    Theorem(
        "approximate-heavy",
        "With a heavy stage the disagreeing mass concentrates on every distribution: undecided "
        "members and light points by thresholds of their own, labels of heavy points by Markov.",
        "thm:apx-repl-chernoff",
        {
            "heavy_gamma": primitive.heavy_gamma,
            "heavy_rho": primitive.heavy_rho,
            "set_rho": primitive.set_rho,
            "labels_rho": primitive.labels_rho,
        },
    ),
    Theorem(
        "approximate-markov",
        "A pointwise promise of rho gamma gives the approximate promise (rho, gamma).",
        "cor:approx-repl",
        {
            "markov_gamma": compute.markov_gamma,
            "markov_rho": compute.markov_rho,
            "union": primitive.union_of,
        },
    ),
    Theorem(
        "hypothesis-selection",
        "Selection by shared Gumbel noise on empirical errors differs with probability at most "
        "tanh(t D / 2).",
        "thm:optimal-hypothesis-sel",
        {
            "selection_flip": compute.selection_flip,
            "selection_sampled": choice.selection_sampled,
            "selection_error": choice.selection_error,
        },
    ),
    Theorem(
        "fresh-sample-point",
        "From one run: limits for the probability that a fresh sample answers one point "
        "differently.",
        "ours",
    ),
    Theorem(
        "fresh-sample-rate",
        "From one run: an upper limit for the mean flip probability over points.",
        "ours",
    ),
    Theorem(
        "vc-sample-size",
        "So many rows per block make empirical risk minimisation over a class of VC dimension d "
        "accurate in every block.",
        "sec:prelims",
        {"block_size_needed": compute.block_size_needed},
    ),
    Theorem(
        "dkw",
        "The empirical distribution function of m rows is off by more than tau with probability "
        "at most 2 exp(-2 m tau^2).",
        "ours",
        {"dkw_tail": compute.dkw},
    ),
    Theorem(
        "domain-reduction",
        "A learner that is approximately replicable on finite domains is so on all domains: draw "
        "indices of a huge imagined sample, lazily.",
        "prop:domain-reduction-apx-repl",
        {
            "collision": primitive.collision,
            "reduced_gamma": primitive.reduced_gamma,
            "reduced_rho": primitive.reduced_rho,
        },
    ),
    Theorem(
        "binomial-limits",
        "Exact confidence limits for a probability from counted successes.",
        "ours",
    ),
    Theorem(
        "search-blocks",
        "A search over configurations whose errors come from K folds chooses differently with "
        "probability at most that of one fold, if no true error moves by more than the drift.",
        "thm:optimal-hypothesis-sel",
        {"search_flip": choice.search_flip, "search_error": choice.search_error},
    ),
    Theorem(
        "search-trainings",
        "Errors of K trainings on rows of their own have one expectation in all runs: a search by "
        "them is a choice among fixed hypotheses on K rows, whatever the learner does.",
        "ours",
        {"trainings_flip": choice.trainings_flip, "trainings_error": choice.trainings_error},
    ),
    Theorem(
        "semi-replicable",
        "One candidate for each dichotomy of a shared pool, then a replicable choice: the best "
        "candidate is nearly as good as the best hypothesis of the class.",
        "thm:semi-supervised-repl-ub-formal",
        {"cover_distance": choice.cover_distance},
    ),
    Theorem(
        "thresholds-proper",
        "A threshold at a randomly chosen level of the distribution function, rounded to the "
        "nearest cut, differs on more than gamma with the stated probability, atoms or not.",
        "prop:thresholds-proper-formal",
        {"threshold_flip": choice.threshold_flip, "threshold_error": choice.threshold_error},
    ),
    Theorem(
        "realizable",
        "Comparing the best training error with a shared random limit makes a realizable learner "
        "replicable on every distribution.",
        "thm:realizable-apx-repl",
        {"realizable_flip": choice.realizable_flip, "realizable_error": choice.realizable_error},
    ),
    Theorem(
        "finite-class",
        "The first hypothesis in a shared random order within a shared random margin of the best "
        "differs with probability at most 2 D (1 + ln N) / width.",
        "thm:finite-class-replicable-learner",
        {
            "order_flip": choice.order_flip,
            "order_error": choice.order_error,
            "amplified_flip": choice.amplified_flip,
            "amplified_error": choice.amplified_error,
        },
    ),
    Theorem(
        "finite-randomness",
        "R shared global thresholds on one vote, then a replicable choice among them: replicable "
        "at each point and on the whole.",
        "thm:apx-repl-finite-r",
        {"finite_randomness_flip": choice.finite_randomness_flip},
    ),
)

THEOREMS: dict[str, Theorem] = {entry.key: entry for entry in _ENTRIES}


def theorem(key: str) -> Theorem:
    """Look a theorem up by its key; an unknown key is refused.

    Examples
    --------
    >>> theorem("accuracy-factor").paper_label
    'lem:exp-error-ub-pred'
    """
    try:
        return THEOREMS[key]
    except KeyError:
        raise CertificateError(f"theorem: {key!r} is not a known theorem") from None
