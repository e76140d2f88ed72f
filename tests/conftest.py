"""Tests marked ``kernel`` must really have run where that is required: in CI, or with ``--require-kernel``."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator

import pytest

MARKED = "needs_kernel"


class KernelGate:
    """Fails the session when no kernel test passed, or when any was skipped."""

    def __init__(self) -> None:
        self._passed = 0
        self._skipped: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if not getattr(report, MARKED, False):
            return
        if report.skipped:
            self._skipped.append(report.nodeid)
        elif report.when == "call" and report.passed:
            self._passed += 1

    def complaint(self) -> str | None:
        if self._skipped:
            return f"{len(self._skipped)} kernel tests were skipped, the first is {self._skipped[0]}"
        if not self._passed:
            return "no kernel test passed"
        return None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> Iterator[None]:
        # Before the terminal reporter's own wrapper, which prints the summary.
        if self.complaint() and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED
        return (yield)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if complaint := self.complaint():
            terminalreporter.write_line(f"kernel tests are required (CI, --require-kernel): {complaint}", red=True)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say in the report whether the test is marked: it may have run in another process (pytest-xdist)."""
    report = yield
    # Not report.keywords: those hold folder names too, and tests/kernel/ is one.
    setattr(report, MARKED, item.get_closest_marker("kernel") is not None)
    return report


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--require-kernel", action="store_true", help="fail unless the kernel tests ran; implied by CI")


def pytest_configure(config: pytest.Config) -> None:
    is_worker = hasattr(config, "workerinput")
    if not is_worker and (config.getoption("--require-kernel") or os.environ.get("CI")):
        config.pluginmanager.register(KernelGate(), "kernel-gate")
