"""`lvslab verify --kernel … --kernel …`: what is run where, and what it is called in the reports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lvslab import lab
from lvslab.cli.main import main
from lvslab.cli.verify import capture_paths
from lvslab.kernels import choose, images, native
from lvslab.kernels.images import UmlImage
from lvslab.verify.result import TopologyResult, titles


def result(topology: str, release: str, kernel: str = "uml") -> TopologyResult:
    return TopologyResult(topology, kernel, release, "netns", ())


DR_OLD, DR_NEW, NAT_OLD, NAT_NEW = (result(name, release) for name in ("dr", "nat") for release in ("6.1", "6.12"))


@pytest.mark.parametrize(
    ("results", "called"),
    [
        ([], []),
        ([DR_OLD], ["dr"]),
        ([DR_OLD, NAT_OLD], ["dr", "nat"]),
        ([DR_OLD, NAT_NEW], ["dr", "nat"]),
        ([DR_OLD, DR_OLD], ["dr", "dr"]),
        ([DR_OLD, DR_NEW], ["dr on uml 6.1", "dr on uml 6.12"]),
        ([DR_OLD, result("dr", "6.1", "native")], ["dr on uml 6.1", "dr on native 6.1"]),
        ([DR_OLD, DR_NEW, NAT_OLD], ["dr on uml 6.1", "dr on uml 6.12", "nat"]),
        ([DR_OLD, replace(DR_OLD, kernel_release="")], ["dr on uml 6.1", "dr on uml"]),
    ],
)
def test_titles_name_the_kernel_where_it_tells_results_apart(results: list[TopologyResult], called: list[str]) -> None:
    assert titles(results) == called


@pytest.mark.parametrize(
    ("results", "names"),
    [
        ([DR_OLD], ["c.pcapng"]),
        ([DR_OLD, NAT_OLD], ["c-dr.pcapng", "c-nat.pcapng"]),
        ([DR_OLD, DR_NEW], ["c-6.1.pcapng", "c-6.12.pcapng"]),
        ([DR_OLD, result("dr", "", "native")], ["c-6.1.pcapng", "c-native.pcapng"]),
        ([DR_OLD, DR_OLD], ["c-1.pcapng", "c-2.pcapng"]),
        ([DR_OLD, NAT_OLD, DR_OLD], ["c-dr-1.pcapng", "c-nat.pcapng", "c-dr-2.pcapng"]),
        ([DR_OLD, DR_NEW, NAT_OLD, NAT_NEW], [f"c-{n}-{r}.pcapng" for n in ("dr", "nat") for r in ("6.1", "6.12")]),
    ],
)
def test_captures_are_named_for_what_differs(results: list[TopologyResult], names: list[str]) -> None:
    assert capture_paths(Path("/x/c.pcapng"), results) == [Path("/x") / name for name in names]


@pytest.mark.parametrize(
    ("kernels", "run"),
    [
        (["uml:6.1", "uml:6.12"], ["dr uml:6.1", "dr uml:6.12", "nat uml:6.1", "nat uml:6.12"]),
        (["uml:6.12", "uml:6.12"], ["dr uml:6.12", "nat uml:6.12"]),
        ([None], ["dr native", "nat native"]),
        ([None, "native"], ["dr native", "nat native"]),
    ],
)
def test_results_of_one_topology_are_side_by_side(
    monkeypatch: pytest.MonkeyPatch, kernels: list[str | None], run: list[str]
) -> None:
    def verify(topologies: Sequence[str], *, kernel: str, **_options: Any) -> tuple[str, ...]:
        return tuple(f"{topology} {kernel}" for topology in topologies)

    monkeypatch.setattr(lab, "choose_kernel", lambda asked, **_: asked or "native")
    monkeypatch.setattr(lab, "verify", verify)
    assert [str(examination) for examination in lab.verify_on_each(kernels, ["dr", "nat"])] == run


@pytest.mark.parametrize(
    ("not_native", "releases", "present"),
    [
        ("", ["6.1.176", "6.12.117"], ("native", "uml:6.1.176", "uml:6.12.117")),
        ("not root", ["6.12.117", "6.12.117"], ("uml:6.12.117",)),
        ("not root", [""], ("uml",)),
    ],
)
def test_all_means_every_kernel_that_is_here(
    monkeypatch: pytest.MonkeyPatch, not_native: str, releases: list[str], present: tuple[str, ...]
) -> None:
    found = tuple(UmlImage(Path("/linux"), None, release) for release in releases)
    monkeypatch.setattr(native, "why_not_native", lambda: not_native)
    monkeypatch.setattr(images, "images", lambda: found)
    asked: list[Sequence[str | None]] = []

    def verify_on_each(kernels: Sequence[str | None], *_topologies: Any, **_options: Any) -> tuple[()]:
        asked.append(kernels)
        return ()

    monkeypatch.setattr(lab, "verify_on_each", verify_on_each)
    assert choose.present_kernels() == present
    with pytest.raises(SystemExit):
        main(["verify", "--all"])
    assert asked == [present]


@pytest.mark.parametrize("other", [["dr"], ["--lab"], ["--from", "x.pcapng"]])
def test_all_is_all(capsys: pytest.CaptureFixture[str], other: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["verify", "--all", *other])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "--all: all are meant" in said
    assert said.count("\n") == 1
