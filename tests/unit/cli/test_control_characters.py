"""What a file's author or a file's name says to a terminal is shown, never obeyed."""

from __future__ import annotations

from pathlib import Path

import pytest

from lvslab.cli.main import main

BELL, SHOWN = "\a", "\\x07"
TOPOLOGY = r"""
name: loud
title: {en: "loud\a", zh: x}
networks: {lan: 10.1.0.0/24}
nodes:
  client: {role: client, on: {lan: 9}}
  director: {role: director, on: {lan: 1}, sysctls: {net.ipv4.ip_forward: "1\a"}}
  rs1: {role: real-server, on: {lan: 2}}
services:
  - {vip: 10.1.0.100, port: 80, method: dr, scheduler: rr, servers: [rs1]}
"""


@pytest.mark.parametrize(
    "argv",
    [
        ["plan", "{file}"],
        ["lint", "{folder}/there-is-no\a"],
        ["lint", "{folder}/bad\a.yaml"],
        ["lint", "{folder}/table\a.rules"],
        ["import", "{folder}/table\a.rules", "-o", "{folder}/imported.yaml"],
        ["export", "compose", "{file}", "-o", "{folder}/new\a"],
        ["export", "mininet", "{file}", "-o", "{file}"],
        ["new", "topology", "--method", "dr", "{folder}/a\a/mine.yaml"],
    ],
    ids=" ".join,
)
def test_control_characters_are_shown(argv: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "loud\a.yaml"
    file.write_text(TOPOLOGY)
    (tmp_path / "bad\a.yaml").write_text("name: 7\n")
    (tmp_path / "table\a.rules").write_text("-A -t 10.0.0.1:80 -s rr\n-a -t 10.0.0.1:80 -r 10.0.0.2:80 -m -w 1\n")
    (tmp_path / "a\a").mkdir()
    with pytest.raises(SystemExit):
        main([word.format(file=file, folder=tmp_path) for word in argv])
    captured = capsys.readouterr()
    printed = captured.out + captured.err
    assert SHOWN in printed
    assert BELL not in printed
