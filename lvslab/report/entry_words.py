"""Entries of a connection table, and what became of them, in words."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from lvslab.ipvs.model import Connection, endpoint
from lvslab.ipvs.templates import is_template
from lvslab.ipvs.watched import Seen
from lvslab.report.printable import printable
from lvslab.topology.model import Address

GONE = "gone"


def named_end(address: Address, port: int, names: Mapping[str, str]) -> str:
    """Return `client:20001`, or the address where it has no name."""
    name = names.get(str(address))
    return endpoint(address, port) if name is None else f"{name}:{port}"


def entry_ends(entry: Connection, names: Mapping[str, str]) -> str:
    """Return `TCP client:20001 → VIP:80 → rs2:80`."""
    client = named_end(entry.client, entry.client_port, names)
    virtual = named_end(entry.virtual, entry.virtual_port, names)
    return f"{entry.protocol} {client} → {virtual} → {named_end(entry.destination, entry.destination_port, names)}"


def change_in_words(before: Connection | None, after: Connection | None, names: Mapping[str, str]) -> str:
    """Say what a state became, and how much time the entry then had left; for a new one, whose server it is."""
    if before is None and after is not None:
        server = named_end(after.destination, after.destination_port, names)
        return f"{_kind(after)}new, to {server}: {after.state}, {left(after)}"
    if before is not None and after is None:
        return f"{_kind(before)}{before.state} → {GONE}, at {left(before)}"
    if before is None or after is None:
        return ""
    if before.state != after.state:
        return f"{_kind(after)}{before.state} → {after.state}, {left(after)}"
    if before.destination != after.destination:
        return f"{_kind(after)}now to {named_end(after.destination, after.destination_port, names)}, {left(after)}"
    return f"{_kind(after)}{after.state}, again {left(after)}"


def watch_words(seen: Seen, names: Mapping[str, str]) -> str:
    """Return a line: when, where, which entry, what became of it."""
    at = datetime.fromtimestamp(seen.at_s, UTC).strftime("%H:%M:%S.%f")[:-3]
    entry = seen.after or seen.before
    ends = "" if entry is None else entry_ends(entry, names)
    if seen.is_first and seen.after is not None:
        what = f"{_kind(seen.after)}was there: {seen.after.state}, {left(seen.after)}"
    else:
        what = change_in_words(seen.before, seen.after, names)
    return printable(f"{at}  {seen.director}  {ends}  {what}")


def left(entry: Connection) -> str:
    return f"{entry.expires_s} s left"


def _kind(entry: Connection) -> str:
    return "template: " if is_template(entry) else "entry: "
