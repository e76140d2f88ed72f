"""lvslab verify: build, drive, capture, judge."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lvslab.cli.options import (
    backend_option,
    complete_topology,
    html_option,
    json_option,
    kernels_option,
    language_option,
    memory_option,
    parameters,
    refuse_beside,
    running_option,
    time_option,
    topology_options,
)
from lvslab.errors import BadInput

if TYPE_CHECKING:
    from lvslab.lab import Examination
    from lvslab.report.progress import Progress
    from lvslab.verify.result import TopologyResult, Verdict

OF_A_NEW_LAB = ("kernels", "backend", "settings", "without", "memory_mib", "virtual_time")
"""Options that say how to make a lab."""
EXIT_STATUS = {"pass": 0, "skip": 0, "fail": 1, "error": 3}


@click.command("verify")
@click.argument("names", metavar="[NAME|FILE]...", nargs=-1, shell_complete=complete_topology)
@click.option("--all", "everything", is_flag=True, help="All topologies that come with lvslab, on every kernel here.")
@kernels_option
@backend_option
@topology_options
@memory_option
@time_option
@running_option
@click.option("--from", "stored", metavar="FILE.pcapng", help="Judge a stored capture instead; needs no kernel.")
@html_option
@language_option
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
    everything: bool,
    kernels: tuple[str, ...],
    backend: str,
    settings: tuple[str, ...],
    without: tuple[str, ...],
    memory_mib: int,
    virtual_time: bool,
    lab: str | None,
    stored: str | None,
    html_path: str | None,
    language: str,
    json_path: str | None,
    junit_path: str | None,
    pcap_path: str | None,
    verbose: bool,
) -> int:
    """Build each topology on a real kernel, send traffic, capture every interface, and judge what the packets did.

    Without names: all topologies that come with lvslab. With several kernels: each topology on each. With --lab: a
    lab that is up is judged as it is now, by the topology it was made from. Exit status: 0 passed, 1 a check failed,
    2 bad usage or a bad file, 3 this machine cannot run it.
    """
    from lvslab.report.output import check_outputs

    reports = {"--html": html_path, "--json": json_path, "--junit": junit_path}
    on_stdout = [f"{option} -" for option, path in reports.items() if path == "-"]
    if len(on_stdout) > 1:
        raise BadInput("standard output takes one report", where=" ".join(on_stdout), expected="files for the others")
    if everything:
        kernels = _every_kernel(names, kernels)
    check_outputs({**reports, "--pcap": pcap_path})
    if stored is not None:
        _refuse_with_from(names)
        examinations: Sequence[Examination] = (_from_file(Path(stored), names),)
    elif lab is not None:
        _refuse_with_lab(names)
        examinations = (_of_running(lab, verbose=verbose),)
    else:
        examinations = _run(
            names,
            kernels,
            settings,
            without,
            backend=backend,
            memory_mib=memory_mib,
            virtual_time=virtual_time,
            verbose=verbose,
        )
    results = [examination.result for examination in examinations]
    captures = capture_paths(Path(pcap_path), results) if pcap_path is not None else []
    _write(results, json_path, junit_path, _attachments(len(results), captures, html_path))
    if html_path is not None:
        from lvslab.report.html import verify_page
        from lvslab.report.output import write_output
        from lvslab.walk.phrases import Language

        write_output(html_path, verify_page(examinations, language=Language(language)))
    _keep_captures(examinations, captures)
    if not on_stdout:
        _print(examinations, verbose=verbose)
    return EXIT_STATUS[_worst(examinations)]


def _run(
    names: tuple[str, ...],
    kernels: tuple[str, ...],
    settings: tuple[str, ...],
    without: tuple[str, ...],
    *,
    backend: str,
    memory_mib: int,
    virtual_time: bool,
    verbose: bool,
) -> Sequence[Examination]:
    from lvslab import lab

    @cache
    def progress() -> Progress:
        from lvslab.report.progress import make_progress

        return make_progress(sys.stderr, verbose=verbose)

    return lab.verify_on_each(
        kernels or (None,),
        tuple(dict.fromkeys(names)) or lab.shipped_topologies(),
        params=parameters(settings),
        without=without,
        backend=backend,
        memory_mib=memory_mib,
        virtual_time=virtual_time,
        # What draws the progress is loaded when the first kernel is starting already.
        phase=lambda text: progress().phase(text),
    )


def _every_kernel(names: tuple[str, ...], kernels: tuple[str, ...]) -> tuple[str, ...]:
    from lvslab.kernels.choose import present_kernels

    refuse_beside("--all", "all are meant", "lab", "stored")
    if names:
        raise BadInput("all are meant", where="--all", expected="no topology", found=" ".join(names))
    return kernels or present_kernels()


def _refuse_with_from(names: tuple[str, ...]) -> None:
    what = "a stored capture is judged as it is"
    refuse_beside("--from", what, *OF_A_NEW_LAB, "lab")
    if len(names) > 1:
        raise BadInput(what, where="--from", expected="at most one topology", found=" ".join(names))


def _refuse_with_lab(names: tuple[str, ...]) -> None:
    what = "a lab that is up is judged as it is"
    refuse_beside("--lab", what, *OF_A_NEW_LAB)
    if names:
        raise BadInput(
            what,
            where="--lab",
            expected="the name of one lab, and no topology",
            found=" ".join(names),
            next_step=f"lvslab verify --lab {names[0]}",
        )


def _of_running(name: str, *, verbose: bool) -> Examination:
    from lvslab.kernels.attach import find_lab
    from lvslab.report.progress import make_progress
    from lvslab.running import attached

    with attached(find_lab(name or None)) as lab:
        return lab.examine(phase=make_progress(sys.stderr, verbose=verbose).phase)


def _from_file(path: Path, names: tuple[str, ...]) -> Examination:
    from lvslab.lab import examine_stored

    return examine_stored(path, names[0] if names else None)


def _attachments(count: int, captures: Sequence[Path], html_path: str | None) -> list[list[str]]:
    """Return the files about each result: its capture, and the page of all."""
    pages = [html_path] if html_path not in (None, "-") else []
    return [[str(path) for path in captures[number : number + 1]] + pages for number in range(count)]


def _write(
    results: Sequence[TopologyResult],
    json_path: str | None,
    junit_path: str | None,
    attachments: Sequence[Sequence[str]],
) -> None:
    from lvslab import __version__
    from lvslab.report.output import write_output

    if json_path is not None:
        from lvslab.report.json_report import to_document, to_text

        write_output(json_path, to_text(to_document(results, __version__)))
    if junit_path is not None:
        from lvslab.report.junit import to_junit

        write_output(junit_path, to_junit(results, attachments))


def _keep_captures(examinations: Sequence[Examination], paths: Sequence[Path]) -> None:
    if not paths:
        return
    from lvslab.capture.pcapng import write_capture
    from lvslab.lab import name_records

    for path, examination in zip(paths, examinations, strict=True):
        evidence = examination.evidence
        write_capture(path, evidence.capture, names=name_records(evidence.topology))


def capture_paths(path: Path, results: Sequence[TopologyResult]) -> list[Path]:
    """Return where to keep the capture of each result: `path` itself, with the names in which they differ.

    Results of one name are numbered.
    """
    several_topologies = len({result.topology for result in results}) > 1
    several_kernels = len({result.where for result in results}) > 1
    named = [
        path.with_stem(
            path.stem
            + f"-{result.topology}" * several_topologies
            + f"-{result.kernel_release or result.kernel}" * several_kernels
        )
        for result in results
    ]
    return [
        each.with_stem(f"{each.stem}-{named[: place + 1].count(each)}") if named.count(each) > 1 else each
        for place, each in enumerate(named)
    ]


def _print(examinations: Sequence[Examination], *, verbose: bool) -> None:
    from lvslab.report.terminal import make_console, render

    make_console(sys.stdout).print(render([examination.result for examination in examinations], verbose=verbose))


def _worst(examinations: Sequence[Examination]) -> Verdict:
    from lvslab.verify.result import Verdict

    return Verdict.of(examination.result.verdict for examination in examinations)
