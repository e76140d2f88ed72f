"""Looking a server up in a table of buckets, as sh and mh do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lvslab.ipvs.schedulers.model import NOBODY, Candidate, Choice, Server, unavailable


def choose_from_table(table: Sequence[Server | None], buckets: Iterable[int]) -> Choice:
    """Return the server of the first of the buckets whose server may take the connection; an empty one ends it."""
    seen: dict[str, Candidate] = {}
    bucket: int | None = None
    reason = NOBODY
    for bucket in buckets:
        server = table[bucket] if table else None
        if server is None:
            break
        refusal = unavailable(server)
        seen[server.name] = Candidate(server, refusal or "taken")
        if not refusal:
            found = "the bucket's server" if len(seen) == 1 else "the first bucket whose server may"
            return Choice(server, found, (("bucket", bucket),), tuple(seen.values()))
        reason = f"the bucket's server may not: {refusal}"
    return Choice(None, reason, () if bucket is None else (("bucket", bucket),), tuple(seen.values()))
