"""What a user meets first: few names, each with a description and an example."""

import ast
import inspect
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator

import replearn

SOURCE = Path(replearn.__file__).parent
MAX_NAMES = 20


def is_explained_by_its_name(value):
    """Errors and warnings are raised, not called."""
    return isinstance(value, type) and issubclass(value, BaseException)


CALLED = {
    name: value
    for name in replearn.__all__
    if callable(value := getattr(replearn, name)) and not is_explained_by_its_name(value)
}
LEARNERS = {
    name: kind
    for name in replearn.__all__
    if inspect.isclass(kind := getattr(replearn, name)) and issubclass(kind, BaseEstimator)
}


def test_few_names():
    assert len(replearn.__all__) <= MAX_NAMES
    assert list(replearn.__all__) == sorted(replearn.__all__)


def test_internal_packages_have_no_names_of_their_own():
    public = {"paper", "hypotheses", "outofcore", "testing", "fastpaths", "cli"}
    for path in SOURCE.glob("*/__init__.py"):
        if path.parent.name not in public:
            tree = ast.parse(path.read_text("utf-8"))
            assert [type(node) for node in tree.body] == [ast.Expr], path


def test_every_name_is_there_and_described():
    for name in set(replearn.__all__) - {"__version__"}:
        assert inspect.getdoc(getattr(replearn, name)), name


@pytest.mark.parametrize("name", CALLED)
def test_has_an_example(name):
    assert "Examples\n--------\n" in inspect.getdoc(CALLED[name])


@pytest.mark.parametrize("name", LEARNERS)
def test_groups_are_named(name):
    fit = inspect.signature(LEARNERS[name].fit).parameters
    if "groups" in fit:
        assert fit["groups"].kind is inspect.Parameter.KEYWORD_ONLY


def test_functions_do_not_shadow_packages():
    rooms = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert not rooms & set(replearn.__all__)
