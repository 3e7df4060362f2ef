"""Files that would exhaust memory: refused by one budget for both parts, before memory is taken."""

import io
import json
import struct
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from replearn import load, save
from replearn.exceptions import ModelFileError
from replearn.persistence import _container, _skops
from replearn.persistence._budget import OBJECT_BYTES, Budget
from replearn.persistence._packing import pack_values, unpack_values
from tests.factories import voting

X, Y = make_classification(400, n_informative=4, random_state=0)
KEY = "memory"
MEGABYTE = 2**20
SVC_TYPES = ["sklearn.svm._classes.SVC"]
NOTHING = {"kind": "none", "same": None}


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """Write a model file with other parts, signed as its author would."""
    folder = tmp_path_factory.mktemp("model")
    cut = {"n_blocks": 8, "n_partitions": 1}
    model = voting(SVC(), rho=0.5, shared_key=KEY, **cut).fit(X, Y)
    save(model, folder / "honest.replearn")
    manifest, models = _container.unpack((folder / "honest.replearn").read_bytes(), "the file")
    drop = ("digest", "models_sha256", "format", "version")
    manifest = {name: value for name, value in manifest.items() if name not in drop}

    def write(name, **parts):
        path = folder / f"{name}.replearn"
        path.write_bytes(_container.pack(manifest, {**models, **parts}))
        return path

    write.models = models
    return write


def archived(entries, method=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method, compresslevel=1) as archive:  # zeros, quickly
        for name, content in entries.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def entries_in(data):
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def understated(data, name, size):
    """Declare that an entry of zeros has fewer of them, in both of its headers."""
    changed = bytearray(data)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        start = archive.getinfo(name).header_offset
        central = data.index(b"PK\x01\x02", archive.start_dir)
    while data[central + 46 : central + 46 + len(name)] != name.encode():
        central = data.index(b"PK\x01\x02", central + 4)
    for at, sizes_at in ((start + 14, start + 22), (central + 16, central + 24)):
        struct.pack_into("<L", changed, at, zlib.crc32(bytes(size)))
        struct.pack_into("<L", changed, sizes_at, size)
    return bytes(changed)


def of_columns(column, **data):
    structure = {"length": 1, "column": {"kind": "dict", "columns": {"x": column}}}
    return archived({"structure.json": json.dumps(structure), **data})


def rows_of_nothing(n_rows):
    """Twenty constant columns: a few hundred bytes, whatever the number of rows."""
    rows = {"kind": "dict", "columns": {f"c{number}": NOTHING for number in range(20)}}
    lengths = {"dtype": "<i8", "shape": [1], "data": 0}
    column = {"kind": "list", "lengths": lengths, "items": rows}
    return of_columns(column, **{"0": np.array([n_rows]).tobytes()})


def node(loader, kind="builtins.list", **content):
    module, _, name = kind.rpartition(".")
    return {"__class__": name, "__module__": module, "__loader__": loader, **content}


def as_skops(models, value, **files):
    """Add an item to what skops has written."""
    entries = entries_in(models["models.skops"])
    schema = json.loads(entries["schema.json"])
    schema["content"]["x"] = value
    schema["key_types"]["content"].append(schema["key_types"]["content"][0])
    return archived({**entries, "schema.json": json.dumps(schema), **files})


def zeros_of_skops(models):
    """Zeros behind a few bytes, in a part whose types are trusted."""
    array = node("NdArrayNode", "numpy.ndarray", type="numpy", file="a.npy")
    return as_skops(models, array, **{"a.npy": bytes(20 * MEGABYTE)})


BOMBS = {
    "constant columns": ("models.packed", lambda _: rows_of_nothing(30_000_000)),
    "zeros of skops": ("models.skops", zeros_of_skops),
}
LIMITS = {"constant columns": None, "zeros of skops": 32 * MEGABYTE}
"""The default limit, but for the bomb that takes seconds to make larger than that."""
CHILD = """
import json, re, resource, sys
import skops.io, scipy.sparse
from replearn import load

def peak():  # ru_maxrss would count the parent
    with open("/proc/self/status") as file:
        return int(re.search(r"VmHWM:\\s*(\\d+) kB", file.read())[1]) * 1024

key, limits, *paths = sys.argv[1:]
start = peak()
with open("/proc/self/statm") as file:
    taken = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 2 * 2**30,) * 2)
for path, max_bytes in zip(paths, json.loads(limits), strict=True):
    try:
        load(path, key, max_bytes=max_bytes, trusted_types=["sklearn.svm._classes.SVC"])
        message = "loaded"
    except ValueError as error:
        message = str(error)
    print(json.dumps([message, peak() - start]))
"""


def load_in_child(paths, limits):
    """Load in a process with limits of its own: messages, and how much memory all so far took."""
    command = [sys.executable, "-P", "-c", CHILD, KEY, json.dumps(limits), *map(str, paths)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_files_that_would_exhaust_memory_are_refused_before_they_do(signed):
    paths = [signed(name, **{part: make(signed.models)}) for name, (part, make) in BOMBS.items()]
    outcomes = dict(zip(BOMBS, load_in_child(paths, list(LIMITS.values())), strict=True))
    assert len(outcomes) == len(BOMBS)
    for message, n_bytes in outcomes.values():
        assert "max_bytes=" in message or "does not have the size it declares" in message
        assert n_bytes < 100 * MEGABYTE, outcomes


def test_what_is_counted_covers_what_is_taken(signed):
    """As many rows as the limit allows: the memory that they take stays below it."""
    limit = 64 * MEGABYTE
    n_rows = limit // (24 * OBJECT_BYTES)
    path = signed("inside", **{"models.packed": rows_of_nothing(n_rows // 2)})
    [(message, n_bytes)] = load_in_child([path], [limit])
    assert "max_bytes" not in message
    assert limit / 10 < n_bytes < limit
    with pytest.raises(ModelFileError, match="max_bytes="):
        unpack_values(rows_of_nothing(n_rows + 1), Budget("m", 0, limit))


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA], ids=["bz2", "lzma"])
@pytest.mark.parametrize("part", ["models.packed", "models.skops"])
def test_only_stored_and_deflated_entries_are_read(signed, part, method):
    first, *others = entries_in(signed.models[part]).items()
    buffer = io.BytesIO(archived(dict(others)))
    with zipfile.ZipFile(buffer, "a", method) as archive:
        archive.writestr(*first)
    content = buffer.getvalue()
    with pytest.raises(ModelFileError, match="must be stored or deflated"):
        load(signed("method", **{part: content}), KEY, trusted_types=SVC_TYPES)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_an_entry_is_as_long_as_it_declares(method):
    column = {"kind": "float", "array": {"dtype": "<f8", "shape": [1], "data": 0}}
    content = of_columns(column, **{"0": bytes(8)})
    assert unpack_values(content) == [{"x": 0.0}]
    entries = {**entries_in(content), "0": bytes(10 * MEGABYTE)}
    with pytest.raises((ModelFileError, zipfile.BadZipFile), match=r"declares|CRC|Overlapped"):
        unpack_values(understated(archived(entries, method), "0", 8))


def test_the_limit_is_for_both_parts_together_and_can_be_raised(signed):
    [state] = unpack_values(signed.models["models.packed"])
    packed = pack_values([{**state, "x_": np.zeros(2**20)}])
    path = signed("both", **{"models.packed": packed})
    budgets = [Budget("m", 0), Budget("m", 0)]
    unpack_values(packed, budgets[0])
    _skops.read(signed.models["models.skops"], SVC_TYPES, budgets[1])
    used = sum(budget.used for budget in budgets)
    with pytest.raises(ModelFileError, match=rf"max_bytes={used - 1}\b.*load\(path, max_bytes="):
        load(path, KEY, trusted_types=SVC_TYPES, max_bytes=used - 1)
    again = load(path, KEY, trusted_types=SVC_TYPES, max_bytes=used)
    assert again.x_.shape == (2**20,)


@pytest.mark.parametrize("length", [-1, 2**70, True, 1.0, "1", None])
def test_lengths_that_are_none_are_refused(length):
    structure = {"length": length, "column": NOTHING}
    with pytest.raises(ModelFileError, match=r"size|memory|length"):
        unpack_values(archived({"structure.json": json.dumps(structure)}))
