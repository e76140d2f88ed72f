"""Reports as one HTML file: readable without network, without a server and without JavaScript."""

from lvslab.report.html.page import page
from lvslab.report.html.reports import scheduler_predictions, verify_page, verify_sections, walk_page
from lvslab.report.html.sections import Packets, Prediction, Predictions, Prose, Section, Task, Tasks, Verdicts

__all__ = [
    "Packets",
    "Prediction",
    "Predictions",
    "Prose",
    "Section",
    "Task",
    "Tasks",
    "Verdicts",
    "page",
    "scheduler_predictions",
    "verify_page",
    "verify_sections",
    "walk_page",
]
