"""What does the command line cost: start-up, and a file of 300,000 rows x 40 mixed columns?

    python benchmarks/command_line.py [start quick audit fit predict budget] [--small]

Start-up: processor seconds of each command's help and of a short run, beside what importing
scikit-learn alone takes. The file: numbers, categories, dates, missing cells, 6 % positives; for
each command processor seconds, wall seconds and the largest resident memory, beside the target.
--small: 20,000 rows, in about a minute.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _mixed_file import write_mixed_file

FULL_ROWS, SMALL_ROWS = 300_000, 20_000
SKLEARN = "import sklearn.linear_model, sklearn.pipeline, sklearn.ensemble, sklearn.preprocessing"
REPLEARN = f"{SKLEARN}; from replearn import PointwiseReplicableClassifier"
QUICK_COMMANDS = ("--help", "key --help", "plan --help", "certify --help", "plan --n 9999")
HEAVY_COMMANDS = ("fit --help", "predict --help", "audit --help")
START_TARGET, BEYOND_TARGET = 0.7, 0.3
TARGETS = {"quick": 60.0, "audit": 600.0, "fit": 300.0, "predict": 60.0, "budget": None}
"""Processor seconds at full size; a time budget of 60 s bounds wall seconds by 90."""
BUDGET, MAX_WALL = 60, 90


def run(words: list[str]) -> tuple[float, float, float, int]:
    """Run a process; return its processor seconds, wall seconds, memory in GB and exit code."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, said = process.communicate()
    wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if process.returncode not in (0, 1):
        sys.stderr.write(said.decode()[-2000:])
    return used, wall, after.ru_maxrss / 1e6, process.returncode


def python(*words: str) -> list[str]:
    return [sys.executable, *words]


def start_up(rounds: int = 3) -> None:
    """Print what each command takes before it has anything to do; the best of some rounds."""

    def best(words: list[str]) -> float:
        return min(run(words)[0] for _ in range(rounds))

    bare, sklearn, ours = (best(python("-c", code)) for code in ("pass", SKLEARN, REPLEARN))
    print(f"{'python alone':<34} {bare:6.2f} s")
    print(f"{'scikit-learn alone':<34} {sklearn:6.2f} s")
    beyond = ours - sklearn
    print(
        f"{'replearn, a learner':<34} {ours:6.2f} s = scikit-learn + {beyond:.2f} s "
        f"(<= {BEYOND_TARGET}){_lost(beyond, BEYOND_TARGET)}"
    )
    for command in (*QUICK_COMMANDS, *HEAVY_COMMANDS):
        used = best(python("-m", "replearn", *command.split()))
        print(
            f"{'replearn ' + command:<34} {used:6.2f} s (<= {START_TARGET})"
            f"{_lost(used, START_TARGET)}",
            flush=True,
        )


def _lost(value: float, target: float) -> str:
    return "" if value <= target else "  LOST"


def at_size(names: list[str], n_rows: int, folder: Path, model: str) -> None:
    """Print what each command takes on the large file."""
    path = folder / f"mixed_{n_rows}.csv"
    if not path.exists():
        write_mixed_file(path, n_rows)
    print(f"{path.name}: {path.stat().st_size / 1e6:.0f} MB, model {model}")
    key, fitted, out = folder / "key.txt", folder / "m.replearn", folder / "out.csv"
    if not key.exists():
        run(python("-m", "replearn", "key", "new", "--out", str(key)))
    sample = [str(path), "--target", "target", "--model", model, "--jobs", "1"]
    commands = {
        "quick": ["audit", *sample, "--quick"],
        "audit": ["audit", *sample],
        "budget": ["audit", *sample, "--time-budget", str(BUDGET)],
        "fit": ["fit", *sample, "--key-file", str(key), "--out", str(fitted)],
        "predict": ["predict", str(fitted), str(path), "--key-file", str(key), "--out", str(out)],
    }
    for name in names:
        used, wall, memory, code = run(python("-m", "replearn", *commands[name]))
        target = TARGETS[name]
        judged, limit, unit = (used, target, "CPU s") if target else (wall, MAX_WALL, "s")
        print(
            f"{name:<8} {used:7.1f} CPU s {wall:7.1f} s {memory:6.2f} GB  exit {code}  "
            f"(<= {limit:g} {unit}){_lost(judged, limit)}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", nargs="*", default=["start", *TARGETS], help="; ".join(TARGETS))
    parser.add_argument("--small", action="store_true", help=f"{SMALL_ROWS} rows")
    parser.add_argument("--rows", type=int, help="other numbers of rows")
    parser.add_argument("--model", default="logreg", help="logreg, tree, forest, hgb")
    parser.add_argument("--folder", type=Path, help="where files are kept")
    options = parser.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    print("load:", os.getloadavg())
    if "start" in options.what:
        start_up()
    names = [name for name in options.what if name in TARGETS]
    n_rows = options.rows or (SMALL_ROWS if options.small else FULL_ROWS)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if names:
            at_size(names, n_rows, folder, options.model)
    print("load:", os.getloadavg())


if __name__ == "__main__":
    main()
