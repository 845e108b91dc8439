"""PersistentVolumes and their claims: sources, changes, warnings."""

from __future__ import annotations

from copy import deepcopy

import pytest
from tests.registry.builders import Json, complaints, context, created

from setpoint.registry.persistent_volume.strategy import PersistentVolumeStatusStrategy, PersistentVolumeStrategy
from setpoint.registry.persistent_volume_claim.strategy import PersistentVolumeClaimStrategy, persistent_volume_claim_status

VOLUMES, CLAIMS = PersistentVolumeStrategy(), PersistentVolumeClaimStrategy()


def volume(**spec: object) -> Json:
    base: Json = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
    return {"kind": "PersistentVolume", "metadata": {"name": "v"}, "spec": {**base, **spec}}


def claim(**spec: object) -> Json:
    base: Json = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"kind": "PersistentVolumeClaim", "metadata": {"name": "c"}, "spec": {**base, **spec}}


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({}, ["spec: Required value: must specify a volume type"]),
        (
            {"csi": {"driver": "d.example.com", "nodePublishSecretRef": {"name": "a"}}},
            ["spec.csi.volumeHandle: Required value", "spec.csi.nodePublishSecretRef.namespace: Required value"],
        ),
        ({"gcePersistentDisk": {}}, ["spec.persistentDisk.pdName: Required value"]),
        (
            {"hostPath": {"path": "/a"}, "cephfs": {"monitors": ["m"]}},
            ["spec.cephFS: Forbidden: may not specify more than 1 volume type"],
        ),
        (
            {"azureFile": {"secretName": "a", "shareName": "b", "secretNamespace": ""}},
            ["spec.azureFile.secretNamespace: Required value"],
        ),
        (
            {"iscsi": {"targetPortal": "a", "iqn": "b", "secretRef": {}, "initiatorName": "c"}},
            [
                'spec.iscsi.iqn: Invalid value: "b": must be valid format',
                "spec.iscsi.secretRef.name: Required value",
                'spec.iscsi.initiatorname: Invalid value: "c": must be valid format',
            ],
        ),
        ({"cinder": {"volumeID": "a", "secretRef": {"name": "a"}}}, ["spec.cinder.secretRef.namespace: Required value"]),
        (
            {"hostPath": {"path": "/a"}, "volumeAttributesClassName": ""},
            [
                "spec.volumeAttributesClassName: Required value: an empty string is disallowed",
                "spec.csi: Required value: has to be specified when using volumeAttributesClassName",
            ],
        ),
    ],
)
def test_sources_of_volumes(spec: Json, wanted: list[str]) -> None:
    assert complaints(VOLUMES, volume(**spec)) == wanted


def test_a_volume_may_learn_its_expand_secret_and_final_labels_of_nodes() -> None:
    old = created(VOLUMES, volume(csi={"driver": "d", "volumeHandle": "h"}))
    old["spec"]["nodeAffinity"] = affinity("beta.kubernetes.io/os")
    new = deepcopy(old)
    new["spec"]["csi"]["controllerExpandSecretRef"] = {"name": "a", "namespace": "b"}
    new["spec"]["nodeAffinity"] = affinity("kubernetes.io/os")
    assert complaints(VOLUMES, new, old) == []
    new["spec"]["nodeAffinity"] = affinity("kubernetes.io/arch")
    assert [text.partition(":")[0] for text in complaints(VOLUMES, new, old)] == ["nodeAffinity"]


def affinity(key: str) -> Json:
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "Exists"}]}]}}


def test_warnings_of_volumes() -> None:
    obj = created(
        VOLUMES,
        volume(
            persistentVolumeReclaimPolicy="Recycle",
            rbd={"monitors": ["m"], "image": "i"},
            nodeAffinity=affinity("beta.kubernetes.io/os"),
        ),
    )
    obj["metadata"]["annotations"] = {"volume.beta.kubernetes.io/storage-class": "x"}
    assert VOLUMES.warnings_on_create(context(), obj) == [
        (
            'metadata.annotations[volume.beta.kubernetes.io/storage-class]: deprecated since v1.8; use "storageClassName"'
            " attribute instead"
        ),
        (
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is"
            " to use dynamic provisioning."
        ),
        (
            "spec.nodeAffinity.required.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/os is deprecated since"
            ' v1.14; use "kubernetes.io/os" instead'
        ),
        "spec.rbd: deprecated in v1.28, non-functional in v1.31+",
    ]


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"dataSource": {"kind": "PersistentVolumeClaim", "name": "a"}}, {"dataSource", "dataSourceRef"}),
        ({"dataSource": {"kind": "Other", "apiGroup": "example.com", "name": "a"}}, set()),
        ({"dataSourceRef": {"kind": "Other", "apiGroup": "example.com", "name": "a"}}, {"dataSource", "dataSourceRef"}),
        ({"dataSourceRef": {"kind": "PersistentVolumeClaim", "name": "a", "namespace": "b"}}, set()),
    ],
)
def test_data_sources_of_claims(given: Json, kept: set[str]) -> None:
    assert {"dataSource", "dataSourceRef"} & set(created(CLAIMS, claim(**given))["spec"]) == kept


def test_changes_of_claims() -> None:
    old = created(CLAIMS, claim(volumeAttributesClassName="gold"))
    old["status"] = {"phase": "Bound", "capacity": {"storage": "1Gi"}}
    new = deepcopy(old)
    del new["spec"]["volumeAttributesClassName"]
    why = "spec.volumeAttributesClassName: Forbidden: update from non-nil value to nil is forbidden"
    assert complaints(CLAIMS, new, old)[-1] == why
    new = deepcopy(old)
    new["metadata"]["annotations"] = {"volume.beta.kubernetes.io/storage-class": "x"}
    why = 'metadata.annotations.volume.beta.kubernetes.io/storage-class: Invalid value: "x": field is immutable'
    assert complaints(CLAIMS, new, old) == [why]


@pytest.mark.parametrize("field", ["dataSource", "dataSourceRef"])
def test_a_claim_is_replaced_by_what_it_was_made_of(field: str) -> None:
    given = claim(**{field: {"kind": "PersistentVolumeClaim", "name": "a"}})
    old = created(CLAIMS, deepcopy(given))
    assert complaints(CLAIMS, given, old) == []
    assert given["spec"] == old["spec"]


def test_the_group_of_a_source_is_not_asked_about_again() -> None:
    old = created(CLAIMS, claim(dataSourceRef={"kind": "Other", "apiGroup": "example.com", "name": "a"}))
    new = deepcopy(old)
    new["spec"]["dataSource"]["apiGroup"] = new["spec"]["dataSourceRef"]["apiGroup"] = "Bad_"
    (text,) = complaints(CLAIMS, new, old)
    assert text.startswith("spec: Forbidden: spec is immutable after creation")


def test_no_class_of_attributes_may_stay_empty() -> None:
    old = created(CLAIMS, claim(volumeAttributesClassName=""))
    assert complaints(CLAIMS, deepcopy(old), old) == []


def test_a_bound_claim_without_requests_has_changed() -> None:
    old = created(CLAIMS, claim())
    old["status"] = {"phase": "Bound", "capacity": {"storage": "1Gi"}}
    new = deepcopy(old)
    del new["spec"]["resources"]
    fields = [text.partition(": ")[0] for text in complaints(CLAIMS, new, old)]
    assert fields == ["spec.resources[storage]", "spec.resources[storage]", "spec", "spec.resources.requests.storage"]


def test_status_of_claims() -> None:
    old = created(CLAIMS, claim())
    new = deepcopy(old)
    new["status"] = {"allocatedResourceStatuses": {"cpu": "Odd"}, "allocatedResources": {"storage": "-1"}}
    assert [text.partition(":")[0] for text in complaints(persistent_volume_claim_status(), new, old)] == [
        "status.allocatedResourceStatus",
        "status.allocatedResourceStatus",
        "status.allocatedResources[storage]",
    ]


def test_fractions_of_bytes_are_warned_about() -> None:
    obj = created(CLAIMS, claim(resources={"requests": {"storage": "1500m"}}))
    assert CLAIMS.warnings_on_create(context(), obj) == [
        'spec.resources.requests[storage]: fractional byte value "1500m" is invalid, must be an integer'
    ]


def test_sources_of_volumes_have_the_defaults_of_pods() -> None:
    spec = created(VOLUMES, volume(rbd={"monitors": ["m"], "image": "i", "user": "u"}))["spec"]
    assert spec["rbd"] == {"monitors": ["m"], "image": "i", "pool": "rbd", "user": "u", "keyring": "/etc/ceph/keyring"}
    spec = created(VOLUMES, volume(azureDisk={"diskName": "d", "diskURI": "u"}))["spec"]
    assert spec["azureDisk"]["kind"] == "Shared"


def test_a_change_of_phase_is_timed_unless_the_writer_does_it() -> None:
    old = created(VOLUMES, volume(hostPath={"path": "/a"}))
    noted = old["status"]["lastPhaseTransitionTime"]
    for given, wanted in ((None, noted), (noted, noted), ("2020-01-01T00:00:00Z", "2020-01-01T00:00:00Z")):
        new = deepcopy(old)
        new["status"] = {"phase": "Bound", "lastPhaseTransitionTime": given}
        PersistentVolumeStatusStrategy().prepare_for_update(context(operation="UPDATE"), new, old)
        assert new["status"]["lastPhaseTransitionTime"] == wanted
