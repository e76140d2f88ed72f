"""The gate in tests/conftest.py: where kernel tests are required, a session without them fails."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest_plugins = ("pytester",)

CONFTEST = Path(__file__).parents[1] / "conftest.py"
MARKED = "import pytest\npytestmark = pytest.mark.kernel\n"
PASSES = MARKED + "def test_boot(): pass\n"
SKIPS = MARKED + "def test_other(): pytest.skip('no kernel')\n"
FAILS = MARKED + "def test_boot(): assert False\n"
QUICKLY = ("-p", "no:hypothesispytest")  # whose import takes most of a session this small
UNMARKED = "def test_plain(): pass\n"


@pytest.fixture
def suite(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.delenv("CI", raising=False)
    pytester.makeconftest(CONFTEST.read_text())
    pytester.makeini("[pytest]\nmarkers = kernel: needs a kernel\n")
    return pytester


@pytest.mark.parametrize(
    ("modules", "status", "complaint"),
    [
        ({"test_k": PASSES, "test_u": UNMARKED}, 0, None),
        ({"test_u": UNMARKED}, 1, "*no kernel test passed*"),
        ({"kernel/test_u": UNMARKED}, 1, "*no kernel test passed*"),
        ({"test_k": SKIPS, "test_u": UNMARKED}, 1, "*1 kernel tests were skipped*test_other*"),
        ({"test_k": PASSES, "test_s": SKIPS}, 1, "*1 kernel tests were skipped*test_other*"),
        ({"test_k": FAILS}, 1, "*no kernel test passed*"),
        ({}, 1, "*no kernel test passed*"),
    ],
    ids=["passed", "none", "in-a-folder-of-that-name", "all-skipped", "one-skipped", "failed", "nothing-collected"],
)
def test_required_kernel_tests_must_run(
    suite: pytest.Pytester, modules: dict[str, str], status: int, complaint: str | None
) -> None:
    for name, text in modules.items():
        path = suite.path / f"{name}.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    result = suite.runpytest_inprocess(*QUICKLY, "--require-kernel")
    assert result.ret == status
    if complaint:
        result.stdout.fnmatch_lines([complaint])
    else:
        result.stdout.no_fnmatch_line("*kernel tests are required*")


@pytest.mark.parametrize(("text", "status"), [(PASSES, 0), (SKIPS, 1)])
def test_tests_in_other_processes_count_too(suite: pytest.Pytester, text: str, status: int) -> None:
    suite.makepyfile(test_k=text, test_u=UNMARKED)
    assert suite.runpytest_subprocess(*QUICKLY, "--require-kernel", "-n", "2").ret == status


def test_ci_in_the_environment_requires_them(suite: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    suite.makepyfile(SKIPS)
    monkeypatch.setenv("CI", "true")
    assert suite.runpytest_inprocess(*QUICKLY).ret == 1


def test_elsewhere_a_skip_is_only_a_skip(suite: pytest.Pytester) -> None:
    suite.makepyfile(SKIPS)
    assert suite.runpytest_inprocess(*QUICKLY).ret == 0


def test_the_status_of_an_interrupted_session_is_kept(suite: pytest.Pytester) -> None:
    suite.makepyfile("def test_stop(): raise KeyboardInterrupt\n")
    assert suite.runpytest_subprocess(*QUICKLY, "--require-kernel").ret == pytest.ExitCode.INTERRUPTED
