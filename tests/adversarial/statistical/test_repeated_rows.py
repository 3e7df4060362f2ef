"""Tables in which the same row occurs again and again: real ones, or twins of the same shape.

The file is the population: samples are drawn from it with replacement. With the environment
variable REPLEARN_DATA the tables are read from that folder; without it COMPAS and the census are
replaced by made-up tables with as many distinct points and about the same masses. The Titanic's 14
kinds of people are few enough to be written down here (British Board of Trade, 1912).
"""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.preprocessing import OrdinalEncoder

from replearn.paper.heavy_hitters import find_heavy_hitters, membership_flip_bound
from replearn.paper.heavy_labels import label_heavy_hitters
from replearn.randomness.key import SharedKey
from tests.factories import limit

NAMES = ["titanic2201", "compas_coarse", "fertility1980"]
pytestmark = [
    pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning"),
    pytest.mark.filterwarnings(
        "ignore::replearn.exceptions.ConstantBlocksWarning"
    ),  # blocks of a few rows
]

# class, sex, age, died, survived
TITANIC = [
    (1, 1, 1, 4, 140),
    (1, 1, 0, 0, 1),
    (1, 0, 1, 118, 57),
    (1, 0, 0, 0, 5),
    (2, 1, 1, 13, 80),
    (2, 1, 0, 0, 13),
    (2, 0, 1, 154, 14),
    (2, 0, 0, 0, 11),
    (3, 1, 1, 89, 76),
    (3, 1, 0, 17, 14),
    (3, 0, 1, 387, 75),
    (3, 0, 0, 35, 13),
    (4, 1, 1, 3, 20),
    (4, 0, 1, 670, 192),
]


def titanic():
    cells = np.array(TITANIC)
    counts = cells[:, 3:].ravel()
    X = np.repeat(np.repeat(cells[:, :3], 2, axis=0), counts, axis=0)
    return X.astype(float), np.repeat(np.tile([0, 1], len(cells)), counts)


def twin(n, n_points, first, fall):
    """A table with masses that fall like 1/(rank + fall), the largest being ``first``."""
    rng = np.random.default_rng(0)
    masses = first * fall / (np.arange(n_points) + fall)
    masses[1:] *= np.linspace(1, 0.2, n_points - 1)
    masses /= masses.sum()
    points = rng.permutation(n_points)[:, None] // [1, 7, 49] % 7.0
    points = np.hstack([points, np.arange(n_points)[:, None] // 343.0])
    x = rng.choice(n_points, n, p=masses)
    return points[x], (rng.random(n) < rng.beta(1.5, 2, n_points)[x]).astype(int)


TWINS = {
    "titanic2201": titanic,
    "compas_coarse": lambda: twin(6172, 550, 0.031, 20.0),
    "fertility1980": lambda: twin(100_000, 9276, 0.0135, 40.0),
}


def table(name):
    path = Path(os.environ.get("REPLEARN_DATA", "nowhere")) / f"{name}.csv.gz"
    if not path.is_file():
        return TWINS[name]()
    pd = pytest.importorskip("pandas")
    rows = pd.read_csv(path)
    codes = OrdinalEncoder().fit_transform(rows.drop(columns="target").astype(str))
    return codes, rows["target"].to_numpy()


def heaviest(X, number):
    points, counts = np.unique(X, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:number]
    return points[order], counts[order] / len(X)


def test_twins_have_heavy_points():
    for name in NAMES:
        X, y = TWINS[name]()
        masses = heaviest(X, 1000)[1]
        assert masses[0] > 0.01
        assert set(np.unique(y)) == {0, 1}
    assert len(titanic()[0]) == 2201


@pytest.mark.statistical
@pytest.mark.parametrize("name", NAMES)
def test_heavy_points(name):
    X, _ = table(name)
    nu, n, n_pairs = 0.01, 8000, 60
    points, masses = heaviest(X, 40)
    rng, flips = np.random.default_rng(0), np.zeros(len(points), dtype=int)
    missed = 0
    for pair in range(n_pairs):
        member = []
        for _ in range(2):
            found = find_heavy_hitters(X[rng.integers(0, len(X), n)], nu, key=SharedKey(pair))
            member.append(found.contains(points))
        flips += member[0] != member[1]
        sure = masses >= found.certificate.value("found_from")
        missed += not member[0][sure].all()
    bound = membership_flip_bound(n, found.law)
    assert flips.max() <= limit(n_pairs, bound, n_looks=len(points))
    # completeness holds except with half of beta
    assert missed <= limit(n_pairs, 0.025)


@pytest.mark.statistical
@pytest.mark.parametrize("name", NAMES)
def test_approximate_sets_and_labels(name):
    X, y = table(name)
    nu, gamma, rho, n, n_pairs, bad, worse = 0.05, 0.8, 0.5, 40_000, 25, 0, 0
    points, masses = heaviest(X, 1000)
    rng = np.random.default_rng(2)
    for pair in range(n_pairs):
        key, runs = SharedKey(pair), []
        for _ in range(2):
            rows = rng.integers(0, len(X), n)
            found = find_heavy_hitters(
                X[rows], nu, key=key, notion="approximate", rho=rho, gamma=gamma
            )
            labels = label_heavy_hitters(
                X[rows], y[rows], found, key=key, rho=rho, gamma=gamma, alpha=0.5, classes=[0, 1]
            )
            at = found.locate(points)
            answer = np.where(at >= 0, labels.labels[at] if len(found) else 0, -1)
            runs.append((at >= 0, answer))
        member = runs[0][0] != runs[1][0]
        label = (runs[0][1] != runs[1][1]) & ~member
        bad += masses[member].sum() > gamma
        worse += masses[label].sum() > gamma
    assert bad <= limit(n_pairs, found.certificate.value("union_bound"))
    flip = next(s.value for s in labels.certificate.steps if s.name == "union_bound")
    assert worse <= limit(n_pairs, flip)
