"""Destination hashing: a server for each destination address, whatever else happens.

The papers fill 256 buckets with the servers in rotation and find the bucket by (address · 2654435761) & 255; if its
server is gone, of weight 0 or overloaded (C > 2W), the connection is refused.

The kernel (net/netfilter/ipvs/ip_vs_dh.c) differs in this: it hashes with another constant and keeps the high bits, see
:mod:`lvslab.ipvs.schedulers.hashing`; the rotation begins with the newest server; overloaded means that the upper
threshold was reached. The buckets are filled anew by every add and delete; weights play no part but 0.
"""

from __future__ import annotations

from lvslab.ipvs.schedulers.hashing import fold, hash_32, papers_hash
from lvslab.ipvs.schedulers.model import (
    NOBODY,
    Candidate,
    Choice,
    Flow,
    KernelScheduler,
    PapersScheduler,
    Server,
    unavailable,
    weightless,
)

BUCKET_BITS = 8


class KernelDestinationHashing(KernelScheduler):
    def choose(self, flow: Flow, /) -> Choice:
        bucket = hash_32(fold(flow.destination), BUCKET_BITS)
        server = self.servers[bucket % len(self.servers)] if self.servers else None
        return of_bucket(bucket, server, unavailable(server) if server else NOBODY)


class PapersDestinationHashing(PapersScheduler):
    def choose(self, flow: Flow, /) -> Choice:
        bucket = papers_hash(fold(flow.destination), BUCKET_BITS)
        server = self.servers[bucket % len(self.servers)] if self.servers else None
        return of_bucket(bucket, server, papers_refusal(server) if server else NOBODY)


def papers_refusal(server: Server) -> str:
    """Return why the papers' hash schedulers refuse a server, or an empty text."""
    if server.connections > 2 * server.weight:
        return f"overloaded: {server.connections} connections exceed twice the weight"
    return weightless(server)


def of_bucket(bucket: int, server: Server | None, refusal: str) -> Choice:
    """Return what a bucket with this server in it comes to; `refusal` says why it may not take the connection."""
    state = (("bucket", bucket),)
    if server is None:
        return Choice(None, refusal, state)
    candidates = (Candidate(server, refusal or "taken"),)
    if refusal:
        return Choice(None, f"the bucket's server may not: {refusal}", state, candidates)
    return Choice(server, "the bucket's server", state, candidates)
