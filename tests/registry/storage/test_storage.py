"""Storage: rules that the recordings do not reach."""

from __future__ import annotations

from typing import Any

import pytest
from tests.registry.builders import complaints, context

from setpoint.registry.scheduling.priority_class import PriorityClassStrategy
from setpoint.registry.storage.csi_driver import CSIDriverStrategy
from setpoint.registry.storage.csi_node import CSINodeStrategy
from setpoint.registry.storage.csi_storage_capacity import CSIStorageCapacityStrategy
from setpoint.registry.storage.storage_class import StorageClassStrategy, VolumeAttributesClassStrategy
from setpoint.registry.storage.volume_attachment import VolumeAttachmentStrategy, validate_attachment_status

Json = dict[str, Any]


def node(**driver: Any) -> Json:
    return {"metadata": {"name": "n"}, "spec": {"drivers": [{"name": "d.example", "nodeID": "i", **driver}]}}


def test_only_the_number_of_volumes_changes_in_place() -> None:
    assert complaints(CSINodeStrategy(), node(allocatable={"count": 2}), node(allocatable={"count": 1})) == []
    assert complaints(CSINodeStrategy(), node(topologyKeys=["a"]), node())


def test_tokens_without_a_place_are_warned_of() -> None:
    strategy = CSIDriverStrategy()
    spec: Json = {"tokenRequests": [{"audience": "a"}]}
    assert strategy.warnings_on_create(context(), {"spec": spec})
    assert strategy.warnings_on_create(context(), {"spec": {**spec, "serviceAccountTokenInSecrets": True}}) == []


def test_old_labels_of_nodes_are_warned_of() -> None:
    terms = [{"matchLabelExpressions": [{"key": "beta.kubernetes.io/arch", "values": ["a"]}]}]
    [warning] = StorageClassStrategy().warnings_on_create(context(), {"allowedTopologies": terms})
    assert warning.startswith("allowedTopologies[0].matchLabelExpressions[0].key: deprecated since v1.14")


def test_parameters_of_no_size_beyond_the_limit() -> None:
    obj = {"metadata": {"name": "c"}, "provisioner": "p", "parameters": {"a": "x" * (256 * 1024)}}
    assert complaints(StorageClassStrategy(), obj) == ["parameters: Too long: may not be more than 262144 bytes"]


def test_words_left_empty_in_classes() -> None:
    stored = {"metadata": {"name": "c"}, "provisioner": "p", "reclaimPolicy": "", "volumeBindingMode": "Immediate"}
    assert complaints(StorageClassStrategy(), stored) == []
    ranked = {"metadata": {"name": "c"}, "value": 1, "preemptionPolicy": ""}
    assert complaints(PriorityClassStrategy(), ranked) == ["preemptionPolicy: Required value"]


def test_what_went_wrong_with_an_attachment() -> None:
    error = {"message": "x" * 1025, "errorCode": -1}
    told = [
        "status.attachError.message: Too long: may not be more than 262144 bytes",
        "status.attachError.errorCode: Invalid value: -1: must be between 0 and 2147483647, inclusive",
    ]
    assert list(map(str, validate_attachment_status({"status": {"attachError": error}}, {}))) == told * 2


def test_old_labels_of_nodes_are_warned_of_in_topologies_too() -> None:
    expressions = [{"key": "beta.kubernetes.io/os", "operator": "Exists"}, {"key": "zone", "operator": "Exists"}]
    topology = {"matchExpressions": expressions, "matchLabels": {"beta.kubernetes.io/arch": "a", "rack": "b"}}
    assert CSIStorageCapacityStrategy().warnings_on_create(context(), {"nodeTopology": topology}) == [
        'nodeTopology.matchExpressions[0].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead',
        'nodeTopology.matchLabels.beta.kubernetes.io/arch: deprecated since v1.14; use "kubernetes.io/arch" instead',
    ]


def attachment(volume: Json) -> Json:
    return {"metadata": {"name": "a"}, "spec": {"attacher": "a.example", "nodeName": "n", "source": {"inlineVolumeSpec": volume}}}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({}, ""),
        ({"capacity": {"storage": "1Gi"}}, "capacity: Forbidden: may not be specified in the context of inline volumes"),
        ({"storageClassName": "s"}, "storageClassName: Forbidden: may not be specified in the context of inline volumes"),
        ({"accessModes": []}, "accessModes: Required value"),
        ({"volumeMode": "Block"}, "volumeMode: Forbidden: may not specify volumeMode other than Filesystem in the context"),
        ({"persistentVolumeReclaimPolicy": "Delete"}, "persistentVolumeReclaimPolicy: Forbidden: may only be Retain in the"),
        ({"csi": {"driver": "d.example"}}, "csi.volumeHandle: Required value"),
    ],
)
def test_volumes_without_an_object_of_their_own(change: Json, complaint: str) -> None:
    volume = {"accessModes": ["ReadWriteOnce"], "csi": {"driver": "d.example", "volumeHandle": "h"}, **change}
    told = complaints(VolumeAttachmentStrategy(), attachment(volume))
    assert [text.startswith(f"spec.source.inlineVolumeSpec.{complaint}") for text in told] == ([True] if complaint else [])


def test_what_is_checked_twice_is_told_twice() -> None:
    told = complaints(CSINodeStrategy(), node(nodeID=""), node())
    assert [text.partition(": ")[0] for text in told] == ["spec.drivers[0].nodeID"] * 2 + ["spec.drivers"]
    changed = {"metadata": {"name": "c"}, "driverName": "Bad!", "parameters": {}}
    told = complaints(VolumeAttributesClassStrategy(), changed, {**changed, "driverName": "d", "parameters": {"a": "b"}})
    assert [text.partition(": ")[0] for text in told] == ["driverName", "parameters"] * 2


def test_tokens_are_warned_of_again_when_they_change() -> None:
    old, new = ({"spec": {"tokenRequests": [{"audience": name}]}} for name in ("a", "b"))
    assert CSIDriverStrategy().warnings_on_update(context(), new, old)
    assert CSIDriverStrategy().warnings_on_update(context(), new, new) == []
