import dataclasses
import json

import numpy as np
import pytest

from replearn.exceptions import CertificateError
from replearn.guarantees import Step
from replearn.heavy import find_heavy_hitters
from replearn.primitives import decide_coins, estimate_signs
from replearn.randomness import SharedKey


def certificates():
    flips = np.random.default_rng(0).integers(0, 2, (200, 2))
    yield decide_coins(flips, -0.3, 0.3, key=SharedKey(0), beta=0.1).certificate
    yield estimate_signs(flips, 0.5, key=SharedKey(0)).certificate
    for notion in ("pointwise", "replicable", "approximate"):
        yield find_heavy_hitters(flips, 0.2, key=SharedKey(0), notion=notion).certificate


@pytest.mark.parametrize("certificate", list(certificates()), ids=lambda c: c.task)
def test_every_change_is_found(certificate):
    certificate.check()
    for at, step in enumerate(certificate.steps):
        if step.value is None:
            continue
        changed = dataclasses.replace(step, value=step.value * 0.9 - 1e-3)
        steps = (*certificate.steps[:at], changed, *certificate.steps[at + 1 :])
        with pytest.raises(CertificateError, match=step.name):
            dataclasses.replace(certificate, steps=steps).check()
    for change in (
        {"promises": ("All is well.",)},
        {"certified": not certificate.certified},
        {"reason": "because"},
        {"steps": certificate.steps[1:]},
        {"task": "unknown"},
    ):
        with pytest.raises(CertificateError):
            dataclasses.replace(certificate, **change).check()


@pytest.mark.parametrize("certificate", list(certificates()), ids=lambda c: c.task)
def test_words_and_json(certificate):
    assert str(certificate).startswith(certificate.task)
    content = json.loads(certificate.to_json())
    assert content["promises"] == list(certificate.promises)
    assert all(step["theorem"] in certificate.theorems for step in content["steps"])
    with pytest.raises(KeyError, match="no such"):
        certificate.value("no such")


def test_another_theorem_is_refused():
    certificate = next(certificates())
    first = certificate.steps[0]
    other = Step(first.name, "dkw", first.inputs, first.value)
    with pytest.raises(CertificateError):
        dataclasses.replace(certificate, steps=(other, *certificate.steps[1:])).check()


def test_comparable_runs_share_parameters_and_key():
    a, b = (
        find_heavy_hitters(np.zeros((n, 1)), 0.2, key=SharedKey(0)).certificate for n in (50, 60)
    )
    other = find_heavy_hitters(np.zeros((50, 1)), 0.2, key=SharedKey(1)).certificate
    assert a.comparable(a)
    assert not a.comparable(b)
    assert not a.comparable(other)
