"""Run the corpus and the determinism tests as other CPUs would.

``python tools/kernels.py [--list] [NAME ...]``. OpenBLAS and numpy choose their code by the CPU.
Each set-up below makes them choose otherwise, in a process of its own that first checks that the
choice is really in force. A set-up that this CPU cannot run is skipped, and the skip is printed.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TESTS = ("tests/corpus", "tests/randomness/test_vectors.py")
NUMPY_TARGETS = "X86_V3 X86_V4 AVX512_ICL AVX512_SPR"


@dataclass(frozen=True)
class SetUp:
    """One choice of code: environment, what it requires of the CPU, and how it shows."""

    name: str
    environment: dict[str, str]
    requires: tuple[str, ...] = ()
    kernels: frozenset[str] = frozenset()
    disabled: tuple[str, ...] = field(default=())

    def missing(self) -> list[str]:
        """Return the CPU features that this set-up requires and the CPU lacks."""
        if platform.machine().lower() not in {"x86_64", "amd64"}:
            return ["x86-64"]
        features = cpu_features()
        return [name for name in self.requires if not features.get(name, False)]

    def check(self) -> None:
        """Raise unless this process runs with what the set-up asks for."""
        if self.kernels:
            found = kernels_in_force()
            if not found:
                raise SystemExit("this numpy and scipy do not use OpenBLAS")
            if not found <= self.kernels:
                raise SystemExit(f"OpenBLAS runs the kernels {sorted(found)}, not {self.name}")
        enabled = [name for name in self.disabled if cpu_features().get(name, False)]
        if enabled:
            raise SystemExit(f"numpy still dispatches to {enabled}")


def openblas(name: str, *requires: str, shown_as: tuple[str, ...] = ()) -> SetUp:
    """Return a set-up in which OpenBLAS runs the kernels of another CPU."""
    environment = {"OPENBLAS_CORETYPE": name}
    return SetUp(name, environment, requires, frozenset({name, *shown_as}))


SET_UPS = {
    set_up.name: set_up
    for set_up in (
        openblas("Haswell", "AVX2", "FMA3"),
        # builds without kernels for Zen run those of Haswell
        openblas("Zen", "AVX2", "FMA3", shown_as=("Haswell",)),
        openblas("SkylakeX", "AVX512F", "AVX512BW"),
        openblas("Sandybridge", "AVX"),
        # the oldest kernels of a build carry the name of the first CPU that shares them
        openblas("Prescott", shown_as=("Katmai", "Core2", "Banias")),
        SetUp(
            "numpy without AVX",
            {"NPY_DISABLE_CPU_FEATURES": NUMPY_TARGETS},
            requires=("AVX2",),
            disabled=tuple(NUMPY_TARGETS.split()),
        ),
    )
}


def cpu_features() -> dict[str, bool]:
    """Return the CPU features that numpy found and may dispatch to."""
    from numpy._core._multiarray_umath import __cpu_features__

    return dict(__cpu_features__)


def kernels_in_force() -> set[str]:
    """Return the names of the kernels of every loaded OpenBLAS."""
    import scipy.linalg  # noqa: F401  # loads scipy's own OpenBLAS
    import threadpoolctl

    libraries = threadpoolctl.threadpool_info()
    return {one["architecture"] for one in libraries if one["internal_api"] == "openblas"}


def run_here(name: str, workers: int) -> int:
    """Check that the set-up is in force and run the tests in this process."""
    import pytest

    SET_UPS[name].check()
    os.chdir(ROOT)
    return int(pytest.main(["-q", "-n", str(workers), "--dist", "worksteal", *TESTS]))


def main() -> int:
    """Run every set-up, or those named, and return how many failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="set-ups to run (default: all)")
    parser.add_argument("--list", action="store_true", help="print the set-ups and stop")
    parser.add_argument("--workers", type=int, default=2, help="test processes")
    parser.add_argument("--here", metavar="NAME", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.here:
        return run_here(args.here, args.workers)
    unknown = [name for name in args.names if name not in SET_UPS]
    if unknown:
        parser.error(f"{unknown} must be among {list(SET_UPS)}")
    if args.list:
        print("\n".join(SET_UPS))
        return 0
    failed = [name for name in args.names or SET_UPS if not passes(SET_UPS[name], args.workers)]
    print(f"failed: {', '.join(failed)}" if failed else "every set-up that this CPU has passed")
    return len(failed)


def passes(set_up: SetUp, workers: int) -> bool:
    """Run the tests in a process with the set-up's environment, or say why they are skipped."""
    missing = set_up.missing()
    if missing:
        print(f"== {set_up.name}: SKIPPED, this CPU lacks {', '.join(missing)}", flush=True)
        return True
    print(f"== {set_up.name}: {set_up.environment}", flush=True)
    command = [sys.executable, __file__, "--here", set_up.name, "--workers", str(workers)]
    return subprocess.run(command, env=os.environ | set_up.environment).returncode == 0


if __name__ == "__main__":
    sys.exit(main())
