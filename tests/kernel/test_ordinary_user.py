"""A user without any privilege gets the same verdicts, and owns what is left: the files that were asked for."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from lvslab.kernels.folder import LOCK, MARK
from lvslab.kernels.images import find_image
from lvslab.lab import shipped_topologies
from tests.kernel.support import COMMAND_TIMEOUT_S

pytestmark = pytest.mark.kernel

CHECKOUT = Path(__file__).parents[2]
RUN = "from lvslab.cli.main import main; main()"


@dataclass(frozen=True)
class User:
    """Somebody ordinary, with a folder of their own and lvslab in a place they can read."""

    uid: int
    become: tuple[str, ...]
    folder: Path

    @property
    def packages(self) -> Path:
        return self.folder / "packages"

    @property
    def labs(self) -> Path:
        return self.folder / "labs"

    def lvslab(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.become, str(Path(sys.executable).resolve()), "-c", RUN, *words],
            check=False,
            capture_output=True,
            text=True,
            timeout=COMMAND_TIMEOUT_S,
            cwd=self.folder,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.folder),
                "LVSLAB_HOME": str(self.labs),
                "PYTHONPATH": str(self.packages),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
        )


@pytest.fixture
def user() -> Iterator[User]:
    """`nobody` if we are root, without capabilities or a way to get any; otherwise ourselves."""
    if find_image() is None:
        pytest.skip("an ordinary user needs User-Mode Linux, which is not installed")
    # Not pytest's folder: nobody else may enter that one. Nor the checkout: it may be below such a folder.
    with tempfile.TemporaryDirectory(prefix="lvsu-") as name:
        folder = Path(name)
        copy_packages(folder / "packages")
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            yield User(nobody.pw_uid, without_privileges(nobody), folder)
        else:
            yield User(os.getuid(), (), folder)


def test_all_four_pass_on_uml(user: User) -> None:
    done = user.lvslab("verify", "--json", "results.json", "--pcap", "capture.pcapng")
    assert done.returncode == 0, done.stdout + done.stderr
    results = json.loads((user.folder / "results.json").read_text())["results"]
    assert tuple(result["topology"] for result in results) == shipped_topologies()
    assert {result["kernel"] for result in results} == {"uml"}
    assert {item["verdict"] for result in results for item in result["expectations"]} == {"pass"}


def test_the_users_own_files_are_all_that_is_left(user: User) -> None:
    done = user.lvslab("verify", "dr", "--json", "results.json", "--pcap", "capture.pcapng")
    assert done.returncode == 0, done.stdout + done.stderr
    left = [path for path in user.folder.rglob("*") if user.packages not in (path, *path.parents)]
    assert {path.name for path in left} == {"results.json", "capture.pcapng", user.labs.name, LOCK}
    assert {path.stat().st_uid for path in left} == {user.uid}
    assert processes_of(user) == []


def without_privileges(account: pwd.struct_passwd) -> tuple[str, ...]:
    ids = (f"--reuid={account.pw_uid}", f"--regid={account.pw_gid}", "--clear-groups")
    return ("setpriv", *ids, "--inh-caps=-all", "--bounding-set=-all", "--no-new-privs", "--")


def copy_packages(target: Path) -> None:
    """Copy lvslab, its topologies and what it needs to run, as a wheel would have installed them."""
    for package in needed("lvslab"):
        for file in package.files or ():
            # What an editable installation itself put beside its metadata is copied from the checkout below.
            if file.parts[0] not in ("..", "lvslab") and file.suffix != ".pyc":
                copy = target / file
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(str(file.locate()), copy)
    caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(CHECKOUT / "lvslab", target / "lvslab", ignore=caches)
    shutil.copytree(CHECKOUT / "topologies", target / "topologies")


def needed(name: str, found: dict[str, Distribution] | None = None) -> list[Distribution]:
    """Return a distribution and all that it requires, extras left out."""
    found = {} if found is None else found
    if name not in found:
        found[name] = distribution(name)
        for text in found[name].requires or ():
            requirement = Requirement(text)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                needed(requirement.name, found)
    return list(found.values())


def processes_of(user: User) -> list[str]:
    """Return the programs that still run for a lab of the user's."""
    mark = f"{MARK}={user.labs}".encode()
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if mark in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_text())
        except OSError:
            continue
    return found
