"""lvslab lab: guided labs, for students and for those who make them."""

from __future__ import annotations

import click

from lvslab.cli.lazy import LazyGroup

VERBS = {
    "list": "List the labs there are.",
    "start": "Begin a lab, or go on with it.",
    "read": "Show the text of the step you are at.",
    "predict": "Commit a prediction, before you can see the answer.",
    "answer": "Answer the question you are at.",
    "check": "Judge the step you are at, on the running network.",
    "walk": "Call a few times, and show the first call's packets through the lab as it is now.",
    "hint": "Show one hint more.",
    "next": "Go on to the next step.",
    "solution": "Show what could be typed, once you have passed or given up.",
    "reset": "Build the network anew, as it should be where you are.",
    "status": "Show how far you have come.",
    "stop": "Take the network down; your progress stays.",
    "submit": "Write the file for your instructor.",
    "new": "Begin a lab of your own.",
    "lint": "Check labs without building them; their own checks.py is executed.",
    "test": "Prove labs on a real kernel: untouched they fail, solved they pass, mistakes are caught.",
    "grade": "Run submissions again and grade them.",
    "token": "Make the tokens that give each student a variant of their own.",
    "claims": "List what the labs' texts claim, and what proves it.",
}


@click.group("lab", cls=LazyGroup, verbs=VERBS, package="lvslab.cli.lab")
def command() -> None:
    """Learn step by step: guided labs with tasks, predictions, checks and hints."""
