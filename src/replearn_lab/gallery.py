"""The gallery: stored results of every experiment, drawn and read again from their numbers.

``python -m replearn_lab.gallery`` rewrites the figures in docs/lab/results from the data files
there, and the page docs/lab/gallery.md. To replace a result, run its command with
``--out docs/lab/results`` first.
"""

from __future__ import annotations

import sys
from pathlib import Path

from replearn.records import read_object, write_atomically
from replearn_lab.experiment import Result
from replearn_lab.experiments import all_experiments

RESULTS = Path("docs/lab/results")
_HEAD = """# Gallery of the lab

Every experiment of the [lab](README.md): its figure, what it says, the statements of the paper that
it runs, and the command that made it. The texts are written by the experiments from their own
numbers, which are stored beside the figures in `docs/lab/results/`. The page is made by
`python -m replearn_lab.gallery`.
"""


def stored_results(folder: Path) -> list[Result]:
    """Return the stored result of every experiment that has one, in the order of the list."""
    found = []
    for name, experiment in all_experiments().items():
        path = folder / f"{name}.json"
        if path.exists():
            stored = read_object(path.read_text(encoding="utf-8"), f"the result {name}")
            words = stored["command"].split(" --key ")
            key = words[1] if len(words) > 1 else 0
            found.append(Result(experiment, stored["size"], stored["data"], key))
    return found


def page(results: list[Result]) -> str:
    """Return the page docs/lab/gallery.md."""
    parts = [_HEAD]
    for result in results:
        one = result.experiment
        labels = ", ".join(f"`{label}`" for label in one.labels)
        parts.append(
            f"## {one.name}\n\n{one.summary[0].upper()}{one.summary[1:]}.\n\n"
            f"![{one.summary}](results/{one.name}.png)\n\n{result.text}\n\n"
            f"In the paper: {labels}. Data: [{one.name}.json](results/{one.name}.json), made by "
            f"`{result.command}`.\n"
        )
    return "\n".join(parts)


def main(folder: Path = RESULTS) -> None:
    """Draw and read all stored results again, and write the page beside their folder."""
    results = stored_results(folder)
    for result in results:
        result.write(folder, page=False)
    write_atomically(folder.parent / "gallery.md", page(results))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else RESULTS)
