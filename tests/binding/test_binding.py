"""What a certificate binds: every way in which two labs silently differ is a test."""

import functools
import itertools
import os
import re
import subprocess
import sys
import textwrap
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import TruncatedSVD
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    QuantileTransformer,
    StandardScaler,
)

from replearn import PointwiseReplicableClassifier, PreprocessingWarning, SharedKey
from replearn.binding import prefitted
from replearn.binding.digests import bind, is_fitted
from replearn.binding.sample import preprocessing_mark, sample_conditions
from replearn.binding.schema import describe_points, row_number_column
from replearn.guarantees.certificate import Certificate
from replearn.paper.hypotheses import Thresholds
from replearn.paper.realizable import RealizableReplicableClassifier
from replearn.paper.semi_replicable import SemiReplicableClassifier
from replearn.paper.thresholds import ReplicableThresholdClassifier
from tests.factories import Choosing, Holder, Unreadable, voting

N = 3000


def table(seed, n=N):
    """Return age, an indicator, an income in full precision, and labels."""
    rng = np.random.default_rng(seed)
    age, sex = np.round(rng.gamma(9, 5, n), 1), rng.integers(0, 2, n)
    income = rng.lognormal(3, 0.5, n)
    y = (age / 20 + sex + rng.normal(size=n) > 3).astype(int)
    return pd.DataFrame({"age": age, "sex": sex, "income": income}), y


def fitted(X, y, base=None, **settings):
    base = GaussianNB() if base is None else base
    return voting(base, **{"rho": 0.4, "max_fits": 12, "shared_key": "k", **settings}).fit(X, y)


def certified(lab, base=None, **settings):
    """Fit a lab and return its certificate, after a journey through JSON."""
    certificate = Certificate.from_json(fitted(*lab, base, **settings).certificate_.to_json())
    certificate.check()
    assert certificate.certified, certificate.reason
    return certificate


def compared(one, two, base=None, **settings):
    return certified(one, base, **settings).comparable(certified(two, base, **settings))


# -- points ----------------------------------------------------------------------------------------
def as_array(X):
    return X.to_numpy(float)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (as_array, "columns: by name .* here, by position there"),
        (lambda X: X.rename(columns={"age": "Age"}), "columns: by name"),
        (lambda X: X.assign(age=X["age"] * 12), "column 'age': other values"),
        (lambda X: X.rename(columns={"age": "sex", "sex": "age"}), "column 'age'"),
        (lambda X: X.round({"income": 6}), "column 'income': .*6 decimals"),
        (lambda X: X.astype({"income": "float32"}), "column 'income': .*float32 numbers"),
        (lambda X: X.assign(sex=X["sex"].map({0: "f", 1: "m"})), "column 'sex': .*number"),
        (lambda X: X.assign(age=X["age"].where(X["age"] < 50)), "column 'age'"),
    ],
    ids=["array", "header", "months", "swapped", "csv", "float32", "coding", "missing"],
)
def test_points_that_differ_are_not_comparable(change, words):
    Z, u = table(1)
    comparison = first_lab().comparable(certified((change(Z), u), ANY_CELLS))
    assert comparison.comparable == "no"
    assert re.search(words, str(comparison)), str(comparison)


def numbers(X):
    """Read a table as numbers, texts as their length: the same for all labs."""
    if isinstance(X, np.ndarray):
        return X
    return X.apply(lambda c: c.map(len) if isinstance(c.iloc[0], str) else c).to_numpy(float)


ANY_CELLS = make_pipeline(
    FunctionTransformer(numbers), SimpleImputer(keep_empty_features=True), GaussianNB()
)


@functools.cache
def first_lab():
    return certified(table(0), ANY_CELLS)


def test_columns_of_one_distribution_that_change_places_are_told_apart_by_their_labels():
    def lab(seed, order):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(20_000, 2))
        return X[:, order], (X[:, 0] + 0.3 * rng.normal(size=len(X)) > 0).astype(int)

    one, same, other = (certified(lab(*of)) for of in ((0, [0, 1]), (1, [0, 1]), (1, [1, 0])))
    assert one.comparable(same).comparable == "yes"
    assert "among rows of the second class" in str(one.comparable(other))


def test_rounding_in_the_plan_makes_precisions_comparable():
    (X, y), (Z, u) = ((as_array(X), y) for X, y in (table(0), table(1)))
    labs = ((X, y), (Z.astype(np.float32), u), (np.round(Z, 5), u))
    one, short, rounded = (certified(lab, decimals=3) for lab in labs)
    assert one.comparable(short).comparable == one.comparable(rounded).comparable == "yes"


def test_times_in_another_zone_are_other_points():
    def lab(seed, zone):
        rng = np.random.default_rng(seed)
        days = pd.to_datetime("2026-01-01") + pd.to_timedelta(rng.integers(0, 900, N), "D")
        return pd.DataFrame({"day": days + pd.Timedelta(hours=zone)}), rng.integers(0, 2, N)

    base = make_pipeline(FunctionTransformer(seconds), GaussianNB())
    one, same, other = (certified(lab(*of), base) for of in ((0, 0), (1, 0), (1, 2)))
    assert one.comparable(same).comparable == "yes"
    assert "whole days" in str(one.comparable(other))


def seconds(X):
    return X.apply(lambda c: c.astype("int64")).to_numpy(float) / 1e18


def test_texts_in_another_form_are_other_points():
    def lab(seed, form):
        rng = np.random.default_rng(seed)
        texts = [form(f"caf\u00e9 {a} {b}") for a, b in rng.integers(0, 99, (N, 2))]
        return np.array(texts, dtype=object), rng.integers(0, 2, N)

    base = make_pipeline(HashingVectorizer(n_features=16), BernoulliNB())
    forms = (str, str.upper, lambda text: text.replace("é", "e\u0301"))
    one, same, upper = (certified(lab(*of), base) for of in ((0, str), (1, str), (1, forms[1])))
    with pytest.warns(PreprocessingWarning, match="not in the Unicode form NFC"):
        nfd = certified(lab(1, forms[2]), base)
    assert one.comparable(same).comparable == "yes"
    assert "with capital letters" in str(one.comparable(upper))
    assert "NFC" in str(one.comparable(nfd))


def test_arrays_for_a_learner_of_frames_are_warned_about():
    X, y = table(0)
    by_name = fitted(X, y)
    ordered = X[sorted(X.columns)]
    with (
        pytest.warns(
            PreprocessingWarning, match="X is an array, but the training rows were a frame"
        ),
        pytest.warns(UserWarning, match="does not have valid feature names"),
    ):
        by_name.predict(as_array(X))
    with (
        pytest.warns(PreprocessingWarning, match="X is a frame, but .* give an array"),
        pytest.warns(UserWarning, match="X has feature names"),
    ):
        fitted(as_array(X), y).predict(X)
    with warnings.catch_warnings():  # names in order: the points are the same
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        same = fitted(ordered, y)
        assert (same.predict(as_array(ordered)) == same.predict(ordered)).all()


# -- ordinary use gets "certified" and "yes" -------------------------------------------------------
def mixed(seed, n=N):
    X, y = table(seed, n)
    rng = np.random.default_rng(seed + 100)
    town = rng.choice(["Ulm", "Köln", "Jena", None], n, p=[0.5, 0.3, 0.1, 0.1])
    X["town"] = pd.Categorical(town, categories=rng.permutation(["Ulm", "Köln", "Jena", "Rom"]))
    X["age"] = X["age"].where(rng.random(n) > 0.05)
    X["member"] = rng.random(n) < 0.5
    X["visits"] = pd.array(rng.integers(0, 9, n), dtype="Int64" if seed % 2 else "int64")
    return X[rng.permutation(X.columns)], y


ENCODED = make_pipeline(
    make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["town"]),
        (make_pipeline(SimpleImputer(), StandardScaler()), ["age", "income", "visits"]),
        ("passthrough", ["sex", "member"]),
    ),
    LogisticRegression(),
)


@pytest.mark.parametrize(
    ("lab", "base"),
    [
        (table, None),
        (mixed, ENCODED),
        (lambda seed: (as_array(table(seed)[0]), table(seed)[1]), None),
        (lambda seed: (as_array(table(seed)[0]).astype(np.float32), table(seed)[1]), None),
        (
            lambda seed: (
                sparse.random(N, 300, 0.02, format="csr", random_state=seed),
                flags(seed),
            ),
            BernoulliNB(),
        ),
        (
            lambda seed: ([f"w{i % 7} w{i % 11}" for i in shuffled(seed)], flags(seed)),
            make_pipeline(HashingVectorizer(n_features=16), BernoulliNB()),
        ),
        (
            table,
            GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2),
        ),
        (table, RandomForestClassifier(2, max_depth=2)),
    ],
    ids=["frame", "mixed", "array", "float32", "sparse", "text", "search", "forest"],
)
def test_two_labs_that_do_the_same_are_certified_and_comparable(lab, base):
    comparison = compared(lab(0), lab(1), base)
    assert comparison.comparable == "yes", str(comparison)


def flags(seed):
    return np.random.default_rng(seed).integers(0, 2, N)


def shuffled(seed):
    return np.random.default_rng(seed).permutation(N)


def test_sketches_of_one_population_are_never_told_apart():
    def schema(seed):
        X, y = table(seed, 400)
        return describe_points(X, y, rows=np.arange(len(y)))["schema"]

    from replearn.guarantees.comparison import compare_points

    schemas = [schema(seed) for seed in range(40)]
    pairs = itertools.combinations(schemas, 2)
    assert not any(compare_points(one, two).differences for one, two in pairs)


def test_groups_count_once_in_a_sketch():
    X, y = table(0)
    groups = np.repeat(np.arange(N // 10), 10)
    model = PointwiseReplicableClassifier(n_blocks=5, max_fits=5, rho=1.0, shared_key="k")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = model.fit(np.asarray(X)[:, :2].astype(float), y, groups=groups)
    used = fitted.plan_.design.n_blocks * fitted.plan_.design.block_size
    assert fitted.certificate_.identity.schema["rows"] == used <= N // 10


def test_columns_are_sketched_together_as_one_by_one():
    X, y = table(0)
    numbers = np.asarray(X.select_dtypes("number") if hasattr(X, "columns") else X, dtype=float)
    numbers[:, 0] = np.round(numbers[:, 0])  # values that occur often
    rows = np.arange(len(y))
    together = describe_points(numbers, y, rows=rows)["schema"]["sketch"]
    for place, sketch in enumerate(together):
        alone = describe_points(numbers[:, [place]], y, rows=rows)["schema"]["sketch"][0]
        assert sketch == alone | {"name": place}
        hole = np.vstack([numbers[:, [place]], [[np.nan]]])  # no longer nothing but floats
        mixed = describe_points(hole, np.append(y, 0), rows=np.append(rows, len(y)))
        assert mixed["schema"]["sketch"][0]["steps"] == sketch["steps"]
    assert together[0]["all"]["levels"]


def test_small_samples_are_not_sketched():
    X, y = table(0, 199)
    assert describe_points(X, y, rows=np.arange(len(y)))["schema"]["sketch"] == []


# -- the learner -----------------------------------------------------------------------------------
def test_fitted_parts_are_refused():
    X, y = table(0)
    scaler = StandardScaler().fit(X)
    for base in (
        FrozenEstimator(LogisticRegression().fit(X, y)),
        make_pipeline(FrozenEstimator(scaler), GaussianNB()),
        make_pipeline(FunctionTransformer(lambda X: scaler.transform(X)), GaussianNB()),
    ):
        with pytest.raises(ValueError, match=r"contains a fitted part: .*prefitted\(estimator\)"):
            fitted(X, y, base)


def test_an_estimator_that_was_fitted_before_is_no_fitted_part():
    X, y = table(0)
    assert fitted(X, y, GaussianNB().fit(X, y)).certificate_.certified


class NamesOfItsOwn(GaussianNB):
    """Like the nets of skorch: attributes that end in _ stand there before any fit."""

    def __init__(self, priors=None):
        super().__init__(priors=priors)
        self.initialized_ = False

    def __sklearn_is_fitted__(self):
        return hasattr(self, "theta_")


def test_what_a_clone_has_too_was_not_learned():
    X, y = table(0)
    assert not is_fitted(NamesOfItsOwn())
    assert is_fitted(NamesOfItsOwn().fit(X, y))


def test_trusted_parts_are_bound_by_their_state():
    def base(data):
        return make_pipeline(prefitted(StandardScaler().fit(data)), GaussianNB())

    (X, y), (Z, u), (other, _) = table(0), table(1), table(2)
    alike = [fitted(*lab, base(other)).certificate_ for lab in ((X, y), (Z, u))]
    assert alike[0].certified
    assert alike[0].comparable(alike[1]).comparable == "yes"
    own = fitted(Z, u, base(Z)).certificate_
    assert "estimator digest" in str(alike[0].comparable(own))
    assert isinstance(clone(base(X))[0], type(prefitted(GaussianNB())))


def threshold_above(limit):
    return lambda X: np.asarray(X, dtype=float) > limit


def test_what_a_function_closes_over_is_bound():
    X, y = table(0)
    one, same, other = (
        fitted(X, y, make_pipeline(FunctionTransformer(threshold_above(limit)), BernoulliNB()))
        for limit in (20.0, 20.0, 30.0)
    )
    assert one.certificate_.comparable(same.certificate_).comparable == "yes"
    assert "estimator digest" in str(one.certificate_.comparable(other.certificate_))


LIMIT = 3.0


def uses_global(x):
    return x > LIMIT


def test_globals_of_functions_are_bound(monkeypatch):
    before = bind(uses_global).digest
    monkeypatch.setitem(globals(), "LIMIT", 4.0)
    assert bind(uses_global).digest != before


def test_what_cannot_be_read_makes_the_answer_unknown():
    X, y = table(0)
    model = fitted(X, y, Holder(Unreadable()))
    comparison = model.certificate_.comparable(model.certificate_)
    assert comparison.comparable == "unknown"
    assert "Unreadable, whose state cannot be read" in str(comparison)


SCRIPT = """
    import numpy as np, functools
    from sklearn.pipeline import make_pipeline
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import FunctionTransformer
    from replearn.binding.digests import bind
    class Own(LogisticRegression):
        names = {"a", "b", "c"}
        def fit(self, X, y, words=frozenset(["x", "y", "z"])):
            return super().fit(X, y)
    shift = {"b": np.arange(3), "a": {1, "two", 3.0}}
    base = make_pipeline(FunctionTransformer(lambda X: X if "q" in {"q", "r"} else shift), Own())
    part = functools.partial(np.clip, a_min=0)
    print(bind([base, part, np.random.default_rng(1), np.random.RandomState(2), Own]).digest)
"""


def test_two_processes_give_one_digest(capsys):
    command = [sys.executable, "-c", textwrap.dedent(SCRIPT)]
    seeded = {**os.environ, "PYTHONHASHSEED": "1"}  # sets and dictionaries in another order
    done = subprocess.run(command, env=seeded, capture_output=True, text=True, check=True)
    exec(textwrap.dedent(SCRIPT), {"__name__": "__main__"})
    assert done.stdout == capsys.readouterr().out


@pytest.mark.parametrize(
    "pair",
    [
        ([1], [1.0]),
        ({"a": 1}, {"a": 2}),
        (np.arange(3), np.arange(3.0)),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (functools.partial(max, 1), functools.partial(max, 2)),
        (np.random.default_rng(1), np.random.default_rng(2)),
        (lambda x: x + 1, lambda x: x + 2),
        (sparse.eye_array(2), sparse.eye_array(3)),
        (GaussianNB(), BernoulliNB()),
    ],
)
def test_different_things_have_different_digests(pair):
    one, two = pair
    assert bind(one).digest != bind(two).digest
    assert bind(one).digest == bind(one).digest


def test_a_thing_inside_itself_ends():
    loop = [1]
    loop.append(loop)
    assert bind(loop).digest


# -- conditions that data refute -------------------------------------------------------------------
def test_data_of_a_class_are_bound():
    class Own(GaussianNB):
        fits = 0

    before = bind(Own()).digest
    Own.fits = 1
    assert bind(Own()).digest != before


def rows_are_counted(frame):
    return frame.assign(row=np.arange(len(frame)))


def cut_at_quantiles(X):
    X = X.assign(wealth=np.random.default_rng(len(X)).lognormal(5, 1, len(X)))
    return X.clip(X.quantile(0.05), X.quantile(0.95), axis=1)


def test_limits_from_elsewhere_are_no_mark():
    rng = np.random.default_rng(0)
    X = np.clip(rng.normal(size=(N, 2)), -1.6448536, 1.6448536)
    assert preprocessing_mark(X) is None


def test_a_cut_of_one_column_shows_in_two_certificates():
    def lab(seed):
        X, y = table(seed)
        limits = X["income"].quantile([0.05, 0.95])
        return X.assign(income=X["income"].clip(*limits)), y

    assert "column 'income': other values: one has" in str(compared(lab(0), lab(1)))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X: StandardScaler().fit_transform(X), "StandardScaler"),
        (lambda X: StandardScaler(with_mean=False).fit_transform(X), "with_mean=False"),
        (
            QuantileTransformer(n_quantiles=100, output_distribution="normal").fit_transform,
            "QuantileTransformer",
        ),
        (lambda X: TruncatedSVD(2).fit_transform(X), "TruncatedSVD"),
        (lambda X: SimpleImputer().fit_transform(X.mask(X.quantile(0.9) < X)), "imputer"),
        (cut_at_quantiles, "winsorising"),
        (
            lambda X: np.c_[X, StandardScaler(with_mean=False).fit_transform(X)[:, 2]],
            "with_mean=False",
        ),
        (rows_are_counted, "column 'row' numbers the rows"),
        (lambda X: rows_are_counted(X).to_numpy(float), "column 3 numbers the rows"),
    ],
    ids=[
        "scaler",
        "no mean",
        "normal",
        "svd",
        "imputer",
        "cut",
        "one scaled",
        "row number",
        "row number of array",
    ],
)
def test_what_stands_in_front_is_a_failed_condition(change, words):
    X, y = table(0)
    with pytest.warns(PreprocessingWarning):
        certificate = fitted(change(X), y).certificate_
    assert not certificate.certified
    assert words in certificate.reason
    certificate.check()


def test_an_index_in_any_order_is_found():
    rng = np.random.default_rng(0)
    assert row_number_column(np.column_stack([rng.random(99), rng.permutation(99) + 5])) == 1
    assert row_number_column(rng.integers(0, 99, (99, 2))) is None
    assert sample_conditions(["a text"] * 99) == ()


# -- choices ---------------------------------------------------------------------------------------
def choice(seed, n=4000):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    return X, (X[:, 0] > 0.6) ^ (rng.random(n) < 0.1)


pytestmark = pytest.mark.filterwarnings("ignore::replearn.NotCertifiedWarning")


def test_the_certificate_of_a_choice_does_not_depend_on_the_order_of_the_file():
    X, y = table(0)
    X = np.where(np.arange(N) % 3 == 0, np.round(X["income"], 2), X["income"])[:, np.newaxis]
    learner = ReplicableThresholdClassifier(rho=0.9, gamma=0.5, alpha=0.5, shared_key="k")
    rows = shuffled(1)
    one, two = (learner.fit(X[o], y[o]).certificate_.to_json() for o in (np.arange(N), rows))
    assert one == two


def test_pools_are_bound_whatever_their_order():
    def lab(seed, pool):
        learner = SemiReplicableClassifier(Thresholds(">"), rho=0.3, alpha=0.25, shared_key="k")
        return learner.fit(*choice(seed), X_shared=pool).certificate_

    pool, other = (np.random.default_rng(seed).random((50, 1)) for seed in (8, 9))
    assert lab(0, pool).comparable(lab(1, pool[::-1])).comparable == "yes"
    assert "digest of the shared pool" in str(lab(0, pool).comparable(lab(1, other)))


def test_names_of_columns_are_bound_where_rules_count_columns():
    def lab(seed, names):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.random((2000, 2)), columns=names)
        model = ReplicableThresholdClassifier(feature=0, shared_key="k")
        return model.fit(X, X.iloc[:, 0] > 0.6).certificate_

    assert lab(0, ["a", "b"]).comparable(lab(1, ["a", "b"])).comparable == "yes"
    assert lab(0, ["a", "b"]).comparable(lab(1, ["b", "a"])).comparable == "unknown"


@pytest.mark.filterwarnings("ignore:RealizableReplicableClassifier abstains")
def test_the_class_is_bound_with_its_parameters():
    def lab(seed, kind):
        return RealizableReplicableClassifier(kind, shared_key="k").fit(*choice(seed)).certificate_

    assert lab(0, Thresholds(">")).comparable(lab(1, Thresholds(">"))).comparable == "yes"
    assert "hypothesis class" in str(lab(0, Thresholds(">")).comparable(lab(1, Thresholds("<="))))
    ways = [
        ReplicableThresholdClassifier(direction=way, shared_key="k").fit(*choice(0)).certificate_
        for way in (">", "<=")
    ]
    assert "hypothesis class" in str(ways[0].comparable(ways[1]))


def test_candidates_are_bound_by_what_they_are():
    def lab(seed, models):
        return Choosing(models, shared_key="k").fit(*choice(seed)).certificate_

    trained = [LogisticRegression().fit(*choice(seed)) for seed in (5, 6)]
    one, same, other = (
        lab(seed, {"model": trained[which], "rule": threshold_rule})
        for seed, which in ((0, 0), (1, 0), (1, 1))
    )
    assert one.comparable(same).comparable == "yes"
    assert "digest of the candidates" in str(one.comparable(other))


def threshold_rule(X):
    return X[:, 0] > 0.5


def test_candidates_that_cannot_be_read_are_bound_by_their_answers():
    class Closed:
        def __init__(self, limit):
            self.limit = limit

        def __reduce_ex__(self, protocol):
            raise TypeError("closed")

        def predict(self, X):
            return X[:, 0] > self.limit

    one, same, other = (
        Choosing({"closed": Closed(limit)}, shared_key="k").fit(*choice(0)).certificate_
        for limit in (0.5, 0.5, 0.2)
    )
    assert one.comparable(same).comparable == "yes"
    assert one.comparable(other).comparable == "no"


def test_keys_are_not_walked():
    key = SharedKey("secret")
    assert bind(key).digest == bind(SharedKey("secret")).digest != bind(SharedKey("x")).digest


def test_a_description_of_points_copies_a_small_part_of_the_table():
    X, codes = np.random.default_rng(0).normal(size=(100_000, 20)), np.arange(100_000) % 2
    tracemalloc.start()
    describe_points(X, codes, rows=np.arange(10_000), base=LogisticRegression())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.3 * X.nbytes


def test_bytes_between_the_fields_of_an_array_are_not_bound():
    kind = np.dtype([("left", np.int64), ("missing", np.uint8)], align=True)
    one, two = np.zeros(3, kind), np.full(3, 255, np.uint8).repeat(16).view(kind)
    for name in kind.names:
        two[name] = one[name]
    assert one.tobytes() != two.tobytes()
    assert bind(one).digest == bind(two).digest
    two["left"][0] = 1
    assert bind(one).digest != bind(two).digest
