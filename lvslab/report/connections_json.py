"""Connection tables, their changes and time lines as plain values for JSON. Times are nanoseconds since the epoch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from lvslab import __version__
from lvslab.ipvs.entries import Entry
from lvslab.ipvs.model import Connection
from lvslab.ipvs.templates import is_template
from lvslab.ipvs.watched import Seen
from lvslab.lab import WatchedConnection
from lvslab.report.connections_terminal import in_order
from lvslab.walk.model import Names
from lvslab.walk.timeline import Event, Passing
from lvslab.walk.words import packet_title

TABLE_SCHEMA_ID = "urn:lvslab:schema:connections:1"
TIMELINE_SCHEMA_ID = "urn:lvslab:schema:connection-timeline:1"


def tables_document(lab: str, tables: Mapping[str, Sequence[Entry]], names: Mapping[str, str]) -> dict[str, object]:
    """Return the tables of a lab's directors."""
    return {
        "schema": TABLE_SCHEMA_ID,
        "lvslab": __version__,
        "lab": lab,
        "names": dict(names),
        "directors": {director: list(map(_known, in_order(entries))) for director, entries in tables.items()},
    }


def timeline_document(watched: WatchedConnection) -> dict[str, object]:
    service, table = watched.service, watched.table
    return {
        "schema": TIMELINE_SCHEMA_ID,
        "lvslab": __version__,
        "director": service.director,
        "method": service.method.value,
        "sees": watched.sees.value,
        "protocol": service.protocol.value,
        "client": {"address": str(watched.client), "port": watched.outcome.client_port},
        "vip": {"address": str(service.vip), "port": service.port},
        "outcome": watched.outcome.status,
        "server": watched.outcome.server or None,
        "names": dict(watched.walks.names.labels),
        "readings": table.readings,
        "longest_gap_ns": table.longest_gap_ns,
        "events": [_event(event, watched.walks.names) for event in watched.events],
    }


def watch_line(seen: Seen) -> str:
    """Return one change as a line of JSON."""
    fields = {
        "time_ns": round(seen.at_s * 1e9),
        "director": seen.director,
        "first_reading": seen.is_first,
        **change_fields(seen.before, seen.after),
    }
    return json.dumps(fields, ensure_ascii=False)


def change_fields(before: Connection | None, after: Connection | None) -> dict[str, object]:
    """Return an entry as it was and as it is; null where it was not or is not there."""
    return {"before": before and _entry(before), "after": after and _entry(after)}


def _event(event: Event, names: Names) -> dict[str, object]:
    if isinstance(event, Passing):
        return {
            "kind": "packet",
            "time_ns": event.first.time_ns,
            "left_ns": None if event.last is event.first else event.last.time_ns,
            "frame": event.first.number,
            "reply": event.is_reply,
            "packet": packet_title(event.first.packet, names),
        }
    return {
        "kind": "change",
        "since_ns": event.change.since_ns,
        "seen_ns": event.change.seen_ns,
        **change_fields(event.change.before, event.change.after),
        "frames": [passing.first.number for passing in event.candidates],
    }


def _known(entry: Entry) -> dict[str, object]:
    return {
        **_entry(entry.connection),
        "kind": entry.kind.value,
        "method": entry.method and entry.method.value,
        "sees": entry.sees and entry.sees.value,
        "origin": entry.origin and entry.origin.value,
    }


def _entry(entry: Connection) -> dict[str, object]:
    return {
        "protocol": entry.protocol,
        "client": {"address": str(entry.client), "port": entry.client_port},
        "virtual": {"address": str(entry.virtual), "port": entry.virtual_port},
        "destination": {"address": str(entry.destination), "port": entry.destination_port},
        "state": entry.state,
        "expires_s": entry.expires_s,
        "template": is_template(entry),
        "engine": entry.engine,
        "engine_data": entry.engine_data,
    }
