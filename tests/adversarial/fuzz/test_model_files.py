"""Damaged model files: refused, or the same predictions; forged ones: refused, or a model."""

import io
import json
import zipfile

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from replearn import PointwiseReplicableClassifier, load, save
from replearn.exceptions import ModelFileError
from replearn.persistence import _container
from replearn.persistence._packing import unpack_values
from tests.adversarial.fuzz.damage import damaged, generators, mutated, within
from tests.factories import voting

X, Y = make_classification(400, n_informative=4, random_state=0)
BASES = {
    "tree": DecisionTreeClassifier(max_depth=3),
    "boosting": HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=5),
    "linear": LogisticRegression(),
    "skops": SVC(),
}
KEY = "fuzz"
LONG = pytest.mark.long
PIECES = 4


@pytest.fixture(scope="module", params=BASES)
def written(request, tmp_path_factory):
    """The bytes of a small model file, and what the model says."""
    path = tmp_path_factory.mktemp("model") / "model.replearn"
    plan = {"n_partitions": 1}
    base = BASES[request.param]
    model = voting(base, n_blocks=8, rho=0.5, **plan, shared_key=KEY)
    save(model.fit(X, Y), path)
    return path.read_bytes(), model.margin(X)


def refused(content, original):
    """Whether a file is refused; if it is not, what is loaded is what was saved, item by item."""
    try:
        found = _container.unpack(content, "a damaged file")
    except ModelFileError:
        return True
    assert found == original
    return False


def flips(content, start, step, masks):
    """Every step-th byte, with some masks each."""
    data = bytearray(content)
    for place in range(start, len(data), step):
        for mask in masks:
            data[place] ^= mask
            yield bytes(data)
            data[place] ^= mask


def check_flips(written, tmp_path, start, step, masks):
    content, margin = written
    original = _container.unpack(content, "the file")
    count = unnoticed = 0
    for changed in flips(content, start, step, masks):
        count += 1
        if not refused(changed, original):
            unnoticed += 1
            if unnoticed <= 3:  # what does not matter: dates in the archive, for example
                path = tmp_path / "changed.replearn"
                path.write_bytes(changed)
                assert (load(path, shared_key=KEY).margin(X) == margin).all()
    return count, unnoticed


def test_some_changed_bytes(written, tmp_path):
    count, unnoticed = check_flips(written, tmp_path, 3, max(1, len(written[0]) // 60), (0x01,))
    assert count >= 60
    assert unnoticed < count / 4


@LONG
@pytest.mark.parametrize("piece", range(PIECES))
def test_every_changed_byte(written, tmp_path, piece, record_property):
    """All single bytes, two changes each: 670,000 files over all pieces."""
    masks = (0x01, 0xFF)
    count, unnoticed = check_flips(written, tmp_path, piece, PIECES, masks)
    record_property("changed files", count)
    assert count >= len(masks) * (len(written[0]) // PIECES)
    assert unnoticed < count / 10


@LONG
def test_other_damage(written):
    content, _ = written
    original = _container.unpack(content, "the file")
    n_refused = 0
    for _, rng in generators(2000):
        with within(20):
            n_refused += refused(damaged(content, rng), original)
    assert n_refused > 1000  # what is not refused is the same model


# -- forged: the digest is right, the content is not -----------------------------------------------
def forged(content, rng):
    """Change the manifest or the models, and sign the file again as its author would."""
    manifest, models = _container.unpack(content, "the file")
    manifest = {name: value for name, value in manifest.items() if name not in ("digest",)}
    if rng.random() < 0.5:
        models = {part: damaged(data, rng) for part, data in models.items()}
    else:
        manifest = mutated(manifest, rng)
    for name in ("format", "version", "models_sha256"):
        manifest.pop(name, None)
    return _container.pack(manifest, models)


def check_forgeries(written, tmp_path, count, seed):
    content, _ = written
    path, loaded = tmp_path / "forged.replearn", 0
    for _, rng in generators(count, seed):
        try:
            made = forged(content, rng)
        except (ValueError, TypeError):  # no JSON: nobody can write this
            continue
        path.write_bytes(made)
        with within(30):
            try:
                model = load(path, shared_key=KEY)
                loaded += 1
                model.predict(X[:5])
            except ValueError:
                continue
    return loaded


def test_some_forgeries(written, tmp_path):
    check_forgeries(written, tmp_path, 6, 1)


@LONG
@pytest.mark.parametrize("seed", range(2, 6))
def test_forgeries(written, tmp_path, seed):
    check_forgeries(written, tmp_path, 800, seed)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.replearn"
    save(
        PointwiseReplicableClassifier(n_blocks=8, max_fits=8, rho=0.5, shared_key=KEY).fit(X, Y),
        path,
    )
    return _container.unpack(path.read_bytes(), "the file")


def test_compressed_entries_are_refused(parts, tmp_path):
    """Millions of zeros behind a few bytes."""
    path = tmp_path / "bomb.replearn"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("manifest.json", json.dumps(parts[0]))
        archive.writestr("models.packed", bytes(2**24))
    with pytest.raises(ModelFileError, match="is compressed"):
        load(path, shared_key=KEY)


def bomb(entries):
    """A part of a model file that is small and says that it is large."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def place(dtype, length, data=0):
    return {"dtype": dtype, "shape": [length], "data": data}


NOTHING = {"kind": "none", "same": None}
RECORDS = {"itemsize": 2**40, "offsets": [0], "fields": {"a": place("<i8", 1)}}
BOMBS = {
    "a list": ({"kind": "list", "lengths": place("<i8", 1), "items": NOTHING}, "max_bytes"),
    "records": ({"kind": "scalar", "array": RECORDS}, "max_bytes|itemsize|cannot be rebuilt"),
}


@pytest.mark.parametrize(("column", "message"), BOMBS.values(), ids=BOMBS)
def test_forged_sizes_are_refused_before_memory_is_taken(parts, tmp_path, column, message):
    structure = {"length": 1, "column": {"kind": "dict", "columns": {"x": column}}}
    content = bomb({"structure.json": json.dumps(structure), "0": np.array([10**10]).tobytes()})
    drop = ("digest", "models_sha256", "format", "version")
    manifest = {name: value for name, value in parts[0].items() if name not in drop}
    path = tmp_path / "bomb.replearn"
    path.write_bytes(_container.pack(manifest, {_container.PACKED: content}))
    with within(60), pytest.raises(ModelFileError, match=message):
        load(path, shared_key=KEY)


@LONG
def test_parts_that_would_expand_a_thousandfold_are_refused():
    structure = {"length": 1, "column": {"kind": "scalar", "array": place("|u1", 2**30)}}
    content = bomb({"structure.json": json.dumps(structure), "0": bytes(2**30)})
    with pytest.raises(ModelFileError, match="would take more memory than max_bytes="):
        unpack_values(content)
