"""A request to go back is answered once, with an event, whatever comes of it."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.controllers.deployment import revisions
from setpoint.controllers.deployment.diff import diff
from setpoint.controllers.deployment.plan import Observed
from setpoint.controllers.deployment.rollback import REQUEST, Rollback
from setpoint.testing.objects import NOW, deployment, replica_set


def rolled_back(to: str, *numbers: int, **spec: Any) -> Rollback | None:
    """Of a Deployment whose new version has the highest number, with others of these numbers."""
    owner = deployment("d", 2, image="9", annotations={REQUEST: to, "note": "new", "own": "x"}, **spec)
    sets = [
        replica_set(f"r{number}", 0, owner=owner, image=str(number), annotations={revisions.REVISION: str(number), "note": "old"})
        for number in (*numbers, 9)
    ]
    return diff(Observed(owner, sets, {}, NOW)).rollback


@pytest.mark.parametrize(
    ("to", "numbers", "reason", "message"),
    [
        ("0", (2, 1), "DeploymentRollback", 'Rolled back deployment "d" to revision 2'),
        ("1", (2, 1), "DeploymentRollback", 'Rolled back deployment "d" to revision 1'),
        (
            "9",
            (2, 1),
            "DeploymentRollbackTemplateUnchanged",
            'The rollback revision contains the same template as current deployment "d"',
        ),
        ("5", (2, 1), "DeploymentRollbackRevisionNotFound", "Unable to find the revision to rollback to."),
        ("0", (), "DeploymentRollbackRevisionNotFound", "Unable to find last revision."),
    ],
)
def test_requests(to: str, numbers: tuple[int, ...], reason: str, message: str) -> None:
    back = rolled_back(to, *numbers)
    assert back is not None
    assert (back.event.reason, back.event.message) == (reason, message)
    assert back.patch["metadata"]["annotations"][REQUEST] is None
    assert (back.template is None) == (back.event.kind == "Warning")


def test_template_and_annotations_come_back() -> None:
    back = rolled_back("1", 1)
    assert back is not None
    template = back.patch["spec"]["template"]
    assert template["metadata"]["labels"] == {"app": "a"}
    assert template["spec"]["containers"][0]["image"] == "1"
    assert back.patch["metadata"]["annotations"] == {REQUEST: None, "note": "old", "own": None}


@pytest.mark.parametrize(("to", "spec"), [("x", {}), ("", {}), ("1", {"paused": True})])
def test_what_is_no_request_yet(to: str, spec: dict[str, Any]) -> None:
    assert rolled_back(to, 1, **spec) is None
