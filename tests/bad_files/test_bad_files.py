"""Every bad file gives an error with its line, in words, and no traceback."""

from __future__ import annotations

from pathlib import Path

import pytest

from lvslab.errors import BadInput
from lvslab.topology import load_text, load_topology
from tests.bad_files.cases import BAD_FILES, GOOD, BadFile


def error_of(text: str) -> str:
    with pytest.raises(BadInput) as caught:
        load_text(text, "bad.yaml")
    assert caught.value.exit_status == 2
    return str(caught.value)


def test_the_file_the_bad_ones_are_made_from_is_good() -> None:
    assert load_text(GOOD, "good.yaml").name == "good"


def test_there_are_many_bad_files_with_names_of_their_own() -> None:
    names = [case.name for case in BAD_FILES]
    assert len(names) >= 120
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", BAD_FILES, ids=lambda case: case.name)
def test_a_bad_file_is_refused_at_its_line_and_in_words(case: BadFile) -> None:
    message = error_of(case.text)
    there = [line for line in message.splitlines() if line.startswith(f"bad.yaml:{case.line}: ")]
    assert any(all(word in line for word in case.words) for line in there), message


@pytest.mark.parametrize("case", BAD_FILES, ids=lambda case: case.name)
def test_line_numbers_hold_with_windows_line_ends_and_byte_order_mark(case: BadFile, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_bytes(("\ufeff" + case.text.replace("\n", "\r\n")).encode())
    with pytest.raises(BadInput) as caught:
        load_topology(path)
    assert f"{path}:{case.line}: " in str(caught.value)


def test_all_faults_of_a_file_are_reported_at_once_in_order_of_line() -> None:
    text = GOOD
    for old, new in (("port: 53", "port: 0"), ("scheduler: wrr", "scheduler: x"), ("ttl: 60", "ttl: -1")):
        text = text.replace(old, new)
    lines = error_of(text).splitlines()
    assert [line.split(": ")[1] for line in lines] == ["services[1].port", "services[1].scheduler", "dns[0].ttl"]


def test_a_fault_of_a_whole_group_is_reported_once() -> None:
    message = error_of(GOOD.replace("net.ipv4.conf.all.log_martians", "vm.swappiness"))
    assert len(message.splitlines()) == 1


WHOLE_FILES = [
    ("empty", b"", "1: the file is empty"),
    ("only-blank-lines", b"\n\n  \n", "1: the file is empty"),
    ("only-a-comment", b"# nothing\n", "wrong kind of value: expected a mapping, found nothing"),
    ("a-list", b"- name: dr\n", "1: wrong kind of value: expected a mapping, found a list"),
    ("a-word", b"dr\n", "1: wrong kind of value: expected a mapping, found 'dr'"),
    ("another-format", b"[topology]\nname = 'dr'\n", "not YAML"),
    ("binary", bytes(range(256)) * 20, "2: not UTF-8 text"),
    ("an-elf-program", b"\x7fELF\x02\x01\x01" + bytes(64), "1: not a text file: control character"),
    ("utf-16", GOOD.encode("utf-16"), "1: not UTF-8 text"),
    ("latin-1", b"name: dr\ntitle: {en: caf\xe9}\n", "2: not UTF-8 text: expected a text file, found byte 0xe9"),
    ("ten-megabytes", b"# filler\n" * 1_165_085, "the file is too large: expected at most 256 KiB"),
    ("deep-flow-lists", b"name: " + b"[" * 100_000, "1: nested too deeply"),
    ("deep-flow-mappings", b"name: " + b"{a: " * 50_000, "1: nested too deeply"),
    ("deep-block-lists", b"- " * 50_000, "1: nested too deeply"),
    ("billion-laughs", b"a: &a [lol]\nb: &b [*a, *a]\n", "1: YAML anchors and aliases"),
    (
        "flood-from-a-loop",
        b"{% for i in range(99999) %}\n# filler filler filler\n{% endfor %}\n",
        "makes too much text",
    ),
    ("only-params", b"params: {a: 1}\n", "required key is missing"),
    ("params-in-a-list", b"params: [a]\n", "1: params: wrong kind of value: expected a mapping, found a list"),
    ("params-not-at-the-margin", b'{"params": {"a": 1}}', "1: params.a: parameters depend on the template"),
    ("params-twice", b"params: {a: 1}\nparams: {a: 2}\n", "2: duplicate key 'params'"),
    ("nothing-in-it", b"name: x\nnetworks: {}\nnodes: {}\n", "nodes: there are none: expected at least one"),
]


@pytest.mark.parametrize(
    ("content", "words"), [case[1:] for case in WHOLE_FILES], ids=[case[0] for case in WHOLE_FILES]
)
def test_a_file_that_is_no_topology_at_all_is_refused(content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_bytes(content)
    with pytest.raises(BadInput) as caught:
        load_topology(path)
    assert caught.value.exit_status == 2
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["missing.yaml", "."])
def test_a_path_that_cannot_be_read_is_named(name: str, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="cannot read the topology file"):
        load_topology(tmp_path / name)
