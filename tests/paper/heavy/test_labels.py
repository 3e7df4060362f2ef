import numpy as np
import pytest

from replearn.paper.heavy_hitters import MembershipLaw, find_heavy_hitters
from replearn.paper.heavy_labels import label_heavy_hitters
from replearn.paper.signs import label_flip_bound
from replearn.randomness.key import SharedKey
from tests.factories import limit

LAW = MembershipLaw("sqrt", 0.2, 0.3)


def sample(rng, n, biases):
    """Equal masses, labels with these means."""
    x = rng.integers(0, len(biases), n)
    y = rng.random(n) < (1 + np.asarray(biases)[x]) / 2
    return x[:, np.newaxis], y.astype(int)


def labelled(rng, n, biases, key, **params):
    X, y = sample(rng, n, biases)
    heavy = find_heavy_hitters(X, 0.3, key=key, law=LAW)
    found = label_heavy_hitters(X, y, heavy, key=key, classes=[0, 1], **params)
    return dict(zip(heavy.values[:, 0].tolist(), found.labels.tolist(), strict=True)), found


def test_labels_flip_as_rarely_as_certified():
    """Mean label 0, the worst coin there is."""
    rng, n_pairs, flips = np.random.default_rng(0), 200, 0
    for pair in range(n_pairs):
        (a, found), (b, _) = (labelled(rng, 300, [0.0, 0.0], SharedKey(pair)) for _ in range(2))
        flips += a[0] != b[0]
    bound = found.certificate.value("label_flip_bound")
    assert bound == label_flip_bound(60, dict(found.certificate.inputs)["band"])
    assert flips <= limit(n_pairs, bound)
    assert flips > 0


def test_clear_labels_are_right():
    rng = np.random.default_rng(1)
    for seed in range(30):
        labels, found = labelled(rng, 2000, [0.7, -0.7, 0.9], SharedKey(seed), alpha=0.6, beta=0.01)
        assert found.certificate.certified
        assert labels == {0: 1, 1: 0, 2: 1}


def test_realizable_labels_need_few_and_are_never_wrong():
    rng = np.random.default_rng(2)
    for seed in range(30):
        labels, found = labelled(
            rng, 200, [1.0, -1.0], SharedKey(seed), label_noise=False, beta=1e-9
        )
        assert labels == {0: 1, 1: 0}
    assert found.certificate.certified
    assert found.n_labels.tolist() == [40, 40]


def test_exactly_k_labels_whatever_the_counts():
    rng = np.random.default_rng(3)
    X = np.repeat([0, 1], [700, 300])[:, np.newaxis]
    y = (rng.random(1000) < 0.5).astype(int)
    heavy = find_heavy_hitters(X, 0.3, key=SharedKey(0), law=LAW)
    found = label_heavy_hitters(X, y, heavy, key=SharedKey(0))
    assert found.n_labels.tolist() == [200, 200]
    assert (found.ones <= 200).all()
    fewer = label_heavy_hitters(X, y, heavy, key=SharedKey(0), n_labels=37)
    assert fewer.n_labels.tolist() == [37, 37]
    with pytest.raises(ValueError, match="n_labels"):
        label_heavy_hitters(X, y, heavy, key=SharedKey(0), n_labels=201)


def test_the_order_of_the_file_does_not_matter():
    rng = np.random.default_rng(4)
    X, y = sample(rng, 500, [0.1, -0.1])
    order = rng.permutation(500)
    results = []
    for rows in (np.arange(500), order):
        heavy = find_heavy_hitters(X[rows], 0.3, key=SharedKey(7), law=LAW)
        found = label_heavy_hitters(X[rows], y[rows], heavy, key=SharedKey(7), n_labels=50)
        results.append((found.ones.tolist(), found.labels.tolist()))
    assert results[0] == results[1]


def test_using_every_label_instead_of_k_is_another_promise():
    """Members that leave when they have few labels put an atom into the membership law."""
    rng, n, n_pairs = np.random.default_rng(5), 400, 150
    law = MembershipLaw("sqrt", 0.02, 0.3)
    k, mass, flips = 60, 60 / 400, 0
    for pair in range(n_pairs):
        key, member = SharedKey(pair), []
        for _ in range(2):
            X = (rng.random(n) < mass).astype(int)[:, np.newaxis]
            found = find_heavy_hitters(X, 0.3, key=key, law=law)
            member.append(bool(found.contains([[1]])[0]) and int(X.sum()) >= k)
        flips += member[0] != member[1]
    assert flips > limit(n_pairs, found.certificate.value("membership_flip_bound"))


@pytest.mark.parametrize("notion", ["replicable", "approximate"])
def test_cores_are_labelled_together(notion):
    rng = np.random.default_rng(6)
    X, y = sample(rng, 6000, [0.9, -0.9])
    heavy = find_heavy_hitters(X, 0.2, key=SharedKey(1), notion=notion, gamma=0.9, rho=0.5, law=LAW)
    found = label_heavy_hitters(X, y, heavy, key=SharedKey(1), rho=0.5, gamma=0.9, alpha=0.8)
    assert dict(zip(heavy.values[:, 0].tolist(), found.labels.tolist(), strict=True)) == {
        0: 1,
        1: 0,
    }
    found.certificate.check()
    assert "coins-at-once" in found.certificate.theorems


def many_labelled(rng, n, shares, key, **params):
    """Two points of equal mass with labels a, b, c, drawn with these shares."""
    x = rng.integers(0, 2, n)
    y = np.array(["a", "b", "c"])[rng.choice(3, n, p=shares)]
    heavy = find_heavy_hitters(x[:, np.newaxis], 0.3, key=key, law=LAW)
    found = label_heavy_hitters(x, y, heavy, key=key, classes=["a", "b", "c"], **params)
    return dict(zip(heavy.values[:, 0].tolist(), found.labels.tolist(), strict=True)), found


def test_several_classes_flip_as_rarely_as_certified():
    rng, n_pairs, flips = np.random.default_rng(7), 100, 0
    for pair in range(n_pairs):
        (a, found), (b, _) = (
            many_labelled(rng, 300, [1 / 3] * 3, SharedKey(pair), rho=0.2) for _ in range(2)
        )
        flips += a[0] != b[0]
    bound = found.certificate.value("class_label_flip")
    assert 0.19 < bound <= 0.2
    assert flips <= limit(n_pairs, bound)
    assert flips > 0  # the bound is not idle
    # with a key of its own each run answers as it likes
    apart = [
        many_labelled(rng, 300, [1 / 3] * 3, SharedKey(f"{pair} {run}"))[0][0]
        for pair in range(60)
        for run in range(2)
    ]
    assert np.sum(np.array(apart[::2]) != apart[1::2]) > limit(60, 0.2)


def test_several_classes_the_likeliest_label_wins():
    rng = np.random.default_rng(8)
    for seed in range(10):
        labels, found = many_labelled(
            rng, 20_000, [0.1, 0.7, 0.2], SharedKey(seed), alpha=0.4, beta=0.05
        )
        assert found.certificate.certified
        assert labels == {0: "b", 1: "b"}
    assert found.thresholds.shape == (2, 3)
    found.certificate.check()


def test_bad_input_is_named():
    X, y = np.zeros((50, 1)), np.arange(50) % 2
    heavy = find_heavy_hitters(X, 0.3, key=SharedKey(0))
    with pytest.raises(ValueError, match="rows in which heavy was found"):
        label_heavy_hitters(X[:40], y[:40], heavy, key=SharedKey(0))
    whole = find_heavy_hitters(X, 0.3, key=SharedKey(0), notion="replicable")
    with pytest.raises(ValueError, match="two labels for members found with notion='repl"):
        label_heavy_hitters(X, np.arange(50), whole, key=SharedKey(0))
    with pytest.raises(ValueError, match="not among classes"):
        label_heavy_hitters(X, y, heavy, key=SharedKey(0), classes=[0, 2, 3])
    with pytest.raises(TypeError, match="label_noise"):
        label_heavy_hitters(X, y, heavy, key=SharedKey(0), label_noise="agnostic")
    one = label_heavy_hitters(X, np.zeros(50), heavy, key=SharedKey(0))
    assert one.labels.tolist() == [0.0]
