"""lvslab lab check: judge the step one is at."""

from __future__ import annotations

import time

import click

from lvslab.cli.lab.options import chosen_language, language_option, which_option

WATCH_S = 3.0


@click.command("check")
@which_option
@language_option
@click.option("--watch", is_flag=True, help="Again and again until it passes.")
@click.option("--pcap", "pcap_path", metavar="FILE", help="Keep the capture whose frames are named.")
def command(wanted: str | None, language: str | None, watch: bool, pcap_path: str | None) -> int:
    """Judge the step you are at, on the running network. Exit status 0: passed, 1: not yet, 3: could not be judged."""
    from lvslab.cli.lab.judging import STATUS, judge_here, show_checked
    from lvslab.labs.session import check, open_session
    from lvslab.report.output import CAPTURE, check_outputs

    check_outputs({CAPTURE: pcap_path})
    session = open_session(wanted)
    spoken = chosen_language(language, session)
    if not watch:
        return judge_here(session, spoken, pcap_path)
    before = None
    while True:
        checked = check(session)
        said = [(outcome.check, outcome.finding) for outcome in checked.outcome.checks]
        if said != before:
            show_checked(checked, spoken)
        if checked.outcome.passed:
            return STATUS["pass"]
        before, session = said, checked.session
        time.sleep(WATCH_S)
