"""Tables of pyarrow, in fit and in predict."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from replearn import IncumbentClassifier, PointwiseReplicableClassifier, ScoreReplicableClassifier

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
X = np.random.default_rng(0).normal(size=(600, 3))
Y = (X[:, 0] > 0).astype(int)
MODELS = (
    PointwiseReplicableClassifier(n_blocks=10, rho=0.5, max_fits=10, shared_key="k"),
    ScoreReplicableClassifier(n_blocks=4, shared_key="k"),
    IncumbentClassifier(LogisticRegression()),
)


@pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_the_same_as_a_polars_frame(model, request):
    table = pa.table({name: X[:, at] for at, name in enumerate("abc")})
    frame = pl.from_arrow(table)
    expected = model.fit(frame, Y).predict(frame)
    assert model.fit(table, pa.array(Y)).feature_names_in_.tolist() == ["a", "b", "c"]
    assert (model.predict(table) == expected).all()
    assert (model.predict_proba(table) == model.predict_proba(frame)).all()
