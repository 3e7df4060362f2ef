"""The conditions of a promise, as listed items in plain language.

Each of them is necessary: leaving one out breaks the number on the certificate.
"""

ASSUMPTIONS = {
    "equal-design": (
        "Every run uses the same number of rows, blocks and rows per block, and the same estimator "
        "with the same parameters; surplus rows are left out, never spread over the blocks."
    ),
    "same-candidates": (
        "Every run uses the same number of rows, the same candidates (models, configurations, "
        "hypotheses or points) under the same names, and the same parameters."
    ),
    "learned-inside-blocks": (
        "Everything learned from data is learned inside a block: scaling, encoding, imputation, "
        "vocabulary, tuned parameters. Preprocessing belongs inside the wrapped estimator. Some of "
        "it leaves no mark in one table: what stands between the raw rows and the estimator must "
        "be "
        "the same in every run, as a probe shows (replearn probe)."
    ),
    "classes-agree": (
        "The list of classes was read from the training data: the number bounds the probability "
        "that the runs see the same list and still differ. Counted among runs that see the same "
        "list, it is larger: divided by the chance that they do. Give classes in the plan to "
        "remove this condition."
    ),
    "key-before-data": (
        "The shared key was fixed before anyone looked at the data, independently of the samples "
        "and of the points. Choosing the best of M keys multiplies the probability by M. The "
        "probability is an average over keys: under one published key a person close to her own "
        "threshold can flip more often."
    ),
    "point-not-in-sample": (
        "The point is not chosen with the help of the training sample or of the key. For a row "
        "of the training sample itself a larger number holds: training_row_bound, or "
        "repeated_row_bound where equal rows occur."
    ),
    "same-point": (
        "The promise is about one and the same point: if a feature of the person changes, the "
        "question is a new one and nothing is promised about the old prediction. Where ids key the "
        "thresholds, every run gives the same ids, written alike: 7, '7' and '007' are three ids."
    ),
    "separate-keys": (
        "Partition, seeds, membership, heavy labels and votes use separate keys derived from the "
        "shared key."
    ),
    "threshold-rule": (
        "A point gets the second class exactly if its shared random number is below the law's "
        "value at its vote share, so unanimous votes are never overruled."
    ),
    "label-rule": (
        "Labels are drawn from the vote shares with shared random numbers keyed by point and label."
    ),
    "number-of-runs": (
        "The probability counts exactly the stated number of runs; more runs disagree more often."
    ),
    "no-drift": "All samples come from the same population.",
    "rolling-windows": (
        "The two samples may also share rows, as rolling windows do: then both have the same "
        "size, and their other rows are independent."
    ),
    "independent-samples": (
        "Samples are drawn independently from a large population. Two halves of one finite file "
        "are not quite independent and flip slightly more often."
    ),
    "independent-rows": (
        "The rows of each sample (the groups, where groups are given) are independent draws from "
        "the population, so that blocks are. Oversampling, augmented or jittered copies, several "
        "rows of one person, and a join that repeats rows break this, also if every run does it. "
        "Resample inside the estimator (a pipeline), keep each row once, and give rows of one "
        "person as groups. Copies that the sample shows are refuted, others are not seen."
    ),
    "candidates-fixed": (
        "The candidates, and a pool that they come from, were fixed before both samples and do not "
        "depend on either of them: no candidate was trained, tuned or picked on rows of a sample."
    ),
    "candidates-near": (
        "Candidates of one name may differ between the runs, but the difference of their errors in "
        "the population is at most tau."
    ),
    "same-incumbent": (
        "Every run keeps the predictions of the same incumbent, with the same memory and within "
        "the same band, and the incumbent knows none of the new samples. What is promised about "
        "two runs then holds for the predictions that are kept or changed; what is promised about "
        "accuracy is about the estimator without the incumbent."
    ),
    "random-function": (
        "The keyed hash behaves like a random function: a computational assumption."
    ),
    "point-masses": (
        "The sum of the squared probabilities of single points is at most the stated number "
        "(0 for continuous data). Fitting counts the equal rows of the sample, which refute it "
        "where it is clearly too small."
    ),
    "one-row-apart": (
        "Privacy is about samples of the same size that differ in one row. The number of rows, the "
        "public rows, the list of classes and the shared key are not secret, and an error message "
        "about unusable rows (missing values, a third label) is not covered."
    ),
    "secret-noise": (
        "The noise and the order of the cut come from the operating system's random numbers, never "
        "from the shared key. Every fit on the same rows spends epsilon and delta once more."
    ),
    "standard-error": (
        "The standard error that was estimated for a score of this size is the standard deviation "
        "of the point's score over fresh samples. It was pooled over many rows of the sample; a "
        "single point's may be larger, and then it flips more often in proportion."
    ),
    "base-learner": (
        "The base estimator minimises the training error over a class of the stated VC dimension."
    ),
}
"""What must be true, by short names, for a reader who does not know the theory."""
