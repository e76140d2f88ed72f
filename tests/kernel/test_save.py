"""`lvslab save` prints what brings a table back, order and thresholds included; ipvsadm-save does not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.kernel.running_support import World, this_user

pytestmark = pytest.mark.kernel

SERVICE = "203.0.113.100:80"
CHANGES = (
    f"ipvsadm -d -t {SERVICE} -r 198.18.0.11:8080",
    f"ipvsadm -a -t {SERVICE} -r 198.18.0.11:8080 -m -w 3 -x 20 -y 10",
    "ipvsadm -A -f 7 -6 -s mh -b mh-port -p 60 -M 64",
    "ipvsadm -a -f 7 -6 -r [2001:db8::11]:0 -i --tun-type gue --tun-port 6080 --tun-csum",
)
RESTORE = 'printf "%s\\n" "$1" | ipvsadm-restore && ipvsadm -Ln --nosort && ipvsadm -Ln --thresholds --nosort'


@pytest.fixture(scope="module")
def world(kernel_kind: str) -> Iterator[World]:
    world = this_user(kernel_kind)
    done = world.run("up", "nat", "--name", "saved", "--kernel", kernel_kind)
    assert done.returncode == 0, done.stderr
    try:
        for change in CHANGES:
            assert world.run("exec", "director", "--", "sh", "-c", change).returncode == 0
        yield world
    finally:
        world.run("down", "saved")


def shell(world: World, command: str, *arguments: str) -> str:
    done = world.run("exec", "director", "--", "sh", "-c", command, "sh", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def listing(world: World) -> str:
    return shell(world, "ipvsadm -Ln --nosort && ipvsadm -Ln --thresholds --nosort")


def test_what_is_saved_brings_the_table_back(world: World) -> None:
    saved = world.run("save")
    before = listing(world)
    assert "-x 20 -y 10" in saved.stdout
    assert shell(world, RESTORE, saved.stdout) == before
    assert world.run("save", "director").stdout == saved.stdout


def test_ipvsadm_save_loses_what_we_say_it_loses(world: World) -> None:
    said = world.run("save").stderr
    assert "ipvsadm-save would lose: service TCP 203.0.113.100:80: thresholds of 198.18.0.11:8080: -x 20 -y 10" in said
    assert "order of adding, 198.18.0.12:8080, 198.18.0.11:8080, becomes 198.18.0.11:8080, 198.18.0.12:8080" in said
    before, kept = listing(world), world.run("save").stdout
    assert shell(world, RESTORE, shell(world, "ipvsadm-save -n")) != before
    assert shell(world, RESTORE, kept) == before


def test_a_node_that_is_no_director_is_refused(world: World) -> None:
    done = world.run("save", "rs1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "which director?: expected one of director, found rs1" in done.stderr
