"""The map of the paper is complete, and everything it names exists."""

from pathlib import Path

import pytest

from replearn_lab import all_experiments
from replearn_lab.paper_map import NOT_EXECUTABLE, page, paper_map, resolve

ROOT = Path(__file__).parents[2]
MAP = paper_map()
LABELS = (Path(__file__).parent / "paper_labels.txt").read_text("utf-8").split()


def test_every_label_has_a_line_and_no_line_is_invented():
    labels = [one.label for one in MAP]
    unlabelled = [label for label in labels if label.endswith(")")]
    assert len(unlabelled) == 4
    assert sorted(set(labels) - set(unlabelled)) == sorted(LABELS)
    assert len(set(labels)) == len(labels) > 90


@pytest.mark.parametrize("one", MAP, ids=lambda one: one.label)
def test_what_is_named_exists(one):
    for name in one.objects:
        assert resolve(name) is not None
    assert set(one.experiments) <= set(all_experiments())
    assert all((ROOT / "src" / path).exists() for path in one.files)
    assert [path for path in one.tests if not (ROOT / path).exists()] == []
    if one.tests:
        assert one.objects or one.experiments
    else:
        reason = one.reason.removeprefix(NOT_EXECUTABLE)
        assert len(reason.split(":", 1)[1].split()) >= 5, "say why"


def test_experiments_name_labels_of_the_paper():
    for name, experiment in all_experiments().items():
        assert set(experiment.labels) <= set(LABELS), name


def test_every_experiment_is_on_the_map():
    named = {name for one in MAP for name in one.experiments}
    assert set(all_experiments()) - named == set()


def test_the_page_is_the_table():
    assert (ROOT / "docs" / "paper-map.md").read_text("utf-8") == page(), (
        "run python -m replearn_lab.paper_map"
    )
