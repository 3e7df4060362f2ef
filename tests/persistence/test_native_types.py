"""Models in the formats of other packages: nothing is imported or built unless it is trusted."""

import io
import json
import sys
import zipfile

import pytest

from replearn.exceptions import ModelFileError
from replearn.persistence._budget import Budget
from replearn.persistence._native_types import NATIVE_TYPES
from replearn.persistence._packing import native_types, unpack_values


def archive(column):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as written:
        written.writestr("structure.json", json.dumps({"length": 1, "column": column}))
    return buffer.getvalue()


@pytest.mark.parametrize("name", NATIVE_TYPES)
@pytest.mark.parametrize("nested", [False, True])
def test_a_type_that_is_not_trusted_is_not_imported(name, nested, monkeypatch):
    monkeypatch.setitem(sys.modules, name.split(".")[0], None)  # an import would fail
    column = {"kind": "object", "type": name, "columns": {}}
    if nested:
        column = {"kind": "dict", "columns": {"estimator": column}}
    content = archive(column)
    assert native_types(content, Budget("m", 0)) == {name}
    with pytest.raises(ModelFileError, match=f"must be trusted by name.*trusted_types=.*{name}"):
        unpack_values(content)
    others = [other for other in NATIVE_TYPES if other != name]
    with pytest.raises(ModelFileError, match=f"trusted_types=.*{name}"):
        unpack_values(content, trusted_types=others)
    with pytest.raises(ImportError):  # trusted: now it is looked for
        unpack_values(content, trusted_types=[name])


def test_only_listed_types_can_be_trusted():
    content = archive({"kind": "object", "type": "os.system", "columns": {}})
    assert native_types(content, Budget("m", 0)) == set()
    with pytest.raises(ModelFileError, match="not a known part of a model"):
        unpack_values(content, trusted_types=["os.system"])
