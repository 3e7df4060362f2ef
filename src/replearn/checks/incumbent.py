"""The model whose predictions are kept: its fingerprint, whatever kind of model it is."""

from __future__ import annotations

from typing import Any

from replearn.checks.fingerprint import Fingerprint, fingerprint, joined


def bind_fitted(model: Any) -> Fingerprint:
    """Bind a fitted model by what its predictions depend on.

    A chain is bound by its models and by memory, band and threshold of every retraining. A model
    with a certificate is bound by the certificate, which names key, design and classes, and by the
    state of its fitted parts, one by one: a model file gives the same fingerprint as the model that
    was saved, and ``n_jobs`` does not matter. Other models are bound by their whole state.

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> one = DecisionTreeClassifier(random_state=0).fit([[0], [1]], [0, 1])
    >>> two = DecisionTreeClassifier(random_state=0).fit([[0], [3]], [0, 1])
    >>> bind_fitted(one).digest == bind_fitted(two).digest
    False
    """
    chain = getattr(model, "chain_", None)
    if chain is not None:
        return _bind_chain(chain)
    certificate = getattr(model, "certificate_", None)
    if certificate is None or not hasattr(model, "estimators_"):
        return fingerprint(model)
    kinds = {type(part) for part in model.estimators_}
    params = {kind: set(getattr(kind, "_get_param_names", list)()) for kind in kinds}
    learned = (_learned(part, params[type(part)]) for part in model.estimators_)
    return joined([certificate.digest], map(fingerprint, learned))


def _bind_chain(chain: Any) -> Fingerprint:
    """Bind the models of a chain, and memory, band and threshold of every retraining."""
    settings = [[step.memory, step.band, step.threshold] for step in chain]
    return joined(settings, [bind_fitted(step.model) for step in chain])


def _learned(part: Any, params: set[str]) -> list[Any]:
    """Return what a fitted part has beside plain parameters, which the certificate has bound."""
    state = {
        name: value
        for name, value in vars(part).items()
        if name not in params or not isinstance(value, _PLAIN)
    }
    return [type(part).__name__, state]


_PLAIN = (bool, int, float, str, type(None))
