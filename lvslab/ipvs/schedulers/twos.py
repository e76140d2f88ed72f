"""Power of two choices: two servers drawn at random by weight, the less loaded of them takes the connection.

Not in the papers; Mitzenmacher, "The Power of Two Choices in Randomized Load Balancing" (2001). What the kernel draws
cannot be predicted, but how often each server is chosen can: :func:`distribution`.

The kernel (net/netfilter/ipvs/ip_vs_twos.c, since Linux 5.14) draws two numbers from 0 to the sum of the weights, both
ends included, and walks its list, newest first, until the weights have used each up: a draw of 0 and one of 1 both
meet the first server, which is therefore drawn once more than its weight. Of the two the second is taken if its
overhead by weight is less. Overloaded servers and those of weight 0 play no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from lvslab.ipvs.schedulers.counting import Counting
from lvslab.ipvs.schedulers.least import overhead
from lvslab.ipvs.schedulers.model import Server, unavailable


def distribution(servers: Sequence[Server], counting: Counting = Counting.TOTAL) -> dict[str, Fraction]:
    """Return each server's probability of getting the next connection; `servers` in the kernel's order.

    Empty when the connection is refused.
    """
    possible = [server for server in servers if not unavailable(server)]
    draws = sum(server.weight for server in possible) + 1
    drawn = [(server, server.weight + (position == 0)) for position, server in enumerate(possible)]
    cost = overhead(counting)
    shares = {server.name: Fraction(0) for server in possible}
    for first, first_times in drawn:
        for second, second_times in drawn:
            better = second.weight * cost(first) > first.weight * cost(second)
            shares[(second if better else first).name] += Fraction(first_times * second_times, draws * draws)
    return shares
