"""Every experiment runs, writes its files, and reads what it measured."""

import json
import re
from pathlib import Path

import pytest

from replearn_lab import all_experiments, find_experiment
from replearn_lab.experiment import SIZES
from replearn_lab.learning import TableLearner, keyed

EXPERIMENTS = all_experiments()
# Those that take most of a second even at their smallest run in the long suite.
SLOW = {
    "coin-gap",
    "two-coins",
    "learner-to-coins",
    "pointwise-to-coin",
    "realizable-to-coin",
    "conjunctions",
    "domain-size",
    "impossible",
    "promise",
    "scaling",
}
RUN = [
    pytest.param(name, marks=pytest.mark.statistical if name in SLOW else ())
    for name in EXPERIMENTS
]


@pytest.mark.parametrize("name", RUN)
def test_runs_and_writes(name, tmp_path):
    result = EXPERIMENTS[name].run("tiny", key="test")
    written = {path.suffix: path for path in result.write(tmp_path)}
    assert set(written) == {".json", ".png"}
    stored = json.loads(written[".json"].read_text())
    assert stored["data"] == result.numbers
    assert stored["reading"] == result.text
    assert written[".png"].read_bytes().startswith(b"\x89PNG")
    assert len(result.text) > 150
    assert not re.search(r"\bnan\b|\binf\b", result.text)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_is_described(name):
    experiment = EXPERIMENTS[name]
    assert experiment.name == name
    assert set(experiment.sizes) == set(SIZES)
    assert all(re.fullmatch(r"[a-z]+:[\w-]+", label) for label in experiment.labels)
    assert experiment.summary[0].islower()
    assert len(experiment.summary) < 100


def test_the_same_key_gives_the_same_files(tmp_path):
    experiment = find_experiment("one-coin")
    for folder in ("a", "b"):
        experiment.run("tiny", key=3).write(tmp_path / folder)
    for file in (tmp_path / "a").iterdir():
        assert file.read_bytes() == (tmp_path / "b" / file.name).read_bytes()


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="'coins'; there are: coin-limit"):
        find_experiment("coins")
    with pytest.raises(ValueError, match="size"):
        find_experiment("coin-gap").run("huge")


def test_a_learner_of_your_own_takes_the_place_of_ours():
    learner = keyed(TableLearner())
    found = find_experiment("approximate-to-coin").run("tiny", key=1, learner=learner)
    usual = find_experiment("approximate-to-coin").run("tiny", key=1)
    assert found.numbers != usual.numbers
    assert {e.name for e in EXPERIMENTS.values() if e.takes_learner} == {
        "learner-to-coins",
        "pointwise-to-coin",
        "realizable-to-coin",
        "approximate-to-coin",
    }
    with pytest.raises(ValueError, match="'one-coin' does not support learner="):
        find_experiment("one-coin").run("tiny", learner=learner)


def test_code_on_the_page_of_the_lab_runs(capsys):
    text = (Path(__file__).parents[2] / "docs" / "lab" / "README.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    assert len(blocks) >= 3
    for block in blocks:
        exec(block, {})
    assert "[True, True, True, True]" in capsys.readouterr().out
