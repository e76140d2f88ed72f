"""lvslab verify: build, drive, capture, judge."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lvslab.cli.options import complete_topology, json_option, kernels_option, parameters, topology_options
from lvslab.errors import BadInput

if TYPE_CHECKING:
    from lvslab.lab import Examination
    from lvslab.report.progress import Progress
    from lvslab.verify.result import TopologyResult, Verdict

EXIT_STATUS = {"pass": 0, "skip": 0, "fail": 1, "error": 3}


@click.command("verify")
@click.argument("names", metavar="[NAME|FILE]...", nargs=-1, shell_complete=complete_topology)
@kernels_option
@topology_options
@click.option("--memory", "memory_mib", metavar="MIB", type=click.IntRange(64), default=512, help="Memory of a guest.")
@click.option("--from", "stored", metavar="FILE.pcapng", help="Judge a stored capture instead; needs no kernel.")
@json_option
@click.option("--junit", "junit_path", metavar="FILE", help="Write JUnit XML to FILE (- for stdout).")
@click.option(
    "--pcap",
    "pcap_path",
    metavar="FILE",
    help="Keep the capture; with several topologies or kernels FILE gets their names.",
)
@click.option("-v", "--verbose", is_flag=True, help="Show every expectation with its evidence, and progress.")
def command(
    names: tuple[str, ...],
    kernels: tuple[str, ...],
    settings: tuple[str, ...],
    without: tuple[str, ...],
    memory_mib: int,
    stored: str | None,
    json_path: str | None,
    junit_path: str | None,
    pcap_path: str | None,
    verbose: bool,
) -> int:
    """Build each topology on a real kernel, send traffic, capture every interface, and judge what the packets did.

    Without names: all topologies that come with lvslab. With several kernels: each topology on each. Exit status: 0
    passed, 1 a check failed, 2 bad usage or a bad file, 3 this machine cannot run it.
    """
    from lvslab.report.output import check_output

    if json_path == junit_path == "-":
        raise BadInput(
            "standard output takes one report", where="--json - --junit -", expected="a file for one of them"
        )
    for path in (json_path, junit_path, pcap_path):
        if path is not None:
            check_output(path)
    if stored is not None:
        _refuse_with_from(names, kernels, settings, without)
        examinations: Sequence[Examination] = (_from_file(Path(stored), names),)
    else:
        examinations = _run(names, kernels, settings, without, memory_mib=memory_mib, verbose=verbose)
    _write(examinations, json_path, junit_path)
    if pcap_path is not None:
        _keep_captures(examinations, pcap_path)
    if "-" not in (json_path, junit_path):
        _print(examinations, verbose=verbose)
    return EXIT_STATUS[_worst(examinations)]


def _run(
    names: tuple[str, ...],
    kernels: tuple[str, ...],
    settings: tuple[str, ...],
    without: tuple[str, ...],
    *,
    memory_mib: int,
    verbose: bool,
) -> Sequence[Examination]:
    from lvslab import lab

    @cache
    def progress() -> Progress:
        from lvslab.report.progress import make_progress

        return make_progress(sys.stderr, verbose=verbose)

    return lab.verify_on_each(
        kernels or (None,),
        names or lab.shipped_topologies(),
        params=parameters(settings),
        without=without,
        memory_mib=memory_mib,
        # What draws the progress is loaded when the first kernel is starting already.
        phase=lambda text: progress().phase(text),
    )


def _refuse_with_from(names: tuple[str, ...], *options: tuple[str, ...]) -> None:
    if any(options) or len(names) > 1:
        raise BadInput(
            "a stored capture is judged as it is",
            where="--from",
            expected="at most one topology and no --kernel, --set or --without",
        )


def _from_file(path: Path, names: tuple[str, ...]) -> Examination:
    from lvslab.lab import examine_stored

    return examine_stored(path, names[0] if names else None)


def _write(examinations: Sequence[Examination], json_path: str | None, junit_path: str | None) -> None:
    from lvslab import __version__
    from lvslab.report.output import write_output

    results = [examination.result for examination in examinations]
    if json_path is not None:
        from lvslab.report.json_report import to_document, to_text

        write_output(json_path, to_text(to_document(results, __version__)))
    if junit_path is not None:
        from lvslab.report.junit import to_junit

        write_output(junit_path, to_junit(results))


def _keep_captures(examinations: Sequence[Examination], pcap_path: str) -> None:
    from lvslab.capture.pcapng import write_capture
    from lvslab.lab import name_records

    paths = capture_paths(Path(pcap_path), [examination.result for examination in examinations])
    for path, examination in zip(paths, examinations, strict=True):
        evidence = examination.evidence
        write_capture(path, evidence.capture, names=name_records(evidence.topology))


def capture_paths(path: Path, results: Sequence[TopologyResult]) -> list[Path]:
    """Return where to keep the capture of each result: `path` itself, with the names in which they differ."""
    several_topologies = len({result.topology for result in results}) > 1
    several_kernels = len({result.where for result in results}) > 1
    return [
        path.with_stem(
            path.stem
            + f"-{result.topology}" * several_topologies
            + f"-{result.kernel_release or result.kernel}" * several_kernels
        )
        for result in results
    ]


def _print(examinations: Sequence[Examination], *, verbose: bool) -> None:
    from lvslab.report.terminal import make_console, render

    make_console(sys.stdout).print(render([examination.result for examination in examinations], verbose=verbose))


def _worst(examinations: Sequence[Examination]) -> Verdict:
    from lvslab.verify.result import Verdict

    return Verdict.of(examination.result.verdict for examination in examinations)
