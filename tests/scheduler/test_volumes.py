"""Pods and their volumes: which nodes reach them, which claims are bound where, how many a node attaches."""

from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.types.core_v1 import PERSISTENTVOLUMECLAIMS, PERSISTENTVOLUMES, Pod
from setpoint.api.types.storage_v1 import CSIDRIVERS, CSINODES, CSISTORAGECAPACITIES, STORAGECLASSES
from setpoint.scheduler.cycle import NoFit
from setpoint.scheduler.profiles import Enabled, PluginSet, ProfileConfig, merged
from setpoint.testing.scheduling import Rig, expression, node, pod

BOUND = {"pv.kubernetes.io/bind-completed": "yes"}


def storage_class(rig: Rig, *, waits: bool = True, provisioner: str = "kubernetes.io/no-provisioner", **more: Any) -> None:
    mode = "WaitForFirstConsumer" if waits else "Immediate"
    rig.collections.put(
        STORAGECLASSES, {"metadata": {"name": "s"}, "provisioner": provisioner, "volumeBindingMode": mode, **more}
    )


def claim(rig: Rig, name: str = "c", *, volume: str = "", size: str = "1Gi", mode: str = "ReadWriteOnce", **meta: Any) -> None:
    annotations = {**(BOUND if volume else {}), **meta.pop("annotations", {})}
    spec = {"accessModes": [mode], "resources": {"requests": {"storage": size}}, "storageClassName": "s", "volumeName": volume}
    body = {"metadata": {"name": name, "namespace": "d", "uid": f"u-{name}", "annotations": annotations, **meta}, "spec": spec}
    rig.collections.put(PERSISTENTVOLUMECLAIMS, body)


def volume(rig: Rig, name: str = "v", *, host: str = "", size: str = "1Gi", labels: Any = None, **spec: Any) -> None:
    if host:
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression("host", "In", host)]}]}}
    spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": "s", **spec}
    rig.collections.put(
        PERSISTENTVOLUMES,
        {"metadata": {"name": name, "labels": labels or {}}, "spec": spec, "status": {"phase": "Available"}},
    )


def user(name: str = "p", *claims: str, **spec: Any) -> Pod:
    volumes = [{"name": each, "persistentVolumeClaim": {"claimName": each}} for each in claims or ("c",)]
    return pod(name, volumes=volumes, **spec)


@pytest.fixture
def hosts(rig: Rig) -> Rig:
    rig.nodes(*(node(f"n{number}", labels={"host": f"h{number}"}) for number in (1, 2)))
    return rig


def reason(rig: Rig, wanted: Pod) -> str:
    return str(rig.no_fit(wanted)).removeprefix("0/2 nodes are available: ").partition(". no new claims")[0]


class TestBinding:
    def test_a_missing_claim_refuses_all_nodes_at_once(self, hosts: Rig) -> None:
        assert str(hosts.no_fit(user())) == '0/2 nodes are available: persistentvolumeclaim "c" not found. not found'

    def test_an_ephemeral_claim_is_waited_for(self, hosts: Rig) -> None:
        wanted = pod("p", volumes=[{"name": "e", "ephemeral": {}}])
        message = 'waiting for ephemeral volume controller to create the persistentvolumeclaim "p-e"'
        assert message in str(hosts.no_fit(wanted))

    def test_an_unbound_claim_of_an_immediate_class(self, hosts: Rig) -> None:
        storage_class(hosts, waits=False)
        claim(hosts)
        assert "pod has unbound immediate PersistentVolumeClaims." in str(hosts.no_fit(user()))

    def test_a_bound_volume_is_reached_from_its_node(self, hosts: Rig) -> None:
        volume(hosts, host="h2")
        claim(hosts, volume="v")
        assert hosts.schedule(user()) == "n2"
        refused = user(nodeSelector={"host": "h1"})
        affinity, selector = "didn't match PersistentVolume's node affinity", "didn't match Pod's node affinity/selector"
        assert reason(hosts, refused) == f"1 node(s) {affinity}, 1 node(s) {selector}"

    def test_a_claim_that_waits_goes_where_a_volume_suits_it(self, hosts: Rig) -> None:
        storage_class(hosts)
        claim(hosts, size="2Gi")
        volume(hosts, "small", host="h1", size="1Gi")
        assert reason(hosts, user()) == "2 node(s) didn't find available persistent volumes to bind"
        volume(hosts, "large", host="h2", size="4Gi")
        assert hosts.schedule(user()) == "n2"

    def test_a_volume_on_its_way_is_not_taken_twice(self, hosts: Rig) -> None:
        storage_class(hosts)
        volume(hosts, host="h1")
        claim(hosts, "a")
        claim(hosts, "b")
        first = hosts.cycle.run(hosts.info(user("p", "a")))
        assert hosts.profile.reserve(first.state, first.state.info.pod, first.node) is None
        with pytest.raises(NoFit):
            hosts.schedule(user("q", "b"))
        hosts.profile.unreserve(first.state, first.state.info.pod, first.node)
        assert hosts.schedule(user("q", "b")) == "n1"

    def test_two_claims_need_two_volumes(self, hosts: Rig) -> None:
        storage_class(hosts)
        claim(hosts, "a")
        claim(hosts, "b")
        volume(hosts, "one", host="h1")
        volume(hosts, "two", host="h2")
        assert "didn't find available persistent volumes" in reason(hosts, user("p", "a", "b"))
        volume(hosts, "three", host="h1")
        assert hosts.schedule(user("p", "a", "b")) == "n1"

    def test_a_provisioner_makes_one_where_its_topology_allows(self, hosts: Rig) -> None:
        topology = [{"matchLabelExpressions": [{"key": "host", "values": ["h2"]}]}]
        storage_class(hosts, provisioner="example.com/p", allowedTopologies=topology)
        claim(hosts)
        assert hosts.schedule(user()) == "n2"

    def test_a_provisioner_that_reports_capacity_must_have_some(self, hosts: Rig) -> None:
        storage_class(hosts, provisioner="example.com/p")
        hosts.collections.put(CSIDRIVERS, {"metadata": {"name": "example.com/p"}, "spec": {"storageCapacity": True}})
        claim(hosts, size="5Gi")
        assert reason(hosts, user()) == "2 node(s) did not have enough free storage"
        where = {"matchLabels": {"host": "h1"}}
        capacity = {
            "metadata": {"name": "x", "namespace": "d"},
            "storageClassName": "s",
            "nodeTopology": where,
            "capacity": "5Gi",
        }
        hosts.collections.put(CSISTORAGECAPACITIES, capacity)
        assert hosts.schedule(user()) == "n1"

    def test_a_claim_with_a_chosen_node_stays_there(self, hosts: Rig) -> None:
        storage_class(hosts, provisioner="example.com/p")
        claim(hosts, annotations={"volume.kubernetes.io/selected-node": "n2"})
        assert hosts.schedule(user()) == "n2"


def test_a_reserved_volume_binds_the_claim_to_its_node(hosts: Rig) -> None:
    storage_class(hosts)
    claim(hosts)
    volume(hosts, "other", host="h1")
    volume(hosts, "reserved", host="h2", size="9Gi", accessModes=[], claimRef={"namespace": "d", "name": "c", "uid": "u-c"})
    assert hosts.schedule(user()) == "n2"
    refused = user(nodeSelector={"host": "h1"})
    assert "1 node(s) didn't find available persistent volumes to bind" in reason(hosts, refused)


def test_the_first_claim_that_cannot_be_used_is_named(hosts: Rig) -> None:
    for name in "ab":
        claim(hosts, name, deletionTimestamp="2026-01-01T00:00:00Z")
    assert 'persistentvolumeclaim "b" is being deleted' in str(hosts.no_fit(user("p", "b", "a")))


def test_a_claim_for_one_pod(hosts: Rig) -> None:
    volume(hosts)
    claim(hosts, volume="v", mode="ReadWriteOncePod")
    hosts.place(user("other", nodeName="n1"))
    message = "2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
    assert reason(hosts, user()) == message
    found = hosts.no_fit(user("important", priority=10)).victims
    assert found is not None
    assert [each.metadata.name for each in found.pods] == ["other"]


def test_a_disk_for_one_pod(hosts: Rig) -> None:
    disk = [{"name": "d", "gcePersistentDisk": {"pdName": "one"}}]
    hosts.place(pod("other", volumes=disk, nodeName="n1"))
    assert hosts.schedule(pod("p", volumes=disk)) == "n2"


def test_zones_of_volumes(rig: Rig) -> None:
    rig.nodes(*(node(zone, labels={"topology.kubernetes.io/zone": zone}) for zone in ("a", "b")))
    volume(rig, labels={"topology.kubernetes.io/zone": "b__c"})
    claim(rig, volume="v")
    assert rig.schedule(user()) == "b"
    refused = user(nodeSelector={"topology.kubernetes.io/zone": "a"})
    assert "1 node(s) had no available volume zone" in reason(rig, refused)


@pytest.mark.parametrize("label", ["", "a__", "a____b"])
def test_a_zone_label_with_an_empty_zone_is_not_heeded(rig: Rig, label: str) -> None:
    rig.nodes(node("c", labels={"topology.kubernetes.io/zone": "c"}))
    volume(rig, labels={"topology.kubernetes.io/zone": label})
    claim(rig, volume="v")
    assert rig.schedule(user()) == "c"


@pytest.mark.parametrize(
    ("mode", "message"),
    [(None, 'storageclass.storage.k8s.io "s" not found'), ("Immediate", "PersistentVolume had no name")],
)
def test_zones_of_a_claim_without_a_volume(mode: str | None, message: str) -> None:
    without = PluginSet(disabled=(Enabled("VolumeBinding"),))
    rig = Rig(config=ProfileConfig(everywhere=merged(without)))
    rig.nodes(node("a"))
    if mode:
        storage_class(rig, waits=False)
    claim(rig)
    assert str(rig.no_fit(user())).startswith(f"0/1 nodes are available: {message}. ")


def test_a_node_attaches_so_many_volumes(hosts: Rig) -> None:
    for name in ("a", "b"):
        volume(hosts, name, csi={"driver": "d", "volumeHandle": name})
        claim(hosts, name, volume=name)
    for name in ("n1", "n2"):
        drivers = [{"name": "d", "nodeID": name, "allocatable": {"count": 1}}]
        hosts.collections.put(CSINODES, {"metadata": {"name": name}, "spec": {"drivers": drivers}})
    hosts.place(user("p", "a", nodeName="n1"))
    assert hosts.fitting(user("q", "b")) == {"n2"}


def test_a_volume_that_is_attached_anyway_counts_once(hosts: Rig) -> None:
    volume(hosts, "a", csi={"driver": "d", "volumeHandle": "a"})
    claim(hosts, "a", volume="a")
    drivers = [{"name": "d", "nodeID": "n1", "allocatable": {"count": 1}}]
    hosts.collections.put(CSINODES, {"metadata": {"name": "n1"}, "spec": {"drivers": drivers}})
    hosts.place(user("p", "a", nodeName="n1"))
    assert hosts.schedule(user("q", "a", nodeSelector={"host": "h1"})) == "n1"
