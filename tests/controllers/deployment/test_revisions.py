from __future__ import annotations

from setpoint.controllers.deployment import revisions
from setpoint.testing.objects import deployment


def test_annotations_are_copied_except_bookkeeping() -> None:
    owner = deployment(
        "d", 1, annotations={"a": "1", "kubectl.kubernetes.io/last-applied-configuration": "{}", revisions.REVISION: "9"}
    )
    assert revisions.for_new(owner, {"a": "0", revisions.REVISION: "3"}, 3) == {"a": "1"}


def test_a_foreign_revision_is_left_alone() -> None:
    assert revisions.for_new(deployment("d", 1), {revisions.REVISION: "mine"}, 3) == {}


def test_a_higher_own_revision_stays() -> None:
    assert revisions.for_new(deployment("d", 1), {revisions.REVISION: "7"}, 3) == {}


def test_history_grows_and_forgets_its_oldest() -> None:
    assert revisions.extended_history("", "1") == "1"
    assert revisions.extended_history("1", "3") == "1,3"
    full = ",".join(str(n) for n in range(1000, 1400))
    assert len(full) == 1999
    longer = revisions.extended_history(full, "2000")
    assert longer.startswith("1001,")
    assert longer.endswith(",1399,2000")
