"""Seats and fair queues, without a server."""

from __future__ import annotations

from collections import Counter

import pytest

from setpoint.apiserver.flow_control import sharding
from setpoint.apiserver.flow_control.allocation import Bounds, Demand, Wish, allocate, bounds
from setpoint.apiserver.flow_control.dropped import Dropped
from setpoint.apiserver.flow_control.levels import Level, Queuing, Waiter


def level(limit: int, queuing: Queuing | None) -> Level:
    made = Level("l", 0.0)
    made.bounds = Bounds(limit, limit, limit)
    made.configure(queuing, 0.0)
    made.set_limit(limit, 0.0)
    return made


def enqueue(of: Level, user: str, hand: tuple[int, ...], width: int = 1) -> Waiter | None:
    queue = of.full(hand)
    if queue is None:
        return None
    waiter = Waiter("s", user, width, 0.0)
    of.wait(queue, waiter, 0.0)
    return waiter


def test_a_level_without_queues_refuses_what_does_not_fit() -> None:
    made = level(2, None)
    made.take(1)
    made.take(1)
    assert not made.fits(1)
    assert made.full(()) is None


def test_the_oldest_of_a_queue_gets_the_seat_that_is_left() -> None:
    made = level(1, Queuing(queues=1, hand=1, length=3))
    made.take(1)
    waiters = [enqueue(made, "u", (0,)) for _ in range(3)]
    assert enqueue(made, "u", (0,)) is None
    assert [each.admitted.is_set() for each in waiters if each] == [False, False, False]
    made.done(1, 1.0)
    assert [each.admitted.is_set() for each in waiters if each] == [True, False, False]
    assert (made.waiting, made.executing, made.seats) == (2, 1, 1)


def test_a_flow_with_a_thousand_requests_gets_no_more_than_one_with_ten() -> None:
    made = level(4, Queuing(queues=8, hand=1, length=2000))
    for _ in range(4):
        made.take(1)
    heavy = [enqueue(made, "heavy", (0,)) for _ in range(1000)]
    light = [enqueue(made, "light", (1,)) for _ in range(10)]
    running, now, order = 4, 0.0, []
    inside: list[Waiter] = []
    for _ in range(30):
        now += 0.01
        if running:
            running -= 1
            made.done(1, now)
        else:
            made.finish(inside.pop(0), now)
        for waiter in [*heavy, *light]:
            if waiter is not None and waiter.admitted.is_set() and waiter not in inside and waiter not in order:
                inside.append(waiter)
                order.append(waiter)
    served = Counter(waiter.distinguisher for waiter in order)
    assert served["light"] == 10
    assert served["heavy"] == 20
    assert {waiter.distinguisher for waiter in order[:4]} == {"heavy", "light"}


def test_a_wide_request_is_served_when_its_seats_are_free() -> None:
    made = level(4, Queuing(queues=2, hand=1, length=10))
    for _ in range(4):
        made.take(1)
    wide = enqueue(made, "u", (0,), width=3)
    made.done(1, 1.0)
    made.done(1, 1.0)
    assert wide is not None
    assert not wide.admitted.is_set()
    made.done(1, 1.0)
    assert wide.admitted.is_set()
    assert made.seats == 4


def test_a_request_wider_than_the_level_runs_alone() -> None:
    made = level(2, Queuing(queues=1, hand=1, length=10))
    made.take(1)
    wide = enqueue(made, "u", (0,), width=5)
    assert wide is not None
    assert not wide.admitted.is_set()
    made.done(1, 1.0)
    assert wide.admitted.is_set()
    made.finish(wide, 2.0)
    assert (made.seats, made.executing, made.idle) == (0, 0, True)


def test_who_waits_survives_another_shape() -> None:
    made = level(1, Queuing(queues=4, hand=2, length=10))
    made.take(1)
    waiters = [enqueue(made, "u", (1, 3)) for _ in range(5)]
    made.configure(Queuing(queues=2, hand=1, length=10), 1.0)
    assert sum(len(queue.waiting) for queue in made.queues()) == 5
    made.set_limit(10, 2.0)
    assert all(waiter is not None and waiter.admitted.is_set() for waiter in waiters)


def test_giving_up_leaves_nothing() -> None:
    made = level(1, Queuing(queues=1, hand=1, length=10))
    made.take(1)
    waiter = enqueue(made, "u", (0,))
    assert waiter is not None
    made.give_up(waiter)
    assert (made.waiting, made.waiting_seats, made.demand.high) == (0, 0, 2)


@pytest.mark.parametrize(("deck", "hand"), [(128, 6), (64, 6), (16, 4), (4, 4), (1, 1)])
def test_hands_are_different_cards_and_all_alike_probable(deck: int, hand: int) -> None:
    drawn: Counter[int] = Counter()
    for number in range(2000):
        cards = sharding.deal(sharding.flow_hash("schema", f"user-{number}"), deck, hand)
        assert len(set(cards)) == hand
        drawn.update(cards)
    assert set(drawn) == set(range(deck))
    expected = 2000 * hand / deck
    assert all(0.5 * expected < count < 1.6 * expected for count in drawn.values())


def test_seats_by_shares_as_kubernetes_divides_them() -> None:
    assert bounds(600, 100, 245, 90, None) == Bounds(245, 24, 845)
    assert bounds(600, 20, 245, 50, None) == Bounds(49, 24, 649)
    assert bounds(600, 5, 245, 0, 0) == Bounds(13, 13, 13)
    assert bounds(600, 0, 0, 0, None) == Bounds(0, 0, 600)


def test_seats_are_lent_in_proportion_within_bounds() -> None:
    found = allocate(10, [Wish(0, 20, 2), Wish(0, 20, 6)])
    assert found is not None
    assert found[0] == pytest.approx([2.5, 7.5])
    found = allocate(10, [Wish(0, 20, 2), Wish(0, 6, 6)])
    assert found is not None
    assert found[0] == pytest.approx([4, 6])
    found = allocate(10, [Wish(8, 20, 8), Wish(0, 20, 8)])
    assert found is not None
    assert found[0] == pytest.approx([8, 2])
    assert allocate(10, [Wish(6, 7, 6), Wish(6, 7, 6)]) is None


def test_demand_over_time() -> None:
    demand = Demand(0.0)
    demand.high = 10
    high, smoothed = demand.close(10.0, spent=40.0, present=3)
    assert (high, demand.average, demand.deviation) == (10, 4.0, 2.0)
    assert smoothed == pytest.approx(6.0)
    high, smoothed = demand.close(20.0, spent=40.0, present=0)
    assert high == 3
    assert smoothed == pytest.approx(5.862)


def test_retry_after_grows_with_refusals_and_shrinks_without() -> None:
    dropped = Dropped()
    for second in range(1, 60):
        for _ in range(50):
            dropped.record(second)
    assert dropped.retry_after == 32
    for second in range(200, 260, 2):
        dropped.record(second)
    assert dropped.retry_after < 32
