"""What a student's commands do to what is kept: nothing is lost by what fails, and two at once undo nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from lvslab import running
from lvslab.errors import BadInput, CannotRun
from lvslab.kernels.attach import LabRecord
from lvslab.lab import Lab
from lvslab.labs import session as loop
from lvslab.labs.loading import load_lab
from lvslab.labs.model import StepKind
from lvslab.labs.progress import (
    FILE,
    STEPS,
    Progress,
    read_progress,
    remember_network,
    state_home,
    write_progress,
)
from lvslab.labs.session import (
    Session,
    advance,
    begin,
    commit_answer,
    end,
    hint,
    network_is_up,
    open_session,
    reset,
    worked_through,
)
from lvslab.labs.shipped import find_lab_folder, shipped_labs
from lvslab.labs.snapshot import START, read_steps, remember_step

LAB = "13-mine"
OWN = "/run/own"


@dataclass(frozen=True)
class Networks:
    """The labs that are up, as far as the loop is told, and those that it has ended."""

    up: list[LabRecord] = field(default_factory=list)
    stopped: list[str] = field(default_factory=list)


@pytest.fixture
def networks(monkeypatch: pytest.MonkeyPatch) -> Networks:
    """A network of the lab's name is up; programs and a kernel are there."""
    record = LabRecord(f"lab-{LAB}", OWN, "uml", "6.1", "mine", "", "", (), (), 1.0)
    networks = Networks([record])
    monkeypatch.setattr(loop, "labs", lambda: tuple(networks.up))
    monkeypatch.setattr(loop, "stop", lambda record: networks.stopped.append(record.folder))
    monkeypatch.setattr(loop, "require_programs", lambda guided: None)
    monkeypatch.setattr(loop, "require_schedulers", lambda guided, kernel, release: None)
    return networks


@pytest.fixture
def begun(folder: Path) -> Path:
    """The folder of a lab in which a step has passed."""
    progress = Progress(LAB, str(folder), "alice", "5f", 1.0, "service", OWN)
    write_progress(progress.with_step("calls-of-rs1", answer="4", passed_at=2.0).with_step("service", attempts=2))
    step = state_home() / LAB / STEPS / "service.json"
    step.parent.mkdir()
    step.write_text('{"director": "ipvsadm -C\\n"}')
    return folder


def everything_kept() -> dict[str, str]:
    home = state_home() / LAB
    return {str(path.relative_to(home)): path.read_text() for path in home.rglob("*.json")}


def interrupted(*_arguments: object, **_options: object) -> LabRecord:
    raise KeyboardInterrupt


ANEW: dict[str, Callable[[Path, str | None], Session]] = {
    "start --again": lambda folder, kernel: begin(str(folder), again=True, kernel=kernel),
    "reset --all": lambda _folder, kernel: reset(open_session(), everything=True, kernel=kernel),
    "reset": lambda _folder, kernel: reset(open_session(), everything=False, kernel=kernel),
}


@pytest.mark.parametrize("command", ANEW)
@pytest.mark.parametrize("kernel", ["uml:9", "xen", ""])
def test_a_kernel_that_is_none_is_refused_before_anything_is_touched(
    begun: Path, networks: Networks, command: str, kernel: str
) -> None:
    before = everything_kept()
    with pytest.raises((BadInput, CannotRun)):
        ANEW[command](begun, kernel)
    assert everything_kept() == before
    assert networks.stopped == []


def test_a_kernel_that_is_none_is_refused_where_none_is_needed(begun: Path, networks: Networks) -> None:
    with pytest.raises(BadInput, match="unknown kernel"):
        begin(str(begun), kernel="xen")


@pytest.mark.parametrize("command", ANEW)
def test_progress_outlives_a_boot_that_is_interrupted(
    begun: Path, networks: Networks, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(loop, "choose_kernel", lambda asked: "uml")
    monkeypatch.setattr(running, "up", interrupted)
    before = everything_kept()
    with pytest.raises(KeyboardInterrupt):
        ANEW[command](begun, None)
    assert everything_kept() == before
    assert networks.stopped == [OWN], "the old network had to go first"


@pytest.mark.parametrize("command", ["start --again", "reset --all"])
def test_what_was_kept_is_set_aside_together(
    begun: Path, networks: Networks, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(loop, "_brought_up", lambda session, **_options: session)
    before = everything_kept()
    fresh = ANEW[command](begun, None).progress
    assert (fresh.position, dict(fresh.steps)) == ("calls-of-rs1", {})
    assert read_steps(load_lab(begun)) == {}
    (aside,) = (state_home() / LAB).glob("set-aside-*")
    shutil.copytree(aside, state_home() / LAB, dirs_exist_ok=True)
    assert {name: text for name, text in everything_kept().items() if not name.startswith("set-aside")} == before


def test_a_damaged_file_is_set_aside_too(begun: Path, monkeypatch: pytest.MonkeyPatch, networks: Networks) -> None:
    monkeypatch.setattr(loop, "_brought_up", lambda session, **_options: session)
    (state_home() / LAB / FILE).write_text("{")
    begin(str(begun), again=True)
    assert open_session().here.id == "calls-of-rs1"
    assert [path.read_text() for path in state_home().glob(f"{LAB}/set-aside-*/{FILE}")] == ["{"]


def test_another_s_network_is_left_alone(begun: Path, networks: Networks) -> None:
    networks.up[:] = [replace(networks.up[0], folder="/run/another")]
    remember_network(LAB, "/run/older")
    kernel = "uml" if shutil.which("linux.uml") else None
    for act in (end, lambda: begin(str(begun), kernel=kernel)):
        with pytest.raises((BadInput, CannotRun)):
            act()
    assert networks.stopped == []
    with pytest.raises(BadInput, match=f"left alone.*lvslab down lab-{LAB}"):
        end()


def test_another_s_network_is_not_taken_for_the_lab_s(begun: Path, networks: Networks) -> None:
    assert network_is_up(open_session())
    networks.up[:] = [replace(networks.up[0], folder="/run/another")]
    assert not network_is_up(open_session())


def test_a_network_that_a_start_cut_short_left_is_the_lab_s_own(begun: Path, networks: Networks) -> None:
    networks.up[:] = [replace(networks.up[0], folder="/run/cut-short")]
    remember_network(LAB, "/run/cut-short")
    assert end() == (f"lab-{LAB}", True)


def test_the_network_can_be_stopped_without_readable_progress(begun: Path, networks: Networks) -> None:
    remember_network(LAB, OWN)
    (state_home() / LAB / FILE).write_text("{")
    assert end() == (f"lab-{LAB}", True)
    assert networks.stopped == [OWN]


def test_a_prediction_is_made_once_however_many_try_at_once(folder: Path) -> None:
    write_progress(Progress(LAB, str(folder), position="calls-of-rs1"))
    one, other = open_session(), open_session()
    commit_answer(one, "4", StepKind.PREDICTION)
    with pytest.raises(BadInput, match="stands once it is made"):
        commit_answer(other, "5", StepKind.PREDICTION)
    assert open_session().progress.answers == {"calls-of-rs1": "4"}


def test_two_hints_at_once_are_two(begun: Path) -> None:
    one, other = open_session(), open_session()
    assert [hint(one)[1], hint(other)[1]] == [1, 2]


def test_what_was_found_out_for_a_lab_begun_anew_meanwhile_is_not_kept(begun: Path) -> None:
    before = open_session()
    write_progress(Progress(LAB, str(begun), "alice", "5f", 3.0))
    with pytest.raises(BadInput, match="begun anew meanwhile"):
        hint(before)


@pytest.mark.parametrize(
    ("position", "verb"), [("calls-of-rs1", "predict …"), ("service", "check"), ("source-at-server", "answer …")]
)
def test_who_goes_on_too_early_is_told_what_to_do(folder: Path, position: str, verb: str) -> None:
    write_progress(Progress(LAB, str(folder), position=position))
    with pytest.raises(BadInput, match=f"lvslab lab {verb}"):
        advance(open_session())


@pytest.mark.parametrize("position", ["", "a-step-of-old"])
def test_a_step_that_is_no_more_gives_way_to_the_first_undone(begun: Path, position: str) -> None:
    kept = read_progress(LAB)
    assert kept is not None
    write_progress(replace(kept, position=position))
    assert open_session().here.id == "service"


def test_a_lab_that_comes_with_lvslab_is_found_where_it_is_now(tmp_path: Path) -> None:
    shipped = shipped_labs()[0]
    write_progress(Progress(shipped.name, str(tmp_path / "old-clone" / "labs" / shipped.name), begun_at=1.0))
    assert open_session().guided.folder == shipped
    hint(open_session("1"))


def test_a_lab_of_one_s_own_that_was_moved_goes_on_from_where_it_is(
    begun: Path, tmp_path: Path, networks: Networks
) -> None:
    moved = tmp_path / "elsewhere" / LAB
    moved.parent.mkdir()
    begun.rename(moved)
    with pytest.raises(BadInput, match=f"not there any more; lvslab lab start FOLDER/{LAB}.*kept"):
        open_session()
    assert begin(str(moved)).progress.folder == str(moved)
    assert open_session().here.id == "service"


def test_a_copy_of_a_lab_is_refused_with_a_way_on(begun: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy" / LAB
    shutil.copytree(begun, copy)
    with pytest.raises(BadInput, match=f"lvslab lab start {begun} goes on with that; .* --again .*sets aside"):
        begin(str(copy))


@pytest.mark.parametrize("name", ["\udcff", "a\nb", "a\x1b[1m", "n" * 201])
def test_a_name_that_cannot_be_printed_is_refused_first(folder: Path, name: str) -> None:
    with pytest.raises(BadInput, match=r"this is no student's id: expected one line"):
        begin(str(folder), student=name)
    with pytest.raises(BadInput, match=r"this is no token: expected one line"):
        begin(str(folder), token=name)


def test_a_folder_that_gives_no_network_its_name_is_refused_first(folder: Path) -> None:
    with pytest.raises(BadInput, match="no folder for a lab"):
        begin(str(folder.rename(folder.with_name("my lab"))))


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"director": 5}', "[" * 100_000])
def test_a_damaged_step_is_said_to_be_one(begun: Path, content: str) -> None:
    (state_home() / LAB / STEPS / "service.json").write_text(content)
    with pytest.raises(BadInput, match=r"steps/service.json: what was kept of this step cannot be understood"):
        read_steps(load_lab(begun))


@pytest.mark.parametrize(
    "content",
    [None, "", "{}", "[]", '{"client": {}}', '{"client": null}', "[" * 100_000],
    ids=["none", "empty", "no node", "a list", "a node without facts", "no node's facts", "nested deeply"],
)
def test_a_network_whose_beginning_is_unknown_is_to_be_built_anew(begun: Path, content: str | None) -> None:
    if content is not None:
        (state_home() / LAB / START).write_text(content)
    lab = cast("Lab", SimpleNamespace(nodes={"client": None}))
    with pytest.raises(CannotRun, match=r"start.json: what this network began with is not known.*lab reset builds"):
        remember_step(load_lab(begun), "service", lab)


def test_questions_change_the_network_as_tasks_do_and_predictions_do_not() -> None:
    guided = load_lab(find_lab_folder("3"), "")
    *before, here = guided.steps[: [step.id for step in guided.steps].index("prefix") + 2]
    progress = Progress(guided.id, "", position=here.id)
    assert worked_through(guided, progress) == ()
    for step in guided.steps:
        progress = progress.with_step(step.id, passed_at=1.0)
    again = worked_through(guided, progress)
    assert again == tuple(step for step in before if step.kind is not StepKind.PREDICTION)
    assert [step.kind for step in again if step.id == "prefix"] == [StepKind.QUESTION]
