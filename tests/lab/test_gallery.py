"""The gallery shows every experiment, and says what the stored numbers say."""

import re
from pathlib import Path

from replearn_lab import all_experiments
from replearn_lab.gallery import main, page, stored_results

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "docs" / "lab" / "results"


def test_every_experiment_has_a_stored_result():
    assert [result.experiment.name for result in stored_results(RESULTS)] == list(all_experiments())
    for name in all_experiments():
        assert (RESULTS / f"{name}.png").stat().st_size < 60_000
        assert (RESULTS / f"{name}.json").stat().st_size < 60_000


def test_the_page_reads_the_stored_numbers():
    written = (ROOT / "docs" / "lab" / "gallery.md").read_text("utf-8")
    assert written == page(stored_results(RESULTS)), "run python -m replearn_lab.gallery"


def test_results_are_drawn_again_from_their_numbers(tmp_path):
    folder = tmp_path / "results"
    all_experiments()["one-coin"].run("tiny", key="k").write(folder, page=False)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    main(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert "--key k" in (tmp_path / "gallery.md").read_text("utf-8")


def test_code_on_the_page_of_the_lab_runs(capsys):
    text = (ROOT / "docs" / "lab" / "README.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.S)
    assert len(blocks) >= 3
    for block in blocks:
        exec(block, {})
    assert "[True, True, True, True]" in capsys.readouterr().out
