"""Packages with one version and two codes: edited after installation, editable, vendored."""

import base64
import hashlib
import importlib
import os
import sys

import pytest

from replearn.binding.digests import bind, edited_sources

CODE = "__version__ = '1.0'\n\ndef limit():\n    return {}\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder of packages on the path; what was imported from it is forgotten afterwards."""
    place = tmp_path / "site-packages"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    before = set(sys.modules)
    yield place
    for name in set(sys.modules) - before:
        del sys.modules[name]
    edited_sources.cache_clear()
    importlib.import_module("replearn.binding.digests")._version.cache_clear()


def write(place, name, value, *, record=True):
    package = place / name
    package.mkdir()
    (package / "__init__.py").write_text(CODE.format(value))
    if record:
        content = (package / "__init__.py").read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        info = place / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "RECORD").write_text(f"{name}/__init__.py,sha256={digest},{len(content)}\n")
    return package / "__init__.py"


def version_of(name):
    edited_sources.cache_clear()
    sys.modules.pop(name, None)
    importlib.invalidate_caches()
    return bind(importlib.import_module(name).limit).versions[name]


def test_an_edited_package_has_another_version(folder):
    file = write(folder, "edited_here", 5)
    assert version_of("edited_here") == "1.0"
    file.write_text(CODE.format(50))
    first = version_of("edited_here")
    assert first.startswith("1.0+edited.")
    file.write_text(CODE.format(500))
    assert version_of("edited_here") not in ("1.0", first)
    file.unlink()
    write(folder, "edited_again", 5)
    assert version_of("edited_again") == "1.0"


def test_a_file_that_was_only_touched_is_as_installed(folder):
    file = write(folder, "touched_here", 5)
    content = file.read_bytes()
    file.write_bytes(content)
    later = file.stat().st_mtime + 1e5
    os.utime(file, (later, later))
    assert version_of("touched_here") == "1.0"


@pytest.mark.parametrize("kind", ["vendored", "editable"])
def test_sources_without_a_record_are_bound(tmp_path, monkeypatch, folder, kind):
    place = tmp_path / "checkout"
    place.mkdir()
    monkeypatch.syspath_prepend(str(place))
    name = f"{kind}_here"
    file = write(place, name, 5, record=False)
    if kind == "editable":
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (info / "RECORD").write_text(f"{name}.pth,,\n")
    first = version_of(name)
    assert first.startswith("1.0+edited.")
    assert version_of(name) == first
    file.write_text(CODE.format(7))
    assert version_of(name) != first


def test_a_distributor_that_keeps_no_hashes_is_trusted(folder):
    write(folder, "packed_elsewhere", 5, record=False)
    assert version_of("packed_elsewhere") == "1.0"


@pytest.mark.parametrize("name", ["sklearn", "numpy", "scipy", "pandas", "no_such_package"])
def test_packages_as_installed_are_not_edited(name):
    assert edited_sources(name) == ""
