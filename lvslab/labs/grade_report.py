"""Grades as a table for the terminal, JSON, CSV and JUnit."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict
from xml.etree import ElementTree

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lvslab.labs.grade import Grade
from lvslab.report.printable import printable
from lvslab.verify.result import Verdict

FAILED = (Verdict.FAIL, Verdict.SKIP)
ERRED = (Verdict.ERROR,)
"""Ours or the environment's: to be graded again."""


def grades_table(grades: Sequence[Grade]) -> RenderableType:
    table = Table.grid(padding=(0, 2, 0, 0))
    for grade in grades:
        note = grade.refused or "; ".join(filter(None, (_steps(grade, "not", FAILED), _steps(grade, "error", ERRED))))
        points = f"{grade.points}/{grade.of}"
        table.add_row(*(Text(printable(text)) for text in (grade.student or grade.source, grade.lab, points, note)))
    return table


def _steps(grade: Grade, word: str, verdicts: Sequence[Verdict]) -> str:
    names = ", ".join(step.step for step in grade.steps if step.verdict in verdicts)
    return f"{word}: {names}" if names else ""


def grades_json(grades: Sequence[Grade]) -> str:
    rows = [asdict(grade) | {"points": grade.points, "of": grade.of} for grade in grades]
    return json.dumps(rows, indent=1, ensure_ascii=False) + "\n"


def grades_csv(grades: Sequence[Grade]) -> str:
    """Return one line per submission and step; spreadsheets take no text of a student's for a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["student", "lab", "step", "verdict", "points", "of", "note"])
    for grade in grades:
        if grade.refused:
            writer.writerow(map(_plain, [grade.student, grade.lab, "", "refused", 0, 0, grade.refused]))
        for step in grade.steps:
            row = [grade.student, grade.lab, step.step, step.verdict, step.points, step.of, step.said]
            writer.writerow(map(_plain, row))
    return text.getvalue()


def _plain(value: object) -> str:
    text = printable(str(value))
    return f"'{text}" if text.startswith(tuple("=+-@\t")) else text


def grades_junit(grades: Sequence[Grade]) -> str:
    root = ElementTree.Element("testsuites")
    for grade in grades:
        name = f"{grade.lab} {grade.student or grade.source}"
        suite = ElementTree.SubElement(root, "testsuite", name=printable(name), tests=str(len(grade.steps)))
        if grade.refused:
            case = ElementTree.SubElement(suite, "testcase", name="submission", classname=printable(grade.lab))
            ElementTree.SubElement(case, "failure", message=printable(grade.refused))
        for step in grade.steps:
            case = ElementTree.SubElement(suite, "testcase", name=step.step, classname=printable(grade.lab))
            kind = {Verdict.FAIL: "failure", Verdict.ERROR: "error", Verdict.SKIP: "skipped"}.get(step.verdict)
            if kind is not None:
                ElementTree.SubElement(case, kind, message=printable(step.said))
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
