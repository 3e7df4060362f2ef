"""Conformance checks for replicable classifiers, to run beside scikit-learn's own.

Each check takes a classifier and a sample, and raises AssertionError if the classifier does not
conform. `check_replicable_classifier` runs them all.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

Sample = tuple[NDArray[Any], NDArray[Any]]


def _check_same(classifier: Any, sample: Sample, other: Any) -> None:
    """Compare with the predictions of another fitted model."""
    expected = clone(classifier).fit(*sample).predict(sample[0])
    np.testing.assert_array_equal(other.predict(sample[0]), expected)


def check_same_key_same_predictions(classifier: Any, sample: Sample) -> None:
    """Two fits on the same rows with the same key give the same predictions."""
    _check_same(classifier, sample, clone(classifier).fit(*sample))


def check_row_order_does_not_matter(classifier: Any, sample: Sample) -> None:
    """Predictions do not depend on the order of the training rows."""
    X, y = sample
    order = np.random.default_rng(0).permutation(len(y))
    _check_same(classifier, sample, clone(classifier).fit(X[order], y[order]))


def check_batches_do_not_matter(classifier: Any, sample: Sample) -> None:
    """The prediction for a point does not depend on the other points of the batch."""
    X, y = sample
    model = clone(classifier).fit(X, y)
    expected = model.predict(X)
    np.testing.assert_array_equal(model.predict(X[::-1])[::-1], expected)
    alone = np.concatenate([model.predict(row[np.newaxis]) for row in X[:40]])
    np.testing.assert_array_equal(alone, expected[:40])


def check_jobs_do_not_matter(classifier: Any, sample: Sample) -> None:
    """Predictions do not depend on the number of workers."""
    two = clone(classifier).set_params(n_jobs=2).fit(*sample)
    _check_same(clone(classifier).set_params(n_jobs=1), sample, two)


def check_pickle_keeps_predictions(classifier: Any, sample: Sample) -> None:
    """Predictions survive pickling."""
    copy = pickle.loads(pickle.dumps(clone(classifier).fit(*sample)))
    _check_same(classifier, sample, copy)


def check_fit_does_not_touch_parameters(classifier: Any, sample: Sample) -> None:
    """Fitting does not change the parameters."""
    model = clone(classifier)
    before = {name: repr(value) for name, value in model.get_params(deep=True).items()}
    fitted = model.fit(*sample)
    after = {name: repr(value) for name, value in fitted.get_params(deep=True).items()}
    assert before == after, "fit changed a parameter"


def check_certificate_verifies(classifier: Any, sample: Sample) -> None:
    """The certificate passes its check, survives JSON, and is comparable with a second fit's."""
    certificate, rerun = (clone(classifier).fit(*sample).certificate_ for _ in range(2))
    certificate.check()
    copy = type(certificate).from_json(certificate.to_json())
    assert copy == certificate, "the certificate changed on its way through JSON"
    assert certificate.comparable(rerun), str(certificate.comparable(rerun))


def check_key_matters(classifier: Any, sample: Sample) -> None:
    """Certificates of runs with different keys are not comparable."""
    model = clone(classifier).fit(*sample)
    other = clone(classifier).set_params(shared_key="another key").fit(*sample)
    assert not model.certificate_.comparable(other.certificate_), "another key went unnoticed"


def replicability_checks() -> tuple[Callable[[Any, Sample], None], ...]:
    """Return every check, for parametrised tests.

    Examples
    --------
    >>> from replearn.testing import replicability_checks
    >>> replicability_checks()[0].__name__
    'check_same_key_same_predictions'
    """
    return (
        check_same_key_same_predictions,
        check_row_order_does_not_matter,
        check_batches_do_not_matter,
        check_jobs_do_not_matter,
        check_pickle_keeps_predictions,
        check_fit_does_not_touch_parameters,
        check_certificate_verifies,
        check_key_matters,
    )


def check_replicable_classifier(classifier: Any, sample: Sample) -> None:
    """Run every conformance check.

    Parameters
    ----------
    classifier : replicable classifier
        Not fitted; it is cloned.
    sample : tuple of (X, y)
        Arrays to fit on.

    Raises
    ------
    AssertionError
        If a check fails.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from replearn import PointwiseReplicableClassifier
    >>> from replearn.testing import check_replicable_classifier
    >>> model = PointwiseReplicableClassifier(GaussianNB(), max_fits=18)
    >>> check_replicable_classifier(model, make_classification(500, random_state=0))
    """
    for check in replicability_checks():
        check(classifier, sample)
