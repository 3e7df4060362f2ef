"""The list of mutations fits the source: every edit applies and makes sense, every test exists."""

import ast
import subprocess
import sys

import pytest

from tools.mutation_edits import AnchorError, body, change, condition, edited, positional
from tools.mutation_list import MUTATIONS
from tools.mutations import ROOT

SOURCE = ROOT / "src"


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_mutations_fit_the_source(mutation):
    path, text = mutation.apply(SOURCE)
    compile(text, path, "exec")
    assert ast.dump(ast.parse(text)) != ast.dump(ast.parse((SOURCE / path).read_text("utf-8")))
    for test in mutation.tests:
        test_path, _, name = test.partition("::")
        assert (ROOT / test_path).is_file()
        assert f"def {name.partition('[')[0]}" in (ROOT / test_path).read_text("utf-8")


def test_mutations_use_defined_names_only(tmp_path):
    # A module with an undefined name fails every test: such a mutation would prove nothing.
    for number, mutation in enumerate(MUTATIONS):
        (tmp_path / f"m{number}.py").write_text(mutation.apply(SOURCE)[1], encoding="utf-8")
    (tmp_path / "control.py").write_text("print(undefined)\n")
    command = ["ruff", "check", "--isolated", "--target-version=py311", "--select=F821"]
    checked = subprocess.run(
        [sys.executable, "-m", *command, "--output-format=concise", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = [line for line in checked.stdout.splitlines() if "F821" in line]
    assert len(found) == 1, checked.stdout + checked.stderr
    assert "control.py" in found[0]


def test_there_are_enough_and_none_twice():
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS) >= 104


MODULE = '''"""A module."""

WIDTH = 2.0 / 3.0


class Rule:
    def thresholds(self, key, points):  # größer
        """Return thresholds."""
        if self.law is None:
            return None
        if key.public and self.law.width > 1.0:
            raise ValueError(f"width: {self.law.width > 1.0}")
        lower = self.law.width * (2.0 * key.uniforms(points) - 1.0)
        return lower + key.child("vote", 1).uniforms(points, bits=53)

    def fit(self, X, y, *, groups=None):
        return self
'''
# The same with other local names, other lines and quotes, in another module of the package.
REFORMATTED = MODULE.replace("points", "rows").replace("key", "shared").replace('"vote"', "'vote'")
REFORMATTED = REFORMATTED.replace("(rows, bits=53)", "(\n            rows,  # all\n bits=53)")
EDITS = {
    "expression": (change("W * (2.0 * U - 1.0)", "W * U"), "lower = (self.law.width * "),
    "capture in parentheses": (change("W * (2.0 * U - 1.0)", "U * W / 2"), " / 2)\n"),
    "label": (change('K.child("vote", N)', "K"), "return lower + "),
    "any arguments": (change("K.uniforms(P, ...)", "0 * MATCH", nth=2), "return lower + (0 * "),
    "condition": (condition("K.public and ...", "False"), "        if False:\n"),
    "body": (body('return "yes"'), 'thresholds."""\n        return "yes"\n\n    def fit'),
}


@pytest.fixture
def package(tmp_path):
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "__init__.py").write_text("")
    (tmp_path / "house" / "rules.py").write_text(MODULE, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", EDITS)
def test_edits_survive_moves_new_local_names_and_new_lines(package, name):
    edit, expected = EDITS[name]
    _, text = edited(package, "house.Rule.thresholds", edit)
    (package / "house" / "rules.py").unlink()
    (package / "house" / "moved.py").write_text(REFORMATTED, encoding="utf-8")
    path, moved = edited(package, "house.Rule.thresholds", edit)
    assert path == "house/moved.py"
    assert expected in text
    assert expected in moved
    renamed = text.replace("points", "rows").replace("key", "shared")
    assert ast.dump(ast.parse(renamed)) == ast.dump(ast.parse(moved))


def test_everything_else_stays_as_it_is(package):
    _, text = edited(package, "house.rules.WIDTH", change("2.0 / N", "1.0 / N"))
    assert text == MODULE.replace("2.0 / 3.0", "(1.0 / 3.0)")
    _, text = edited(package, "house.Rule.fit", positional("groups"))
    assert text == MODULE.replace("y, *, groups", "y, groups")


@pytest.mark.parametrize(
    ("where", "edit", "message"),
    [
        ("house.Rule.predict", body("pass"), "not defined"),
        ("house.thresholds", body("pass"), "There is: Rule.thresholds"),
        ("hut.Rule", body("pass"), "hut.Rule is not defined"),
        ("house.Rule", change("A.law", "A"), "`A.law` matches 3 times, not once .lines: 9, 11, 13"),
        ("house.Rule", change("A + 1", "A"), "matches 0 times"),
        ("house.Rule.fit", change("self", "B"), "B of `B` is not in the pattern"),
        ("house.Rule", condition("A", "False"), "matches 2 times"),
        ("house.Rule.fit", positional("y"), "'y' is not the first keyword-only"),
        ("house.Rule", body("pass"), "only a function"),
        ("house.Rule.fit", change("self", "0", nth=2), "matches 1 times, but nth=2"),
    ],
)
def test_an_anchor_that_is_lost_says_what_is_missing(package, where, edit, message):
    with pytest.raises(AnchorError, match=message):
        edited(package, where, edit)


def test_a_definition_in_two_modules_needs_its_module(package):
    (package / "house" / "copy.py").write_text(MODULE, encoding="utf-8")
    with pytest.raises(AnchorError, match=r"defined 2 times: .*copy.py, .*rules.py"):
        edited(package, "house.Rule.fit", body("pass"))
    assert edited(package, "house.copy.Rule.fit", body("pass"))[0] == "house/copy.py"
