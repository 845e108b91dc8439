"""How often Kubernetes complains about the metadata of a changed object: kind by kind, by history."""

from __future__ import annotations

import pytest
from tests.apiserver.conftest import Api
from tests.registry.builders import Json

_CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
_VOLUME = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/a"}}
_TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


@pytest.mark.parametrize(
    ("place", "obj", "times"),
    [
        ("namespaces/default/configmaps", {}, 4),
        ("namespaces/default/endpoints", {}, 4),
        ("namespaces/default/events", {"involvedObject": {"namespace": "default"}}, 2),
        ("namespaces/default/limitranges", {}, 3),
        ("namespaces/default/persistentvolumeclaims", {"spec": _CLAIM}, 5),
        ("namespaces/default/podtemplates", {"template": _TEMPLATE}, 3),
        ("namespaces/default/replicationcontrollers", {"spec": {"template": _TEMPLATE}}, 4),
        ("namespaces/default/resourcequotas", {}, 3),
        ("namespaces/default/secrets", {}, 4),
        ("namespaces/default/serviceaccounts", {}, 4),
        ("namespaces/default/services", {"spec": {"ports": [{"port": 80}]}}, 4),
        ("namespaces", {}, 4),
        ("nodes", {}, 4),
        ("persistentvolumes", {"spec": _VOLUME}, 4),
    ],
)
async def test_causes_repeat_and_the_message_does_not(api: Api, place: str, obj: Json, times: int) -> None:
    await api(f"POST /api/v1/{place}", {"metadata": {"name": "x"}, **obj})
    labels = await api.merge(f"/api/v1/{place}/x", {"metadata": {"labels": {"a": "b c"}}}, code=422)
    assert [cause["field"] for cause in labels["details"]["causes"]] == ["metadata.labels"] * times
    assert labels["message"].count("metadata.labels") == 1
    finalizers = {"metadata": {"finalizers": ["odd"]}}
    if times > 2:  # twice, Kubernetes looks at what all kinds have in common
        words = await api.merge(f"/api/v1/{place}/x", finalizers, code=422)
        assert [cause["field"] for cause in words["details"]["causes"]] == ["metadata.finalizers[0]"] * (times - 2)
    else:
        await api.merge(f"/api/v1/{place}/x", finalizers)
