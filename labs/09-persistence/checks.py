"""Which server a client stays with, whether a server rests, and what FTP says through NAT."""

import re

from lvslab.ipvs.templates import is_template
from lvslab.labs.finding import failed, judged
from lvslab.labs.node_names import NodeName, NodeNames
from lvslab.labs.registry import Observed, check, observation
from lvslab.labs.words import same, words
from lvslab.topology.document import Connections, Entry, Texts

PASSIVE = ("--ftp-pasv", "--disable-epsv", "--no-ftp-skip-pasv-ip")
ACTIVE = ("--ftp-port", "-", "--disable-eprt")


class Stays(Entry):
    """Each client's calls to these ports, one after another, are all answered by one server."""

    clients: NodeNames
    ports: Texts = ("80",)
    times: Connections = 3


@check("stays", Stays)
def stays(view, wanted):
    listed = "/".join(wanted.ports)
    for client in wanted.clients:
        names = [name for port in wanted.ports for name in _servers(view, client, int(port), wanted.times)]
        expected = words(
            "{client} has one server for port {ports}",
            "{client} 对端口 {ports} 始终访问同一台服务器",
            client=client,
            ports=listed,
        )
        seen = same(" ".join(names))
        if len(set(names)) != 1 or not names[0].startswith("rs"):
            return failed(expected, seen, client, next_step=same("director# ipvsadm -Ln; ipvsadm -Lnc"))
    return judged(True, expected, seen, client)


class ServersSeen(Entry):
    """How many servers answer, when the first client calls so many times and the second once."""

    clients: NodeNames
    times: Connections


@observation("servers-seen", ServersSeen)
def servers_seen(view, wanted):
    first, second = wanted.clients
    names = _servers(view, first, 80, wanted.times) + _servers(view, second, 80, 1)
    return Observed(str(len(set(names))), same(" ".join(names)), view.service().director)


class Template(Entry):
    """The virtual address of the template that a call of the client leaves."""

    client: NodeName


@observation("template", Template)
def template(view, wanted):
    _servers(view, wanted.client, 80, 1)
    source = re.escape(str(view.topology.node(wanted.client).own_addresses[0]))
    printed = view.run(view.service().director, "ipvsadm", "-Lnc").output
    found = re.search(rf"^IP\s.*\s{source}:0\s+(\S+)", printed, re.MULTILINE)
    return Observed(found[1], same("ipvsadm -Lnc"), view.service().director) if found else None


class Resting(Entry):
    """Just one server of the mark's service has weight 0, and it is the one that `client` has, if it has one yet."""

    client: NodeName


@check("resting", Resting)
def resting(view, wanted):
    expected = words(
        "the server that {client} has is in the table, with weight 0; the others have 1",
        "{client} 所用的服务器仍在表中，权值为 0；其余为 1",
        client=wanted.client,
    )
    weights = _weights(view)
    # Grading builds the network anew, and nobody has called there: which server it was is not known any more.
    known = _has_template(view, wanted.client)
    (answered,) = _servers(view, wanted.client, 80, 1)
    listed = ", ".join(f"{name} {weight}" for name, weight in sorted(weights.items())) or "-"
    seen = words(
        "{listed}; {client}: {name}", "{listed}；{client}：{name}", listed=listed, client=wanted.client, name=answered
    )
    rests = [name for name, weight in weights.items() if weight == 0]
    return judged(
        (rests == [answered] or not known) and sorted(weights.values()) == [0, 1, 1],
        expected,
        seen,
        view.service().director,
    )


class Elsewhere(Entry):
    """The client's calls are answered, and by servers whose weight is not 0, while one has 0."""

    client: NodeName


@check("elsewhere", Elsewhere)
def elsewhere(view, wanted):
    expected = words(
        "new connections of {client} go to servers that are not resting",
        "{client} 的新连接都去往未停用的服务器",
        client=wanted.client,
    )
    weights = _weights(view)
    names = _servers(view, wanted.client, 80, 3)
    listed = ", ".join(f"{name} {weight}" for name, weight in sorted(weights.items())) or "-"
    seen = words("{names}; weights: {listed}", "{names}；权值：{listed}", names=" ".join(names), listed=listed)
    right = 0 in weights.values() and all(weights.get(name, 0) > 0 for name in names)
    return judged(right, expected, seen, wanted.client)


class NewConnection(Entry):
    """Where a client's next connection goes: `same` for the server that rests, `another`, or `refused`."""

    client: NodeName


@observation("new-connection", NewConnection)
def new_connection(view, wanted):
    weights = _weights(view)
    if 0 not in weights.values():
        return None
    (name,) = _servers(view, wanted.client, 80, 1)
    value = "refused" if name not in weights else "another" if weights[name] else "same"
    return Observed(value, same(name), wanted.client)


class Fetched(Entry):
    """A file comes over FTP, with the data connection opened by the client, and by the server."""

    client: NodeName


@check("fetched", Fetched)
def fetched(view, wanted):
    for kind, options in (("passive", PASSIVE), ("active", ACTIVE)):
        ended = _fetch(view, wanted.client, "-sS", *options)
        expected = words(
            "{client} fetches a file over {kind} FTP",
            "{client} 用 {kind} 方式的 FTP 取到文件",
            client=wanted.client,
            kind=kind,
        )
        seen = same(" ".join(ended.output.split())[:160])
        if ended.status != 0 or not ended.output.startswith("rs"):
            return failed(expected, seen, wanted.client)
    return judged(True, expected, seen, wanted.client)


class Announced(Entry):
    """Whose address the client reads in the answer to PASV: `vip`, `server`, `director`."""

    client: NodeName


@observation("announced", Announced)
def announced(view, wanted):
    printed = _fetch(view, wanted.client, "-sSv", *PASSIVE).output
    found = re.search(r"227 [^(]*\((\d+,\d+,\d+,\d+),", printed)
    if found is None:
        return None
    owner = view.owner_of_address(found[1].replace(",", "."))
    value = {"VIP": "vip", "director": "director"}.get(owner, "server")
    return Observed(value, same(found[1]), wanted.client)


def _fetch(view, client, *options):
    return view.run(client, "curl", "-q", *options, "--max-time", "4", f"ftp://{view.service().vip}/server")


def _has_template(view, client):
    own = view.topology.node(client).own_addresses
    return any(entry.client in own and is_template(entry) for entry in view.connections(view.service().director))


def _servers(view, client, port, times):
    return [outcome.server or outcome.status for outcome in view.call(client, times, port=port)]


def _weights(view):
    """Return the weights of the mark's service by server; empty without one."""
    for entry in view.table(view.service().director):
        if hasattr(entry.service.key, "mark"):
            return {
                view.owner_of_address(str(one.destination.address)): one.destination.weight
                for one in entry.destinations
            }
    return {}
