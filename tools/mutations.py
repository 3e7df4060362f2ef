"""Break each guarantee on purpose: the tests named for it must notice.

``python tools/mutations.py [--only TEXT] [--workers 2] [--list] [--write]``. Every mutation is one
edit in a copy of the source (tools/mutation_edits.py says how edits are written); its tests run
against the copy with ``-x`` and must fail. First of all the same tests must pass on the source as
it is. Each run is a fork of this process, which has imported what is slow to import, but nothing of
replearn.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tools.mutation_base import Mutation  # noqa: E402
from tools.mutation_edits import AnchorError  # noqa: E402
from tools.mutation_list import MUTATIONS  # noqa: E402

SECONDS = 600
BEGIN = "<!-- mutations -->"
END = "<!-- end of mutations -->"
FAILED = re.compile(r"^(?:FAILED|ERROR) (.*?::.+?)(?: - .*)?$", re.MULTILINE)
OPTIONS = ["-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "-p", "no:xdist"]


class Outcome(NamedTuple):
    """What the tests said about one mutation."""

    mutation: Mutation
    caught: bool
    by: str  # the test that failed, or why the mutation counts as not caught


def start(copy: Path, tests: tuple[str, ...], seconds: int = SECONDS) -> int:
    """Run tests against a copy of the source in a fork; what they say goes beside the copy."""
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    signal.alarm(seconds)
    told = os.open(copy / "told", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
    os.dup2(told, 1)
    os.dup2(told, 2)
    os.chdir(ROOT)
    sys.path.insert(0, str(copy))
    # processes that a test starts must find the same copy
    os.environ["PYTHONPATH"] = os.pathsep.join([str(copy), str(ROOT)])
    os.environ["OMP_NUM_THREADS"] = "1"
    import pytest

    import replearn

    if not str(replearn.__file__).startswith(str(copy)):
        os._exit(70)
    paths = [str(copy / test[4:]) if test.startswith("src/") else test for test in tests]
    code = pytest.main([*OPTIONS, f"--rootdir={ROOT}", "-c", str(ROOT / "pyproject.toml"), *paths])
    sys.stdout.flush()
    os._exit(int(code))


def outcome_of(mutation: Mutation, status: int, copy: Path) -> Outcome:
    """Read what the tests said."""
    told = (copy / "told").read_text(encoding="utf-8", errors="replace")
    if os.WIFSIGNALED(status):
        return Outcome(mutation, False, f"stopped by signal {os.WTERMSIG(status)}")
    if status == 0:
        return Outcome(mutation, False, "all of its tests pass")
    names = FAILED.findall(told)
    if os.WEXITSTATUS(status) != 1 or not names:
        return Outcome(mutation, False, told.strip()[-300:])
    return Outcome(mutation, True, names[0].removeprefix("::"))  # doctests have no path here


def try_all(mutations: list[Mutation], copies: list[Path]) -> Iterator[Outcome]:
    """Break one copy for each worker at a time, run the tests, mend it."""
    waiting = [(mutation, *mutation.apply(copies[0])) for mutation in mutations]
    free = list(copies)
    running: dict[int, Any] = {}
    stamp = 2_000_000_000
    while waiting or running:
        while waiting and free:
            mutation, path, text = waiting.pop(0)
            copy = free.pop()
            stamp += 2
            sound = _replace(copy / path, text, stamp)
            running[start(copy, mutation.tests)] = (mutation, copy, path, sound, stamp + 1)
        child, status = os.wait()
        mutation, copy, path, sound, later = running.pop(child)
        _replace(copy / path, sound, later)
        free.append(copy)
        yield outcome_of(mutation, status, copy)


def _replace(path: Path, text: str, stamp: int) -> str:
    """Write the module and return what it said before; compiled files are told apart by time."""
    before = path.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    os.utime(path, (stamp, stamp))
    return before


def sound_tests_pass(copy: Path, mutations: list[Mutation]) -> str:
    """Run all named tests on the source as it is; return what fails."""
    tests = tuple(dict.fromkeys(test for mutation in mutations for test in mutation.tests))
    _, status = os.waitpid(start(copy, tests, 6 * SECONDS), 0)
    return "" if status == 0 else (copy / "told").read_text(encoding="utf-8")[-3000:]


def write(outcomes: list[Outcome]) -> None:
    """Put the list of mutations into the page."""
    page = ROOT / "docs" / "trust.md"
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    lines = [f"{len(outcomes)} mutations, all caught:", "", "| broken | where | noticed by |"]
    lines += ["|---|---|---|"]
    order = {mutation.name: place for place, mutation in enumerate(MUTATIONS)}
    for outcome in sorted(outcomes, key=lambda outcome: order[outcome.mutation.name]):
        where = f"`src/{outcome.mutation.apply(ROOT / 'src')[0]}`"
        by = outcome.by.partition("[")[0]
        lines.append(f"| {outcome.mutation.name} | {where} | `{by}` |")
    after = rest.split(END)[1]
    page.write_text("\n".join([before + BEGIN, *lines, END + after]), encoding="utf-8")


def main() -> int:
    """Run all mutations; return how many were not caught."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="mutations whose name contains this text")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--list", action="store_true", help="only print the list")
    parser.add_argument("--write", action="store_true", help="write the table into docs/trust.md")
    parser.add_argument("--no-baseline", action="store_true", help="skip the run without mutations")
    args = parser.parse_args()
    chosen = [mutation for mutation in MUTATIONS if args.only in mutation.name]
    for mutation in chosen:
        try:
            path, _ = mutation.apply(ROOT / "src")  # each anchor must still be there
        except AnchorError as error:
            parser.error(str(error))
        if args.list:
            print(f"{mutation.name}: {path}, {mutation.where} -> {', '.join(mutation.tests)}")
    return 0 if args.list else run(chosen, args)


def run(chosen: list[Mutation], args: argparse.Namespace) -> int:
    """Try the chosen mutations in copies of the source."""
    for slow in ("pytest", "scipy.stats", "sklearn.ensemble", "sklearn.linear_model"):
        importlib.import_module(slow)  # once for all forks
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        copies = [Path(folder) / str(number) for number in range(args.workers)]
        for copy in copies:
            shutil.copytree(ROOT / "src", copy)
        if not args.no_baseline:
            trouble = sound_tests_pass(copies[0], chosen)
            if trouble:
                print(f"the named tests fail without any mutation:\n{trouble}")
                return 1
            print("without mutations all named tests pass", flush=True)
        for outcome in try_all(chosen, copies):
            outcomes.append(outcome)
            verdict = "caught by" if outcome.caught else "NOT CAUGHT:"
            print(f"{outcome.mutation.name}: {verdict} {outcome.by}", flush=True)
    missed = sum(not outcome.caught for outcome in outcomes)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    minutes = (used.ru_utime + used.ru_stime) / 60
    print(f"{len(chosen) - missed} of {len(chosen)} caught, {minutes:.1f} CPU minutes")
    if args.write and not missed:
        write(outcomes)
    return min(missed, 100)


if __name__ == "__main__":
    sys.exit(main())
