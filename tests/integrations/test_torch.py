"""A torch model through skorch: certified if its randomness is in our hands, otherwise refused.

``make test-integrations TORCH=1`` installs torch (hundreds of megabytes).
"""

import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification

from replearn import PointwiseReplicableClassifier, audit, load, save
from replearn.exceptions import ModelFileError

torch = pytest.importorskip("torch")
skorch = pytest.importorskip("skorch")
pytestmark = pytest.mark.filterwarnings("default")  # those of the packages themselves

X, Y = make_classification(1500, n_informative=5, random_state=0)
X = X.astype(np.float32)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(20, 8), torch.nn.ReLU(), torch.nn.Linear(8, 2)
        )

    def forward(self, rows):
        return self.layers(rows)


class SeededNet(skorch.NeuralNetClassifier):
    """Weights and batches from a seed that scikit-learn knows, and so the key."""

    def __init__(self, *args, random_state=None, **options):
        super().__init__(*args, **options)
        self.random_state = random_state

    def fit(self, X, y=None, **params):
        torch.manual_seed(0 if self.random_state is None else self.random_state)
        return super().fit(X, y, **params)


def net(kind):
    settings = {"max_epochs": 8, "lr": 0.1, "batch_size": 16, "train_split": None, "verbose": 0}
    return kind(Net, criterion=torch.nn.CrossEntropyLoss, **settings)


def learner(base):
    return PointwiseReplicableClassifier(base, n_blocks=12, rho=0.3, max_fits=12, shared_key="a")


@pytest.fixture(scope="module", autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def model():
    return learner(net(SeededNet)).fit(X[:900], Y[:900])


def test_certified_and_alike_in_any_order_of_rows(model):
    other = learner(net(SeededNet)).fit(X[:900][::-1], Y[:900][::-1])
    assert model.certificate_.certified
    assert model.certificate_.comparable(other.certificate_)
    np.testing.assert_array_equal(model.predict(X[900:]), other.predict(X[900:]))
    assert np.mean(model.predict(X[900:]) == Y[900:]) > 0.75


def test_a_net_that_draws_its_own_weights_is_not_certified():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = learner(net(skorch.NeuralNetClassifier)).fit(X[:900], Y[:900])
    assert not found.certificate_.certified
    assert "again" in found.certificate_.reason


def test_audited():
    result = audit({"baseline": net(SeededNet)}, X, Y, n_pairs=2, test_size=300)
    assert 0 < result.flip_rate("baseline").value < 0.5


def test_saved_when_its_types_are_trusted_by_name(model, tmp_path):
    path = tmp_path / "model.replearn"
    save(model, path)
    with pytest.raises(ModelFileError, match=r"skorch\.history\.History") as refused:
        load(path, shared_key="a")
    named = re.findall(r"'([\w.]+)'", str(refused.value))
    again = load(path, shared_key="a", trusted_types=named)
    np.testing.assert_array_equal(again.predict(X[900:]), model.predict(X[900:]))


def test_blocks_cost_what_as_many_plain_fits_cost(speed):
    seconds, allowed = speed.beside_plain_loop(
        "torch through skorch", learner(net(SeededNet)), X[:900], Y[:900]
    )
    assert seconds <= allowed
