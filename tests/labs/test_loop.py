"""The student's loop and the instructor's, as both have them: the command line, on a real kernel."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from lvslab.kernels.attach import find_lab
from lvslab.labs.context import NodeWords
from lvslab.labs.loading import load_lab
from lvslab.labs.model import GuidedLab
from lvslab.labs.scaffold import new_lab
from lvslab.labs.variants import student_token
from tests.kernel.support import lvslab

pytestmark = pytest.mark.kernel
SECRET = "the secret of this course"
NETWORK = "lab-13-mine"


@dataclass(frozen=True)
class Student:
    """Someone at the command line, with a lab and progress of their own."""

    folder: Path
    state: Path
    guided: GuidedLab
    token: str

    def type(self, *words: str) -> subprocess.CompletedProcess[str]:
        return lvslab("lab", *words, environment={"XDG_STATE_HOME": str(self.state), "LANG": "C"})

    def start(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self.type("start", str(self.folder), "--student", "alice", "--token", self.token, *words)

    def on(self, node: str, command: str) -> None:
        done = lvslab("exec", "--lab", NETWORK, node, "--", "bash", "-c", command)
        assert done.returncode == 0, done.stderr

    def build_service(self) -> None:
        vip, port = self.guided.context["vip"], self.guided.context["port"]
        commands = [f"ipvsadm -A -t {vip}:{port} -s rr"]
        commands += [f"ipvsadm -a -t {vip}:{port} -r {self.node(name).ip} -m" for name in ("rs1", "rs2")]
        self.on("director", "; ".join(commands))

    def node(self, name: str) -> NodeWords:
        node = self.guided.context[name]
        assert isinstance(node, NodeWords)
        return node

    def status(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self.type("status", "--json", "-").stdout)
        return facts

    def play_to_the_end(self) -> None:
        assert self.start().returncode == 0
        assert self.type("predict", "5").returncode == 0
        assert self.type("next").returncode == 0
        self.build_service()
        assert self.type("check").returncode == 0
        assert self.type("next").returncode == 0
        assert self.type("answer", self.node("client").ip).returncode == 0


@pytest.fixture
def student(tmp_path: Path, kernel_kind: str) -> Iterator[Student]:
    folder = tmp_path / "labs" / "13-mine"
    new_lab(folder)
    token = student_token(SECRET.encode(), "alice")
    alice = Student(folder, tmp_path / "state", load_lab(folder, token), token)
    yield alice
    alice.type("stop")


def test_a_lab_from_start_to_submission(student: Student, tmp_path: Path) -> None:
    begun = student.start()
    assert begun.returncode == 0, begun.stderr
    assert student.node("rs1").ip in begun.stdout, "the text has the student's own addresses"

    assert student.type("check").returncode == 1, "a prediction that was not made"
    skipped = student.type("next")
    assert skipped.returncode == 2, "nothing is skipped"
    assert "lvslab lab predict" in skipped.stderr
    assert student.type("walk").returncode == 2, "the walk would show the answer"
    assert student.type("walk", "--anyway").returncode == 0
    assert student.type("predict", "many").returncode == 2
    assert student.type("predict", "5").returncode == 0
    assert student.type("predict", "4").returncode == 2, "a prediction stands"
    assert "The virtual service" in student.type("next").stdout

    capture = tmp_path / "check.pcapng"
    failed = student.type("check")
    assert failed.returncode == 1
    assert "its table is empty" in failed.stdout
    assert student.type("check", "--pcap", str(capture)).returncode == 2, "nothing was captured yet"
    assert student.type("solution").returncode == 2, "not before it is passed"
    assert "1/3" in student.type("hint").stdout
    assert "2/3" in student.type("hint").stdout

    student.build_service()
    passed = student.type("check", "--pcap", str(capture))
    assert passed.returncode == 0, passed.stdout
    assert lvslab("walk", "--from", str(capture)).returncode == 0
    assert student.type("walk", "--from", "client").stdout.startswith("CIP")
    seen = " ".join(passed.stdout.split())
    assert "predicted 5 observed 4" in seen, "the difference is shown"
    assert "ipvsadm -A" in student.type("solution").stdout

    assert student.type("next").returncode == 0
    wrong = student.type("answer", student.node("director").ips[1])
    assert wrong.returncode == 1
    assert student.node("client").ip not in wrong.stdout, "what is right is not told"
    named = student.type("answer", "client")
    assert named.returncode == 1
    assert "write the address" in named.stdout
    done = student.type("answer", student.node("client").ip)
    assert done.returncode == 0
    assert "What the student has seen" in done.stdout, "the closing lines"

    facts = student.status()
    assert (facts["points"], facts["of"]) == (3, 3)
    assert facts["steps"]["service"]["attempts"] == 2
    assert facts["steps"]["service"]["hints"] == 2

    submission = tmp_path / "alice.lvslab.json"
    assert student.type("submit", "-o", str(submission)).returncode == 0
    assert "ipvsadm -A" in submission.read_text()
    assert student.type("stop").returncode == 0
    assert lvslab("ps").stdout.count(NETWORK) == 0


def test_a_start_that_is_killed_leaves_nothing_half_made(student: Student) -> None:
    """What a killed start has left up is not taken for the lab's network."""
    stray = lvslab("up", str(student.folder / "topology.yaml"), "--name", NETWORK)
    assert stray.returncode == 0, stray.stderr
    before = find_lab(NETWORK).folder
    remembered = student.state / "lvslab" / "labs" / "13-mine" / "network"
    remembered.parent.mkdir(parents=True)
    remembered.write_text(f"{before}\n")
    assert student.start().returncode == 0
    assert find_lab(NETWORK).folder != before
    assert student.type("predict", "4").returncode == 0


def test_a_network_of_the_user_s_own_is_left_alone(student: Student) -> None:
    own = lvslab("up", "nat", "--name", NETWORK)
    assert own.returncode == 0, own.stderr
    try:
        for words in (["start", str(student.folder)], ["stop", "--lab", str(student.folder)]):
            refused = student.type(*words)
            assert refused.returncode == 2
            assert f"lvslab down {NETWORK}" in refused.stderr
        assert find_lab(NETWORK).topology == "nat"
    finally:
        lvslab("down", NETWORK)


def test_what_fails_on_the_way_to_a_new_beginning_loses_nothing(student: Student) -> None:
    assert student.start().returncode == 0
    assert student.type("predict", "5").returncode == 0
    assert student.type("next").returncode == 0
    before = student.status()
    assert student.start("--again", "--kernel", "uml:9").returncode == 2
    assert student.type("reset", "--all", "--kernel", "uml:9").returncode == 2
    assert student.status() == before, "the network is up, too"
    assert student.start("--again").returncode == 0
    assert student.status()["position"] == "calls-of-rs1"


def test_a_lab_that_needs_what_is_not_there_says_so(student: Student) -> None:
    path = student.folder / "lab.yaml"
    path.write_text(path.read_text().replace("programs: [ipvsadm]", "programs: [ipvsadm, no-such-program]"))
    begun = student.start()
    assert begun.returncode == 3
    assert "no no-such-program" in begun.stderr
    assert NETWORK not in lvslab("ps").stdout


def test_text_and_findings_come_in_chinese(student: Student) -> None:
    assert student.start().returncode == 0
    assert "开始之前" in student.type("read", "--lang", "zh").stdout
    student.type("predict", "4")
    student.type("next")
    checked = student.type("check", "--lang", "zh")
    assert checked.returncode == 1
    assert "表是空的" in checked.stdout


def test_the_language_of_the_start_is_kept(student: Student) -> None:
    assert student.start("--lang", "zh").returncode == 0
    assert "开始之前" in student.type("read").stdout
    assert "分" in student.type("status").stdout
    assert "steps" in student.type("status", "--lang", "en").stdout


def test_what_was_predicted_is_shown_to_who_gives_up(student: Student) -> None:
    assert student.start().returncode == 0
    student.type("predict", "5")
    student.type("next")
    given_up = student.type("solution", "--give-up")
    assert given_up.returncode == 0, given_up.stderr
    assert "predicted 5 observed 4" in " ".join(given_up.stdout.split())
    assert "observed 4" in " ".join(student.type("status").stdout.split())
    assert "1 given up" in student.type("status").stdout


def test_a_killed_network_is_no_fault_of_the_student_s(student: Student) -> None:
    assert student.start().returncode == 0
    student.type("predict", "4")
    student.type("next")
    student.build_service()
    assert student.type("check").returncode == 0
    student.type("next")

    record = find_lab(NETWORK)
    killed = [
        int(process.name)
        for process in Path("/proc").glob("[0-9]*")
        if f"LVSLAB_LAB={record.folder}".encode() in _environment(process)
    ]
    assert killed
    for process in killed:
        with suppress(ProcessLookupError):  # the death of one ends others
            os.kill(process, signal.SIGKILL)

    answered = student.type("answer", student.node("client").ip)
    assert answered.returncode == 3
    assert "lvslab lab start" in answered.stderr
    assert student.status()["steps"]["source-at-server"]["attempts"] == 0

    assert student.start().returncode == 0, "what was done is done again"
    assert student.type("answer", student.node("client").ip).returncode == 0


def _environment(process: Path) -> bytes:
    try:
        return (process / "environ").read_bytes()
    except OSError:
        return b""


def test_reset_builds_the_network_as_it_should_be_here(student: Student) -> None:
    assert student.start().returncode == 0
    student.type("predict", "4")
    student.type("next")
    student.build_service()
    assert student.type("check").returncode == 0
    student.type("next")
    student.on("director", "ipvsadm -C; sysctl -w net.ipv4.ip_forward=0")
    early = student.type("answer", student.node("client").ip)
    assert (early.returncode, "first do what this step asks for" in early.stdout) == (1, True)
    assert student.type("reset").returncode == 0
    assert student.type("answer", student.node("client").ip).returncode == 0
    assert student.type("reset", "--all").returncode == 0
    assert student.status()["position"] == "calls-of-rs1"


def grade(student: Student, *words: str) -> tuple[subprocess.CompletedProcess[str], list[dict[str, Any]]]:
    """Grade as the instructor, whose labs are where the student's came from."""
    labs = student.folder.parent
    done = lvslab("lab", "grade", *words, "--labs", str(labs), "--json", "-", environment={"COLUMNS": "200"})
    start = done.stdout.find("[")
    return done, json.loads(done.stdout[start:]) if start >= 0 else []


def test_grading_believes_only_what_the_network_shows(student: Student, tmp_path: Path) -> None:
    student.play_to_the_end()
    box = tmp_path / "box"
    box.mkdir()
    honest = box / "alice.lvslab.json"
    assert student.type("submit", "-o", str(honest)).returncode == 0
    secret = tmp_path / "secret"
    secret.write_text(SECRET)

    content = json.loads(honest.read_text())
    forged: dict[str, Sequence[tuple[Sequence[str], Any]]] = {
        "empty-hands": [(("steps",), {})],
        "half": [(("steps", "service"), {"director": "ipvsadm -C"})],
        "wrong-answer": [(("progress", "steps", "source-at-server", "answer"), student.node("rs1").ip)],
        "another": [(("progress", "student"), "mallory")],
        "no-such-node": [(("steps", "service"), {"host": "true"})],
        "bad-command": [(("steps", "service"), {"director": "cp -f /bin/false /usr/sbin/ipvsadm"})],
        "lab-without-name": [(("progress", "lab"), 5)],
    }
    (box / "a-torn-file.lvslab.json").write_text(honest.read_text()[:-99])
    for name, changes in forged.items():
        copy = json.loads(json.dumps(content))
        for path, value in changes:
            place = copy
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
        (box / f"{name}.lvslab.json").write_text(json.dumps(copy))

    table, tests = tmp_path / "grades.csv", tmp_path / "grades.xml"
    done, grades = grade(student, str(box), "--secret", str(secret), "--csv", str(table), "--junit", str(tests))
    assert done.returncode == 0, done.stderr
    points = {Path(each["source"]).name.partition(".")[0]: (each["points"], bool(each["refused"])) for each in grades}
    assert points == {
        "alice": (3, False),
        "empty-hands": (0, False),
        "half": (1, False),
        "wrong-answer": (2, False),
        "another": (0, True),
        "no-such-node": (1, False),
        "bad-command": (1, False),
        "lab-without-name": (0, True),
        "a-torn-file": (0, True),
    }
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    assert sum(int(row["points"]) for row in rows) == sum(each["points"] for each in grades)
    assert len(ElementTree.parse(tests).getroot().findall("testsuite")) == len(grades)
    assert grade(student, str(box), "--secret", str(secret))[1] == grades, "the same again"


@pytest.mark.parametrize("text", ["", "[]", '{"format": "lvslab-submission", "version": 2}', "\x00"])
def test_what_is_no_submission_is_refused(student: Student, tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.lvslab.json"
    path.write_text(text)
    done, _ = grade(student, str(path))
    assert done.returncode == 2
    assert "not a submission" in done.stderr


def test_submissions_never_run_on_this_machine_s_kernel(student: Student, tmp_path: Path) -> None:
    done, _ = grade(student, str(tmp_path), "--kernel", "native")
    assert done.returncode == 2
