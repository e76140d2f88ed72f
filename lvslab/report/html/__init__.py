"""Reports as one HTML file: readable without network, without a server and without JavaScript.

A page is a title and sections, in the order given:

    page(
        "Lab 03: direct routing",
        [
            Prose(instructions),
            Tasks("Tasks", (Task("Set arp_ignore on rs1.", Verdict.PASS),)),
            Predictions((Prediction("Who answers ARP?", "director", "rs1", agrees=False, frame=11),), group="dr"),
            Packets(walks, topology, group="dr"),
        ],
        language=Language.CHINESE,
    )

Frame numbers of a section are linked to the packets of the same group.
"""

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
