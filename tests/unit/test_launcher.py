"""The `run` launcher, driven against stub commands in a folder of its own, whose name holds a space."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
REAL_TOOLS = (
    "cat",
    "cksum",
    "cp",
    "flock",
    "grep",
    "ln",
    "mkdir",
    "mv",
    "readlink",
    "rm",
    "sed",
    "sh",
    "sleep",
    "tail",
    "touch",
)
NOBODY = 65534

PACKAGES = """\
# comment

python3-venv     python:ensurepip  run   # makes .venv
user-mode-linux  {uml}             run   # a kernel
resolver-base    stub-resolver     run   # resolves
witness          stub-witness      test  # watches
"""

# Stands for the system's Python, for .venv/bin/python (a link to it) and for pip.
PYTHON = """\
#!/bin/sh
case "$1 $2" in
"-c "*version_info*) [ ! -e "$STATE/python-is-old" ] && echo "$0" ;;
"-c import ensurepip") [ ! -e "$STATE/no-ensurepip" ] ;;
"-m venv") echo venv >>"$STATE/log"; mkdir -p "$3/bin"; ln -s "$0" "$3/bin/python" ;;
"-m pip")
    shift 2
    echo "pip $* index=${PIP_INDEX_URL-}" >>"$STATE/log"
    while [ -e "$STATE/pip-hangs" ]; do touch "$STATE/pip-is-hanging"; sleep 0.02; done
    if [ -e "$STATE/pip-fails" ]; then
        echo "WARNING: Retrying after connection broken"
        echo "  ERROR: No matching distribution found for click"
        exit 1
    fi
    cp "$STUBS/lvslab" "$STUBS/ruff" "$STUBS/mypy" "$STUBS/lint-imports" "$STUBS/pytest" "${0%/*}"
    ;;
esac
"""


class Checkout:
    """A copy of the launcher with stubs for all that it calls; `state` holds switches and the stubs' log."""

    def __init__(self, base: Path) -> None:
        self.root = base / "my checkout"
        self.state = base / "state"
        self.stubs = base / "stubs"
        for folder in (self.root, self.state, self.stubs):
            folder.mkdir()
        self.uml = self.state / "linux.uml"
        self.python = base / "system-python"
        for tool in REAL_TOOLS:
            found = shutil.which(tool)
            assert found, tool
            (self.stubs / tool).symlink_to(found)
        self.executable(self.python, PYTHON)
        self.stub("id", 'echo "${STUB_UID-1000}"')
        self.stub("modprobe", '[ -e "$STATE/kernel-has-ipvs" ]')
        for needed in ("stub-resolver", "stub-witness"):
            self.stub(needed)
        self.stub("lvslab", 'printf "[%s]" "$$" "$@"; exit 7')
        for tool in ("ruff", "mypy", "lint-imports", "pytest"):
            self.stub(tool, f'echo "{tool} $* CI=${{CI-}}"; [ ! -e "$STATE/{tool}-fails" ]')
        self.uml.touch()
        launcher = (PROJECT / "run").read_text()
        assert launcher.count("SYSTEM_PYTHON=/usr/bin/python3 ") == 1
        self.executable(
            self.root / "run", launcher.replace("SYSTEM_PYTHON=/usr/bin/python3 ", f"SYSTEM_PYTHON={self.python} ")
        )
        (self.root / "pyproject.toml").write_text("[project]\n")
        (self.root / "constraints.txt").write_text("click==8.5.1\n")
        (self.root / "debian-packages.txt").write_text(PACKAGES.format(uml=self.uml))

    @staticmethod
    def executable(path: Path, text: str) -> None:
        path.write_text(text)
        path.chmod(0o755)

    def stub(self, name: str, body: str = ":") -> None:
        self.executable(self.stubs / name, f"#!/bin/sh\n{body}\n")

    def apt(self, *, installs: bool = True, failures: int = 0, lists: bool = True) -> None:
        """Add apt-get: it fails to install so many times, then succeeds; `lists` says whether update was ever run."""
        for number in range(failures):
            self.switch(f"apt-fails-{number}")
        self.stub("apt-cache", "true" if lists else "false")
        everything = f"""touch "{self.uml}"
rm -f "$STATE/no-ensurepip"
cp "$STUBS/id" "$STUBS/stub-resolver"
cp "$STUBS/id" "$STUBS/stub-witness\""""
        self.stub(
            "apt-get",
            f"""echo "apt-get $* $DEBIAN_FRONTEND" >>"$STATE/log"
case " $* " in *" update "*) exit ;; esac
for fail in "$STATE"/apt-fails-*; do [ -e "$fail" ] && {{ rm "$fail"; exit 100; }}; done
{everything if installs else ":"}""",
        )

    def lack(self, *names: str) -> None:
        for name in names:
            (self.stubs / name).unlink()

    def switch(self, name: str) -> Path:
        path = self.state / name
        path.touch()
        return path

    def wait_for_pip(self, process: subprocess.Popen[str]) -> None:
        while not (self.state / "pip-is-hanging").exists():
            assert process.poll() is None
            time.sleep(0.01)

    def log(self) -> list[str]:
        path = self.state / "log"
        lines = path.read_text().splitlines() if path.exists() else []
        path.unlink(missing_ok=True)
        return lines

    def environment(self, **more: str) -> dict[str, str]:
        return {"PATH": str(self.stubs), "STATE": str(self.state), "STUBS": str(self.stubs), **more}

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [str(self.root / "run"), *words],
            env=self.environment(**environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            # Whoever started pytest in the background left SIGINT ignored, which children inherit.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509
        )

    def run(self, *words: str, **environment: str) -> Outcome:
        return Outcome(self.start(*words, **environment))


class Outcome:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.pid = process.pid
        self.out, self.err = process.communicate()
        self.status = process.returncode


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path)


def set_up(checkout: Checkout, *words: str) -> None:
    """Do the first run, so that what follows is a later one."""
    checkout.run(*words)
    assert checkout.log()


APT_INSTALL = "apt-get -qq -o Dpkg::Use-Pty=0 install --no-install-recommends"
APT_UPDATE = "apt-get -qq -o Dpkg::Use-Pty=0 update noninteractive"
PIP = "pip install -q -c constraints.txt -e . index="
PIP_TEST = "pip install -q -c constraints.txt -e .[test] index="


def test_the_first_run_sets_up_and_becomes_lvslab(checkout: Checkout) -> None:
    first = checkout.run("verify", "a b", "*", "")
    assert (first.status, first.out) == (7, f"[{first.pid}][verify][a b][*][]")
    assert first.err == f"run: installing Python packages into {checkout.root}/.venv\n"
    assert checkout.log() == ["venv", PIP]


def test_later_runs_say_and_do_nothing_more(checkout: Checkout) -> None:
    set_up(checkout)
    later = checkout.run("walk", "dr")
    assert (later.status, later.out, later.err) == (7, f"[{later.pid}][walk][dr]", "")
    assert checkout.log() == []


def test_signals_reach_lvslab_itself(checkout: Checkout) -> None:
    checkout.stub("lvslab", "echo ready; while :; do sleep 0.02; done")
    process = checkout.start()
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    process.terminate()
    process.communicate()
    assert process.returncode == -signal.SIGTERM


def test_it_works_by_any_name_and_from_anywhere(checkout: Checkout, tmp_path: Path) -> None:
    set_up(checkout)
    (tmp_path / "link").symlink_to("my checkout/run")
    (tmp_path / "folder-link").symlink_to("my checkout")
    (checkout.stubs / "linked").symlink_to(checkout.root / "run")
    for folder, command in (
        (checkout.root, ["./run"]),
        (checkout.root, ["sh", "run"]),
        (tmp_path, ["my checkout/run"]),
        (tmp_path, ["./link"]),
        (tmp_path, ["folder-link/run"]),
        (Path("/"), ["linked"]),
    ):
        done = subprocess.run(
            command, cwd=folder, env=checkout.environment(CDPATH="/"), capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (7, ""), command
    assert checkout.log() == []


def test_pip_gets_the_users_own_settings(checkout: Checkout) -> None:
    checkout.run(PIP_INDEX_URL="https://mirror.example/simple")
    assert checkout.log() == ["venv", f"{PIP}https://mirror.example/simple"]


@pytest.mark.parametrize("user", ["1000", "0"], ids=["not-root", "root-without-apt"])
def test_what_it_may_not_install_it_names_and_stops(checkout: Checkout, user: str) -> None:
    checkout.lack("stub-resolver")
    checkout.switch("no-ensurepip")
    if user != "0":
        checkout.apt()
    outcome = checkout.run(STUB_UID=user)
    assert (outcome.status, outcome.out) == (3, "")
    assert outcome.err.splitlines() == [
        "run: this machine lacks:",
        "run:   python3-venv (python:ensurepip)  makes .venv",
        "run:   resolver-base (stub-resolver)  resolves",
        "run: on Debian or Ubuntu:  sudo apt-get install --no-install-recommends python3-venv resolver-base",
        "run: elsewhere, install what provides the commands and paths in brackets; then run this again",
    ]
    assert checkout.log() == []


def test_root_installs_what_is_missing_and_only_that(checkout: Checkout) -> None:
    checkout.lack("stub-resolver")
    checkout.uml.unlink()
    checkout.apt()
    outcome = checkout.run(STUB_UID="0")
    assert outcome.status == 7
    assert outcome.err.splitlines()[:3] == [
        "run: installing Debian packages with apt-get:",
        "run:   user-mode-linux  a kernel",
        "run:   resolver-base  resolves",
    ]
    assert checkout.log() == [f"{APT_INSTALL} user-mode-linux resolver-base noninteractive", "venv", PIP]


@pytest.mark.parametrize(
    ("lists", "failures", "calls"),
    [(False, 0, ["update", "install"]), (True, 1, ["install", "update", "install"])],
    ids=["no-lists-yet", "old-lists"],
)
def test_package_lists_are_fetched_when_needed(
    checkout: Checkout, lists: bool, failures: int, calls: list[str]
) -> None:
    checkout.lack("stub-resolver")
    checkout.apt(lists=lists, failures=failures)
    assert checkout.run(STUB_UID="0").status == 7
    line = {"update": APT_UPDATE, "install": f"{APT_INSTALL} resolver-base noninteractive"}
    assert checkout.log() == [*(line[call] for call in calls), "venv", PIP]


@pytest.mark.parametrize(("installs", "failures"), [(True, 2), (False, 0)], ids=["apt-fails", "package-is-not-enough"])
def test_when_apt_does_not_help_it_stops(checkout: Checkout, installs: bool, failures: int) -> None:
    checkout.lack("stub-resolver")
    checkout.apt(installs=installs, failures=failures)
    outcome = checkout.run(STUB_UID="0")
    assert outcome.status == 3
    assert "sudo apt-get install --no-install-recommends resolver-base" in outcome.err
    assert "venv" not in checkout.log()


@pytest.mark.parametrize(("user", "status"), [("0", 7), ("1000", 3)], ids=["root", "not-root"])
def test_user_mode_linux_is_not_needed_by_root_on_a_kernel_with_ipvs(
    checkout: Checkout, user: str, status: int
) -> None:
    checkout.uml.unlink()
    checkout.switch("kernel-has-ipvs")
    assert checkout.run(STUB_UID=user).status == status


def test_only_the_tests_need_the_tests_packages(checkout: Checkout) -> None:
    checkout.lack("stub-witness")
    assert checkout.run("verify").status == 7
    outcome = checkout.run("test")
    assert outcome.status == 3
    assert "sudo apt-get install --no-install-recommends witness" in outcome.err


def test_the_python_in_path_is_used_when_the_systems_is_too_old(checkout: Checkout) -> None:
    checkout.python.rename(checkout.stubs / "python3")
    checkout.executable(checkout.python, "#!/bin/sh\nexit 1\n")
    assert checkout.run().status == 7
    assert (checkout.root / ".venv/bin/python").readlink() == checkout.stubs / "python3"


def test_without_a_new_enough_python_it_stops(checkout: Checkout) -> None:
    checkout.switch("python-is-old")
    outcome = checkout.run()
    assert outcome.status == 3
    assert "python3-venv" in outcome.err


def test_a_failing_pip_gives_one_clear_line_and_is_tried_again(checkout: Checkout) -> None:
    fault = checkout.switch("pip-fails")
    outcome = checkout.run()
    assert (outcome.status, outcome.out) == (3, "")
    assert outcome.err.splitlines()[1:] == [
        "run: pip could not install the Python packages: No matching distribution found for click; check the network "
        f"or proxy and run this again (pip's output: {checkout.root}/.venv/pip.log)"
    ]
    fault.unlink()
    assert checkout.run().status == 7
    assert checkout.log() == ["venv", PIP, "venv", PIP]


@pytest.mark.parametrize("words", [("verify",), ("test",)])
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill-9"])
def test_a_set_up_cut_short_is_repaired_by_the_next_run(
    checkout: Checkout, sent: signal.Signals, words: tuple[str, ...]
) -> None:
    set_up(checkout)
    (checkout.root / "constraints.txt").write_text("click==8.6.0\n")
    hang = checkout.switch("pip-hangs")
    process = checkout.start(*words)
    checkout.wait_for_pip(process)
    os.killpg(process.pid, sent)
    process.communicate()
    assert process.returncode == -sent
    hang.unlink()
    checkout.log()
    assert checkout.run("verify").status == 7
    assert checkout.log() == ["venv", PIP]


def test_two_first_runs_at_once_make_one_venv(checkout: Checkout) -> None:
    hang = checkout.switch("pip-hangs")
    first = checkout.start("first")
    checkout.wait_for_pip(first)
    second = checkout.start("second")
    assert second.stderr
    assert second.stderr.readline() == "run: waiting for another ./run to finish setting up\n"
    hang.unlink()
    outcomes = [Outcome(process) for process in (first, second)]
    assert [outcome.status for outcome in outcomes] == [7, 7]
    assert outcomes[1].out == f"[{outcomes[1].pid}][second]"
    assert checkout.log() == ["venv", PIP]


@pytest.mark.parametrize("name", ["pyproject.toml", "constraints.txt", "debian-packages.txt"])
def test_a_change_of_what_is_needed_is_followed_in_the_same_venv(checkout: Checkout, name: str) -> None:
    set_up(checkout)
    with (checkout.root / name).open("a") as file:
        file.write("# changed\n")
    assert checkout.run().status == 7
    assert checkout.log() == [PIP]


def test_tests_add_to_the_venv_and_include_the_rest(checkout: Checkout) -> None:
    set_up(checkout)
    checkout.run("test")
    checkout.run("verify")
    checkout.run("test")
    assert checkout.log() == [PIP_TEST]


def test_a_moved_checkout_gets_a_new_venv(checkout: Checkout) -> None:
    set_up(checkout)
    checkout.root = checkout.root.rename(checkout.root.with_name("moved"))
    assert checkout.run().status == 7
    assert checkout.log() == ["venv", PIP]


def test_a_venv_whose_python_has_gone_is_made_afresh(checkout: Checkout) -> None:
    set_up(checkout)
    link = checkout.root / ".venv/bin/python"
    link.unlink()
    link.symlink_to("/gone/python3.11")
    assert checkout.run().status == 7
    assert checkout.log() == ["venv", PIP]


@pytest.fixture
def open_base() -> Iterator[Path]:
    """A folder that other users can enter, as pytest's own are not."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def test_a_checkout_of_somebody_else_is_run_but_not_set_up(open_base: Path) -> None:
    checkout = Checkout(open_base)
    checkout.root.chmod(0o555)
    command = [str(checkout.root / "run"), "verify"]

    def as_another() -> subprocess.CompletedProcess[str]:
        user = NOBODY if os.getuid() == 0 else None
        return subprocess.run(
            command, user=user, env=checkout.environment(), capture_output=True, text=True, check=False
        )

    refused = as_another()
    assert refused.returncode == 3
    assert refused.stderr == (
        f"run: {checkout.root} is not yours to write: run this once as its owner, or clone your own copy\n"
    )
    checkout.root.chmod(0o755)
    set_up(checkout)
    checkout.root.chmod(0o555)
    assert (as_another().returncode, as_another().stderr) == (7, "")


CHECKS = [
    "ruff check .",
    "ruff format --check .",
    "mypy ",
    "lint-imports ",
    "pytest -n auto --dist loadfile -k some thing",
]


@pytest.mark.parametrize("failing", [None, "ruff", "mypy", "lint-imports", "pytest"])
def test_all_checks_run_in_order_and_any_failure_fails(checkout: Checkout, failing: str | None) -> None:
    set_up(checkout, "test")
    if failing:
        checkout.switch(f"{failing}-fails")
    outcome = checkout.run("test", "-k", "some thing")
    assert outcome.out.splitlines() == [f"{check} CI=" for check in CHECKS]
    assert outcome.status == (1 if failing else 0)


def test_what_failed_before_pytest_is_named(checkout: Checkout) -> None:
    set_up(checkout, "test")
    checkout.switch("ruff-fails")
    checkout.switch("lint-imports-fails")
    outcome = checkout.run("test")
    assert outcome.err == "run: failed before pytest: [ruff check .] [ruff format --check .] [lint-imports]\n"


def test_ci_runs_the_tests_of_its_own_checkout_and_says_that_it_is_ci(checkout: Checkout) -> None:
    (checkout.root / ".ci").mkdir()
    shutil.copy(PROJECT / ".ci" / "run", checkout.root / ".ci" / "run")
    set_up(checkout, "test")
    done = subprocess.run(
        ["bash", str(checkout.root / ".ci/run")],
        cwd="/",
        env=checkout.environment(PATH=f"{checkout.stubs}:{os.environ['PATH']}"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "pytest -n auto --dist loadfile CI=true")


@pytest.mark.parametrize("script", ["run", ".ci/run"])
def test_shellcheck_has_nothing_to_say(script: str) -> None:
    done = subprocess.run(["shellcheck", str(PROJECT / script)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")
