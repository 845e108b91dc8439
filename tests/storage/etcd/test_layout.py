from __future__ import annotations

import pytest

from setpoint.storage.backends.etcd import members
from setpoint.storage.backends.etcd.layout import Layout
from setpoint.storage.backends.etcd.stand_in import encode_unknown, name_of, reveal
from setpoint.storage.protocol import Encoded

PLACES = {
    "pods/default/web": "/registry/pods/default/web",
    "configmaps/kube-system/x": "/registry/configmaps/kube-system/x",
    "nodes/n1": "/registry/minions/n1",
    "services/default/web": "/registry/services/specs/default/web",
    "endpoints/default/web": "/registry/services/endpoints/default/web",
    "replicationcontrollers/default/rc": "/registry/controllers/default/rc",
    "ingresses.networking.k8s.io/default/i": "/registry/ingress/default/i",
    "ingressclasses.networking.k8s.io/i": "/registry/ingressclasses/i",
    "deployments.apps/default/web": "/registry/deployments/default/web",
    "leases.coordination.k8s.io/kube-system/l": "/registry/leases/kube-system/l",
    "clusterroles.rbac.authorization.k8s.io/system:node": "/registry/clusterroles/system:node",
    "events/default/e.1": "/registry/events/default/e.1",
    "servicenodeports/30001": "/registry/servicenodeports/30001",
    "customresourcedefinitions.apiextensions.k8s.io/widgets.example.com": (
        "/registry/apiextensions.k8s.io/customresourcedefinitions/widgets.example.com"
    ),
    "apiservices.apiregistration.k8s.io/v1.": "/registry/apiregistration.k8s.io/apiservices/v1.",
    "widgets.example.com/default/w": "/registry/example.com/widgets/default/w",
    "pods.metrics.example.com/default/w": "/registry/metrics.example.com/pods/default/w",
    "deployments.example.com/w": "/registry/example.com/deployments/w",
}


@pytest.mark.parametrize(("key", "place"), PLACES.items())
def test_keys_lie_where_kubernetes_lays_them(key: str, place: str) -> None:
    layout = Layout("/registry")
    assert layout.place(key).decode() == place
    assert layout.key(place.encode()) == key


def test_what_is_no_object_has_no_key() -> None:
    layout = Layout("registry/")
    assert layout.key(layout.own("writers/1")) == ""
    assert layout.key(b"/registry/pods") == ""
    assert layout.root == b"/registry/"
    assert layout.end > b"/registry/zzz"


def test_every_builtin_kind_goes_there_and_back() -> None:
    from setpoint.registry.table import minors

    layout = Layout("/registry")
    for row in minors.of_minor("1.36").resources:
        key = row.key("ns" if row.namespaced else "", "name")
        place = layout.place(key)
        assert layout.key(place) == key
        if row.group not in ("apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io", "authorization.k8s.io"):
            assert b"." not in place, place


@pytest.mark.parametrize(
    "text",
    [r'"\/', r"\/", '"resourceVersion":"1"', r"\\/", "\u2028/\x00", '\\"\\/'],
)
def test_no_text_of_a_user_is_taken_for_the_stand_in(text: str) -> None:
    import orjson

    obj = {"metadata": {"annotations": {text: text, "resourceVersion": text}}, "data": text}

    def encode(revision: int) -> Encoded:
        return Encoded(orjson.dumps({**obj, "metadata": {**obj["metadata"], "resourceVersion": str(revision)}}))  # type: ignore[dict-item]  # JSON

    stored, named = encode_unknown(encode, b"writer.1")
    assert named
    assert orjson.loads(stored.value)["metadata"]["annotations"] == obj["metadata"]["annotations"]  # type: ignore[index]  # JSON
    assert name_of(stored.value) == b"writer.1"
    assert reveal(stored.value, 42) == encode(42).value


def test_an_object_need_not_tell_its_revision() -> None:
    stored, named = encode_unknown(lambda _: Encoded(b"0"), b"writer.1")
    assert (stored.value, named, name_of(stored.value), reveal(b"0", 7)) == (b"0", False, b"", b"0")


def test_addresses() -> None:
    assert members.parse("etcd://a,b:1234,[::1]:99,[::2]") == (("a:2379", "b:1234", "[::1]:99", "[::2]:2379"), False)
    assert members.parse("etcds://a:1/") == (("a:1",), True)
    for wrong in ("http://a", "etcd://", "etcd://a,,b", "etcd://a:port", "etcd://:1", "etcd://a:0"):
        with pytest.raises(ValueError, match=r"is|neither"):
            members.parse(wrong)
