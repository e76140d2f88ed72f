"""What of a student's way is done again in a network that is built anew."""

from __future__ import annotations

from lvslab.labs.loading import load_lab
from lvslab.labs.model import StepKind
from lvslab.labs.progress import Progress
from lvslab.labs.session import worked_through
from lvslab.labs.shipped import find_lab_folder


def test_questions_change_the_network_as_tasks_do_and_predictions_do_not() -> None:
    guided = load_lab(find_lab_folder("3"), "")
    *before, here = guided.steps[: [step.id for step in guided.steps].index("prefix") + 2]
    progress = Progress(guided.id, "", position=here.id)
    assert worked_through(guided, progress) == ()
    for step in guided.steps:
        progress = progress.with_step(step.id, passed_at=1.0)
    again = worked_through(guided, progress)
    assert again == tuple(step for step in before if step.kind is not StepKind.PREDICTION)
    assert [step.kind for step in again if step.id == "prefix"] == [StepKind.QUESTION]
