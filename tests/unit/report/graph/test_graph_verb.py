from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from lvslab.cli.main import main


def run(*argv: str) -> int:
    with pytest.raises(SystemExit) as left:
        main(["graph", *argv])
    assert isinstance(left.value.code, int)
    return left.value.code


def test_it_draws_in_the_terminal_by_default(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("dr", "--set", "scheduler=wlc", "--without", "vip@rs2") == 0
    out = capfd.readouterr().out
    assert out.startswith("dr: Direct routing on one network\n")
    assert "scheduler wlc" in out
    assert "✗ vip" in out


def test_it_prints_mermaid(capfd: pytest.CaptureFixture[str]) -> None:
    assert run("nat", "--mermaid", "--lang", "zh") == 0
    assert capfd.readouterr().out.startswith('---\ntitle: "nat: 网络地址转换')


def test_it_writes_svg_to_a_file_or_to_standard_output(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "tun.svg"
    assert run("tun", "--svg", str(path)) == 0
    assert capfd.readouterr().out == ""
    assert run("tun", "--svg", "-") == 0
    written = path.read_text(encoding="utf-8")
    assert capfd.readouterr().out == written
    assert ElementTree.fromstring(written).tag.endswith("svg")


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (("dr", "--mermaid", "--svg", "-"), "--mermaid or --svg, not both"),
        (("nothing",), "unknown topology 'nothing'"),
        (("dr", "--svg", "/dev/null/dr.svg"), "cannot write here"),
        (("dr", "--lang", "fr"), "'fr' is not one of"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(
    argv: tuple[str, ...], words: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(*argv) == 2
    assert words in capfd.readouterr().err
