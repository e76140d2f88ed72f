"""Groups of commands whose modules are loaded only when they are used: start-up time is a feature."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """`verbs` are the commands and one line about each; the module of each in `package` has it as `command`."""

    def __init__(self, *args: Any, verbs: Mapping[str, str], package: str, **options: Any) -> None:
        super().__init__(*args, **options)
        self.verbs = verbs
        self.package = package

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(self.verbs)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in self.verbs:
            return None
        command = import_module(f"{self.package}.{MODULES.get(cmd_name, cmd_name)}").command
        if not isinstance(command, click.Command):
            raise TypeError(f"{self.package}.{cmd_name}.command is no command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(self.verbs.items()))


MODULES = {"import": "import_", "list": "list_"}
"""Modules of verbs that are words of Python."""
