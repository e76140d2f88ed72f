"""Sessions as they are drawn, and the figures of skew, without a kernel."""

from __future__ import annotations

import pytest

from lvslab.bench.sessions import Habits, Request, draw_requests, ticks
from lvslab.bench.skew import Settings, dealt_in_turn, over_mean, per_server

HABITS = Habits(sessions=500, period_s=3600)


def test_the_same_seed_draws_the_same_sessions() -> None:
    assert draw_requests(HABITS, 1) == draw_requests(HABITS, 1) != draw_requests(HABITS, 2)


def test_each_session_begins_within_the_period_with_one_first_request() -> None:
    requests = draw_requests(HABITS, 1)
    first = [request for request in requests if request.first]
    assert sorted(request.session for request in first) == list(range(HABITS.sessions))
    assert all(0 <= request.at_s <= HABITS.period_s for request in first)
    assert [request.at_s for request in requests] == sorted(request.at_s for request in requests)
    assert {request.resolver for request in requests} == set(range(HABITS.resolvers))


def test_a_few_long_sessions_have_much_of_all_requests() -> None:
    requests = draw_requests(Habits(sessions=5000, period_s=3600), 1)
    counts = sorted(per_server(tuple((0, str(request.session)) for request in requests), 5000), reverse=True)
    assert sum(counts[:500]) > len(requests) * 0.3
    assert counts[2500] == 1
    assert counts[0] <= HABITS.most_requests


def request(at_s: float, session: int = 0) -> Request:
    return Request(at_s, session, 0, first=False)


def test_ticks_hold_what_happens_in_them_and_end_after_it() -> None:
    requests = [request(at_s) for at_s in (0, 19.9, 20, 45, 100)]
    assert [(end_s, [each.at_s for each in some]) for end_s, some in ticks(requests, 20)] == [
        (20, [0, 19.9]),
        (40, [20]),
        (60, [45]),
        (120, [100]),
    ]
    assert list(ticks([], 20)) == []


def test_servers_without_requests_count_in_the_mean() -> None:
    counts = per_server(((0, "rs1"), (0, "rs1"), (1, "rs2")), 4)
    assert counts == [2, 1, 0, 0]
    assert over_mean(counts) == pytest.approx(2 / (3 / 4))
    assert per_server(((0, "rs1"), (1, "rs2")), 2, window=1) == [1, 0]


def test_sessions_dealt_in_turn_take_all_their_requests_along() -> None:
    requests = [request(0, 0), request(1, 1), request(2, 0), request(3, 2), request(4, 0)]
    assert dealt_in_turn(requests, 2) == [4, 1]


def test_in_real_time_the_hour_is_a_minute() -> None:
    assert Settings(virtual_time=False).scale * 3600 == 60


@pytest.mark.parametrize("ttl_s", [20, 21, 39, 60, 100, 600, 3600])
def test_a_ttl_ends_amid_a_stretch_and_none_is_much_longer_than_others(ttl_s: int) -> None:
    tick_s = Settings(ttl_s=ttl_s).tick_s
    assert (ttl_s / tick_s) % 1 == pytest.approx(0.5)
    assert 13 <= tick_s <= 40
