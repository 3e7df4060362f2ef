"""Processor seconds of every test file, children included.

Run as: python tools/test_cpu.py [--tests] [arguments of pytest]
"""

import os
import sys
from collections import Counter
from pathlib import Path

import pytest


def _cpu_seconds():
    return sum(os.times()[:4])


class CpuPerFile:
    """Adds to every report the seconds since the last one, and prints sums."""

    def __init__(self):
        self._before = _cpu_seconds()
        self._seconds = Counter()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self):
        """Add the seconds since the last report: of a setup, a call or a teardown."""
        report = yield
        now = _cpu_seconds()
        report.cpu_seconds = now - self._before
        self._before = now
        return report

    def pytest_collection_finish(self):
        """Leave out what collecting took."""
        self._before = _cpu_seconds()

    def pytest_runtest_logreport(self, report):
        """Sum what the workers of xdist report."""
        whole_name = "REPLEARN_CPU_PER_TEST" in os.environ
        name = report.nodeid if whole_name else report.nodeid.split("::")[0]
        self._seconds[name] += report.cpu_seconds

    def pytest_terminal_summary(self, terminalreporter):
        """Print the sums, the largest first."""
        terminalreporter.section("processor seconds")
        for name, seconds in self._seconds.most_common():
            if seconds >= 0.05:
                terminalreporter.write_line(f"{seconds:8.2f} {name}")
        total = sum(self._seconds.values())
        terminalreporter.write_line(f"{total:8.2f} in all, without collection")


def pytest_configure(config):
    """Register in the process that prints and in every worker of xdist."""
    config.pluginmanager.register(CpuPerFile())


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if "--tests" in arguments:
        arguments.remove("--tests")
        os.environ["REPLEARN_CPU_PER_TEST"] = "1"
    folder = str(Path(__file__).parent)
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])
    sys.path[:0] = [os.getcwd(), folder]
    sys.exit(pytest.main(["-p", "test_cpu", *arguments]))
