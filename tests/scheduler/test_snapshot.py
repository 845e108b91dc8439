from __future__ import annotations

from collections.abc import Iterable

from setpoint.scheduler.board import MARKS, Board
from setpoint.scheduler.candidates import Candidates
from setpoint.scheduler.snapshot import Snapshot
from setpoint.testing.scheduling import node, pod


def images(*names: str) -> dict[str, list[dict[str, object]]]:
    return {"images": [{"names": [name], "sizeBytes": 1} for name in names]}


def test_nothing_is_kept_of_claims_and_images_that_came_and_went() -> None:
    snapshot = Snapshot()
    for number in range(3):
        snapshot.put_node(node("n", status=images("always", f"once-{number}")))
        volumes = [{"name": "v", "persistentVolumeClaim": {"claimName": f"claim-{number}"}}]
        user = pod(f"p-{number}", nodeName="n", volumes=volumes)
        snapshot.put_pod(user)
        assert snapshot.claim_uses == {f"d/claim-{number}": 1}
        snapshot.remove_pod(user.metadata.uid)
    assert snapshot.image_nodes == {"always": 1, "once-2": 1}
    snapshot.remove_node("n")
    snapshot.put_node(node("n", status=images("new")))
    assert (snapshot.image_nodes, snapshot.claim_uses) == ({"new": 1}, {})


def test_a_node_that_went_while_its_pods_stay_keeps_no_images() -> None:
    snapshot = Snapshot()
    snapshot.put_node(node("n", status=images("a")))
    snapshot.put_pod(pod("p", nodeName="n"))
    snapshot.remove_node("n")
    snapshot.put_node(node("n", status=images("b")))
    assert snapshot.image_nodes == {"b": 1}


def test_a_board_remembers_only_so_many_marks() -> None:
    snapshot, board = Snapshot(), Board()
    board.same_marks = {(number,): (number,) for number in range(MARKS)}
    board.catch_up(snapshot)
    assert len(board.same_marks) == MARKS
    board.same_marks[(-1,)] = (-1,)
    board.catch_up(snapshot)
    assert not board.same_marks


def read(snapshot: Snapshot, names: Iterable[str], column: list[int]) -> list[int]:
    return [*Candidates(snapshot.get(name) for name in names if snapshot.get(name) is not None).gather(column)]  # type: ignore[misc]  # those that are None are left out


def test_columns_are_read_for_none_one_or_many_nodes() -> None:
    snapshot = Snapshot()
    for name in "abc":
        snapshot.put_node(node(name))
    column = [10, 11, 12]
    assert [read(snapshot, names, column) for names in ("", "b", "ca")] == [[], [11], [12, 10]]
