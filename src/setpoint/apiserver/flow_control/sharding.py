"""Shuffle sharding: each flow has a hand of a few queues out of many, so that one heavy flow fills few others' queues.

Source: apiserver `util/shufflesharding/dealer.go`, `util/flowcontrol/apf_controller.go` (the hash of a flow).
"""

from __future__ import annotations

from hashlib import sha256


def flow_hash(schema: str, distinguisher: str) -> int:
    """64 bits that stand for a flow."""
    digest = sha256(f"{schema}\0{distinguisher}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "little")


def deal(value: int, deck: int, hand: int) -> tuple[int, ...]:
    """`hand` different numbers below `deck`, told by the hash `value`: each set of them as probable as any other.

    Example: deck 4, hand 2, value 7: 7 % 4 is 3, 7 // 4 is 1, 1 % 3 is 1: the cards 3 and 1.
    """
    drawn: list[int] = []
    for number in range(hand):
        value, card = divmod(value, deck - number)
        drawn.append(card)
    cards = []
    for number, first in enumerate(drawn):
        card = first
        for before in reversed(drawn[:number]):
            if card >= before:
                card += 1
        cards.append(card)
    return tuple(cards)
