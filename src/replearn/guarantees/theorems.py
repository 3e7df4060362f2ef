"""The theorems the library relies on: key, statement, label in the paper, page.

Each key has a page ``docs/theory/<key>.md`` with the proof. The bounds that follow from a theorem
carry its key (`replearn.bounds.theorem`).
"""

from dataclasses import dataclass

from replearn.exceptions import CertificateError


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
        Label in the source of the paper, or "ours" if the paper has no such statement.

    Examples
    --------
    >>> THEOREMS["pointwise-threshold"].page
    'docs/theory/pointwise-threshold.md'
    """

    key: str
    statement: str
    paper_label: str = "ours"

    @property
    def page(self) -> str:
        """The page with the statement, its assumptions and its proof."""
        return f"docs/theory/{self.key}.md"


_ENTRIES = (
    Theorem(
        "rounded-regression",
        "Two means of T predictions in a range of length W are rounded to different values of one "
        "shared random grid of spacing h with probability at most f(T) W/h.",
    ),
    Theorem(
        "private-selection",
        "Counts with discrete Laplace noise of scale 2/epsilon, released from a threshold on, are "
        "(epsilon, delta)-differentially private; delta is the chance that a count of one gets "
        "there.",
        "thm:private-selection",
    ),
    Theorem(
        "semi-private",
        "A frequent result of replicable runs on disjoint parts, selected privately, is as "
        "accurate as the runs and private in every row.",
        "lem:semi-private-reduction",
    ),
    Theorem(
        "pointwise-threshold",
        "Two vote shares from T independent blocks fall on different sides of one shared random "
        "threshold with probability at most sup_q H(q).",
        "lem:p-estimate",
    ),
    Theorem(
        "binomial-pairs",
        "The mean of a function of two independent binomial counts of one chance is at most the "
        "largest of its means given the sum of the counts.",
    ),
    Theorem(
        "soft-votes",
        "With scores instead of votes and a continuous law of Lipschitz constant L the flip "
        "probability is at most 2 L f(T).",
    ),
    Theorem(
        "score-thresholds",
        "Scores with a known standard error and a shared threshold uniform within c standard "
        "errors flip with probability at most 1 / (sqrt(pi) c) if they are normal, and at most "
        "1 / (sqrt(3) c) whatever their distribution.",
    ),
    Theorem(
        "decision-threshold",
        "Decision thresholds that are constants, or chosen by each block from its own rows, keep "
        "every bound on votes; one that is chosen from the whole sample keeps none.",
    ),
    Theorem(
        "several-partitions",
        "Averaging the law's value over several keyed partitions of the same rows keeps the flip "
        "bound of one partition.",
    ),
    Theorem(
        "content-keyed-partition",
        "Cutting the rows in the order of a keyed hash of their content into blocks of equal size "
        "keeps all pointwise bounds.",
    ),
    Theorem(
        "many-runs",
        "k runs do not all agree with probability at most "
        "sup_q sum_j dG_j (1 - F_j^k - (1 - F_j)^k).",
    ),
    Theorem(
        "halves-of-one-file",
        "Two disjoint halves of one finite file flip with probability at most the hypergeometric "
        "version of the flip curve.",
    ),
    Theorem(
        "training-rows",
        "For a row of one training sample the flip bound grows by the law's largest step, and it "
        "doubles where equal rows occur.",
    ),
    Theorem(
        "multiclass-vote",
        "With several classes two runs that share their random numbers differ with probability at "
        "most sharpness / 4 times the mean range of the differences of their vote shares.",
    ),
    Theorem(
        "incumbent-band",
        "If the old prediction stays while the score is within a band of the decision threshold, "
        "a change travels twice the band: retrainings change it at most as often as the score's "
        "mean travel / (2 band), and independent ones without memory at most "
        "(standard error / band)^2 / 2 times each.",
    ),
    Theorem(
        "accuracy-factor",
        "Averaged over the thresholds the error is at most C_G times the mean error of the block "
        "models.",
        "lem:exp-error-ub-pred",
    ),
    Theorem(
        "sample-reuse",
        "One sample may serve membership, heavy labels and votes: the flip probability is at most "
        "membership + max(labels, votes).",
    ),
    Theorem(
        "heavy-membership",
        "Membership of a point in the heavy set, decided by its count and a shared threshold, "
        "differs between two runs with the stated probability.",
        "prop:finding-heavy",
    ),
    Theorem(
        "heavy-labels",
        "The label of a heavy point from exactly k of its labels flips with probability at most "
        "f(k)/a.",
        "prop:learn-hh-label",
    ),
    Theorem(
        "coin-testing",
        "A coin is called above or below a gap by its share of heads and one shared threshold; two "
        "runs differ with probability at most sup_q E|G(s1) - G(s2)|.",
        "lem:replicable-coin-testing",
    ),
    Theorem(
        "coins-at-once",
        "The signs of d coins all agree in two runs except with probability d f(n)/a (one "
        "threshold each) or 2t/(1+t), t = pi sqrt(2d/n)/(4a) (the vector drawn at once).",
        "lem:r-linf-extimate",
    ),
    Theorem(
        "replicable-heavy-hitters",
        "With one threshold for all points, uniform in the power 3/2 of the frequency, two runs "
        "find different sets with probability at most 3 / (sqrt(pi n) (high^1.5 - low^1.5)).",
        "lem:r-heavy-hitters",
    ),
    Theorem(
        "correlated-sampling",
        "Two draws with shared Gumbels keyed by the element agree with probability "
        "sum_i 1 / sum_j max(p_j/p_i, q_j/q_i) >= (1 - TV)/(1 + TV).",
        "lemma:correlated-sampling",
    ),
    Theorem(
        "complete-learner",
        "Labels of heavy points in tiers and votes of blocks for light ones: the error is at most "
        "OPT + alpha except with probability beta, and a fixed point flips with probability at "
        "most rho, on every countable domain.",
        "thm:predict-formal",
    ),
    Theorem(
        "light-point-deviation",
        "The error exceeds its mean over the thresholds by t with probability at most "
        "exp(-2 t^2 / q), q the sum of squared masses of the light points.",
        "thm:countable-tail-bound",
    ),
    Theorem(
        "approximate-jensen",
        "Two models differ on more than gamma with probability at most the infimum over a of "
        "sup_p E(|G(B1) - G(B2)| - a)+ / (gamma - a), B1 and B2 independent binomial counts.",
    ),
    Theorem(
        "approximate-direct",
        "The disagreeing mass of two models exceeds R + t with probability at most "
        "exp(-t^2 / (T g^2 + q/2)).",
        "thm:apx-repl-chernoff",
    ),
    Theorem(
        "approximate-heavy",
        "With a heavy stage the disagreeing mass concentrates on every distribution: undecided "
        "members and light points by thresholds of their own, labels of heavy points by Markov.",
        "thm:apx-repl-chernoff",
    ),
    Theorem(
        "approximate-markov",
        "A pointwise promise of rho gamma gives the approximate promise (rho, gamma).",
        "cor:approx-repl",
    ),
    Theorem(
        "hypothesis-selection",
        "Selection by shared Gumbel noise on empirical errors differs with probability at most "
        "tanh(t D / 2).",
        "thm:optimal-hypothesis-sel",
    ),
    Theorem(
        "fresh-sample-point",
        "From one run: limits for the probability that a fresh sample predicts one point "
        "differently.",
    ),
    Theorem(
        "fresh-sample-rate",
        "From one run: an upper limit for the mean flip probability over points.",
    ),
    Theorem(
        "vc-sample-size",
        "So many rows per block make empirical risk minimisation over a class of VC dimension d "
        "accurate in every block.",
        "sec:prelims",
    ),
    Theorem(
        "dkw",
        "The empirical distribution function of m rows is off by more than tau with probability "
        "at most 2 exp(-2 m tau^2).",
    ),
    Theorem(
        "domain-reduction",
        "An estimator that is approximately replicable on finite domains is so on all domains: "
        "draw "
        "indices of a huge imagined sample, lazily.",
        "prop:domain-reduction-apx-repl",
    ),
    Theorem(
        "binomial-limits",
        "Exact confidence limits for a probability from counted successes.",
    ),
    Theorem(
        "repeated-rows",
        "Independent draws from any population show many values that occur exactly c times only "
        "beside others that occur once less and once more, and seldom a common divisor of all "
        "multiplicities.",
    ),
    Theorem(
        "collisions",
        "Equal rows of a sample give confidence limits of the sum of squared masses of single "
        "points.",
    ),
    Theorem(
        "semi-replicable",
        "One candidate for each dichotomy of a shared pool, then a replicable choice: the best "
        "candidate is nearly as good as the best hypothesis of the class.",
        "thm:semi-supervised-repl-ub-formal",
    ),
    Theorem(
        "thresholds-proper",
        "A threshold at a randomly chosen level of the distribution function, rounded to the "
        "nearest cut, differs on more than gamma with the stated probability, ties or not.",
        "prop:thresholds-proper-formal",
    ),
    Theorem(
        "realizable",
        "Comparing the best training error with a shared random limit makes a realizable estimator "
        "replicable on every distribution.",
        "thm:realizable-apx-repl",
    ),
    Theorem(
        "finite-randomness",
        "R shared global thresholds on one vote, then a replicable choice among them: replicable "
        "at each point and on the whole.",
        "thm:apx-repl-finite-r",
    ),
)

THEOREMS: dict[str, Theorem] = {entry.key: entry for entry in _ENTRIES}


def theorem(key: str) -> Theorem:
    """Look a theorem up by its key; an unknown key is refused.

    >>> theorem("accuracy-factor").paper_label
    'lem:exp-error-ub-pred'
    """
    try:
        return THEOREMS[key]
    except KeyError:
        raise CertificateError(f"theorem: {key!r} is not a known theorem") from None
