"""Packages whose names are loaded when they are first used: what the stub lists is there."""

import ast
import importlib
from pathlib import Path

import pytest

import replearn

SOURCE = Path(replearn.__file__).parent
STUBS = sorted(SOURCE.rglob("__init__.pyi"))


def package_of(stub):
    return ".".join(stub.parent.relative_to(SOURCE.parent).parts)


@pytest.mark.parametrize("stub", STUBS, ids=package_of)
def test_every_name_of_a_stub_is_there_and_public_names_are_those_of_its_all(stub):
    package = importlib.import_module(package_of(stub))
    tree = ast.parse(stub.read_text("utf-8"))
    imported = [a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names]
    assert imported, stub
    for name in imported:
        assert hasattr(package, name)
    public = next(n.value for n in tree.body if isinstance(n, ast.Assign))
    assert list(package.__all__) == ast.literal_eval(public)
    assert set(package.__all__) <= set(imported)
    with pytest.raises(AttributeError):
        package.no_such_name  # noqa: B018
