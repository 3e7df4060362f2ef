"""Rows from every kind of source, in pieces; predictions and samples from files."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from sklearn.naive_bayes import GaussianNB

from replearn import PointwiseReplicableClassifier
from replearn.outofcore import fit_files, pieces, predict_files, sample_files, sources
from replearn.outofcore.folders import Folder
from replearn.outofcore.sources import open_rows

pytestmark = pytest.mark.filterwarnings("ignore::replearn.exceptions.NotCertifiedWarning")
N = 2000


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2)).round(6)
    return pl.DataFrame({"b": X[:, 0], "a": X[:, 1], "y": np.where(X[:, 0] > 0, "yes", "no")})


@pytest.fixture(scope="module")
def model(frame):
    return learner().fit(frame.drop("y"), frame["y"].to_numpy())


def learner():
    return PointwiseReplicableClassifier(GaussianNB(), n_blocks=10, rho=0.9, max_fits=10)


def rows_of(rows):
    tables = [piece.read(rows.names) for piece in rows.pieces]
    return pl.from_arrow(pa.concat_tables(tables))


def parquet(frame, place):
    frame.write_parquet(place / "rows.parquet", row_group_size=300)
    return place / "rows.parquet"


def arrow(frame, place):
    table = frame.to_arrow()
    path = str(place / "rows.arrow")
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table, max_chunksize=300)
    return path


def feather(frame, place):
    if int(pa.__version__.split(".")[0]) < 16:
        pytest.skip("this pyarrow does not read texts as views, which polars writes")
    frame.write_ipc(place / "rows.feather")
    return str(place / "rows.feather")


def text(frame, place):
    frame.write_csv(place / "rows.csv")
    return place / "rows.csv"


def several(frame, place):
    frame.head(700).write_parquet(place / "0.parquet")
    frame.tail(N - 700).write_parquet(place / "1.parquet")
    return [place / "0.parquet", place / "1.parquet"]


SOURCES = {
    "parquet": parquet,
    "arrow": arrow,
    "feather": feather,
    "csv": text,
    "list": several,
    "pattern": lambda frame, place: [several(frame, place)[0].with_name("*.parquet")],
    "address": lambda frame, place: f"file://{parquet(frame, place)}",
    "address of a folder": lambda frame, place: f"file://{several(frame, place)[0].parent}",
    "lazy frame": lambda frame, place: pl.scan_parquet(parquet(frame, place)),
    "frame": lambda frame, place: frame,
    "dataset": lambda frame, place: pa.dataset.dataset(parquet(frame, place)),
    "table": lambda frame, place: frame.to_arrow(),
}


LONG = {"list", "address", "lazy frame", "frame", "table"}


@pytest.mark.parametrize(
    "source",
    [pytest.param(name, marks=pytest.mark.long if name in LONG else ()) for name in SOURCES],
)
def test_every_source_gives_the_same_rows(frame, model, tmp_path, monkeypatch, source):
    monkeypatch.setattr(pieces, "PIECE_BYTES", 1 << 13)
    given = SOURCES[source](frame, tmp_path)
    rows = open_rows(given, Folder(tmp_path / "work"))
    assert rows.n == N
    assert rows_of(rows).equals(frame)
    again = open_rows(given, Folder(tmp_path / "work"))
    assert again == rows
    fitted = fit_files(learner(), given, "y", folder=tmp_path / "fit")
    X = frame.drop("y")
    assert (fitted.predict_proba(X) == model.predict_proba(X)).all()
    assert fitted.certificate_ == model.certificate_


def test_huge_row_groups_are_cut(frame, tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE_BYTES", 1 << 12)
    monkeypatch.setattr(sources, "PIECE_BYTES", 1 << 12)
    monkeypatch.setattr(sources, "LARGEST_GROUP", 1 << 12)
    monkeypatch.setattr(sources, "_ROWS_AT_A_TIME", 100)
    frame.write_parquet(tmp_path / "rows.parquet")
    with pytest.raises(ValueError, match="give folder="):
        open_rows(tmp_path / "rows.parquet")
    rows = open_rows(tmp_path / "rows.parquet", Folder(tmp_path / "work"))
    assert len(rows.pieces) > 5
    assert rows_of(rows).equals(frame)


def test_partitioned_datasets_keep_their_columns(frame, tmp_path):
    table = frame.with_columns(pl.Series("town", np.arange(N) % 2)).to_arrow()
    place = tmp_path / "rows"
    pa.dataset.write_dataset(
        table, place, format="parquet", partitioning=["town"], partitioning_flavor="hive"
    )
    dataset = pa.dataset.dataset(place, partitioning="hive")
    rows = open_rows(dataset, Folder(tmp_path / "work"))
    assert set(rows.names) == {"a", "b", "y", "town"}
    assert rows.n == N


def test_what_cannot_be_read_is_said(frame, tmp_path):
    frame.write_parquet(tmp_path / "0.parquet")
    frame.drop("a").write_parquet(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match="other columns"):
        open_rows(tmp_path)
    (tmp_path / "2.xyz").write_text("")
    with pytest.raises(ValueError, match="not supported"):
        open_rows(tmp_path / "2.xyz")
    frame.head(0).write_parquet(tmp_path / "3.parquet")
    with pytest.raises(ValueError, match="has no rows"):
        open_rows(tmp_path / "3.parquet")
    with pytest.raises(TypeError, match="got dict"):
        open_rows({}, Folder(tmp_path / "work"))


def test_staged_rows_of_other_files_are_refused(frame, tmp_path):
    path, folder = text(frame, tmp_path), Folder(tmp_path / "work")
    open_rows(path, folder)
    frame.head(10).write_csv(path)
    with pytest.raises(ValueError, match="other files"):
        open_rows(path, folder)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_predictions_are_written_in_the_order_of_the_rows(
    frame, model, tmp_path, monkeypatch, suffix
):
    monkeypatch.setattr(pieces, "PIECE_BYTES", 1 << 13)
    source, output = parquet(frame, tmp_path), tmp_path / f"answers{suffix}"
    answers = ("predict", "predict_proba", "flip_probability")
    assert predict_files(model, source, output, methods=answers, keep=["y"]) == N
    read = pl.read_parquet(output) if suffix == ".parquet" else pl.read_csv(output)
    X = frame.drop("y")
    assert read["prediction"].to_list() == model.predict(X).tolist()
    assert read["y"].to_list() == frame["y"].to_list()
    assert np.allclose(read["proba_yes"].to_numpy(), model.predict_proba(X)[:, 1], rtol=1e-15)
    assert np.allclose(read["flip_probability"].to_numpy(), model.flip_probability(X), rtol=1e-15)


def test_predictions_that_cannot_be_written_leave_no_file(frame, model, tmp_path):
    source = parquet(frame.drop("a"), tmp_path)
    with pytest.raises(ValueError, match="no column 'a'"):
        predict_files(model, source, tmp_path / "answers.parquet")
    with pytest.raises(ValueError, match=r"\.parquet or \.csv"):
        predict_files(model, source, tmp_path / "answers.txt")
    with pytest.raises(ValueError, match="must be some of"):
        predict_files(model, source, tmp_path / "answers.csv", methods=["explain"])
    (tmp_path / "bad").mkdir()
    path = parquet(frame.with_columns(pl.lit(np.inf).alias("a")), tmp_path / "bad")
    with pytest.raises(ValueError, match="infinit"):
        predict_files(model, path, tmp_path / "answers.csv")
    assert not list(tmp_path.glob("answers*"))


def test_samples_are_drawn_evenly_and_repeatably(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE_BYTES", 1 << 10)
    pl.DataFrame({"a": range(N)}).write_parquet(tmp_path / "rows.parquet", row_group_size=100)
    drawn = [sample_files(tmp_path / "rows.parquet", 200, key=key)["a"] for key in range(20)]
    again = sample_files(tmp_path / "rows.parquet", 200, key=7)["a"]
    assert drawn[7].equals(again)
    assert all(rows.n_unique() == 200 for rows in drawn)
    counts = np.bincount(np.concatenate(drawn), minlength=N).reshape(20, 100).sum(axis=1)
    assert abs(counts - 200).max() < 100  # standard deviation 13
    assert sample_files(tmp_path / "rows.parquet", 10**6).height == N


def test_a_sample_does_not_depend_on_order_or_kind_of_file(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "PIECE_BYTES", 1 << 10)
    rng = np.random.default_rng(0)
    numbers, texts = rng.integers(0, 40, N), rng.choice(["u", "v", "w"], N)
    rows = pl.DataFrame({"a": numbers, "b": numbers / 8, "c": texts})  # many equal ones
    rows.write_parquet(tmp_path / "rows.parquet", row_group_size=100)
    drawn = sample_files(tmp_path / "rows.parquet", 300, key="k")
    assert drawn.height == 300
    counts = np.unique(drawn["c"], return_counts=True)[1]
    assert abs(counts - 100).max() < 50  # standard deviation 8
    rows.sample(N, shuffle=True, seed=1).write_ipc(tmp_path / "rows.arrow", record_batch_size=77)
    rows.reverse().write_csv(tmp_path / "rows.csv")
    for other in ("rows.arrow", "rows.csv"):
        again = sample_files(tmp_path / other, 300, key="k", folder=tmp_path / f"work-{other}")
        assert again.equals(drawn)
    whole = pyarrow.dataset.dataset(tmp_path / "rows.parquet")
    for other in (rows.lazy(), whole):
        work = tmp_path / f"work-{type(other).__name__}"
        assert sample_files(other, 300, key="k", folder=work).equals(drawn)


def test_equal_rows_are_drawn_one_by_one(tmp_path):
    pl.DataFrame({"a": [1.0] * 1000 + [2.0] * 1000}).write_parquet(tmp_path / "rows.parquet")
    ones = [(sample_files(tmp_path / "rows.parquet", 100, key=k)["a"] == 1).sum() for k in range(9)]
    assert len(set(ones)) > 1
    assert all(25 < one < 75 for one in ones)  # standard deviation 5
