"""Source hashing: a server for each client address.

The papers do as in :mod:`lvslab.ipvs.schedulers.dh`, on the source address.

The kernel (net/netfilter/ipvs/ip_vs_sh.c) differs as there, and in this: a server has as many buckets one after another
as its weight, and at least one; a change of weight fills the buckets anew too. Flag sh-port adds the client's port to
the address before hashing. With flag sh-fallback a server that may not take the connection is not the end: from bucket
h the search goes on at 2h, 2h + 1, …, once around the table.
"""

from __future__ import annotations

from itertools import cycle, islice

from lvslab.ipvs.model import Flag
from lvslab.ipvs.schedulers.dh import BUCKET_BITS, of_bucket, papers_refusal
from lvslab.ipvs.schedulers.hashing import fold, hash_32, papers_hash
from lvslab.ipvs.schedulers.model import NOBODY, Choice, Flow, KernelScheduler, PapersScheduler, Server
from lvslab.ipvs.schedulers.table import choose_from_table

BUCKETS = 1 << BUCKET_BITS


class KernelSourceHashing(KernelScheduler):
    def choose(self, flow: Flow, /) -> Choice:
        port = flow.source_port if Flag.SH_PORT in self.flags else 0
        first = hash_32(fold(flow.source) + port, BUCKET_BITS)
        table = _filled(self.servers)
        if Flag.SH_FALLBACK not in self.flags:
            return choose_from_table(table, [first])
        following = ((first + first + step) % BUCKETS for step in range(BUCKETS))
        return choose_from_table(table, [first, *following])


class PapersSourceHashing(PapersScheduler):
    def choose(self, flow: Flow, /) -> Choice:
        bucket = papers_hash(fold(flow.source), BUCKET_BITS)
        server = self.servers[bucket % len(self.servers)] if self.servers else None
        return of_bucket(bucket, server, papers_refusal(server) if server else NOBODY)


def _filled(servers: list[Server]) -> list[Server]:
    """Return the server of each bucket."""
    turn = [server for server in servers for _ in range(min(max(server.weight, 1), BUCKETS))]
    return list(islice(cycle(turn), BUCKETS))
