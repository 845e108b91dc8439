"""What is remembered of pod specs stands for nothing but itself, and for other names of the token's volume."""

from __future__ import annotations

from typing import Any

from setpoint.registry.pod.known_specs import KnownSpecs


def pod(volume: str, source: str = "s", **metadata: Any) -> dict[str, Any]:
    volumes = [{"name": volume, "projected": {"sources": []}}, {"name": "own", "secret": {"secretName": source}}]
    mounts = [{"name": volume, "mountPath": "/token"}]
    return {"metadata": {"name": "p", **metadata}, "spec": {"volumes": volumes, "containers": [{"volumeMounts": mounts}]}}


def known(first: dict[str, Any], other: dict[str, Any]) -> bool:
    specs = KnownSpecs()
    specs.add(specs.text_of(first))
    return specs.text_of(other) in specs


def test_a_template_with_another_name_of_the_token_volume_is_known() -> None:
    assert known(pod("kube-api-access-abcde"), pod("kube-api-access-xyz42"))


def test_another_spec_is_not_known() -> None:
    assert not known(pod("kube-api-access-abcde"), pod("kube-api-access-abcde", source="t"))
    assert not known(pod("kube-api-access-abcde"), pod("kube-api-access-"))
    assert not known(pod("kube-api-access-abcde", source="kube-api-access-abcde"), pod("kube-api-access-abcdf", source="x"))
    assert not known(pod("kube-api-access-abcde", source="kube-api-access-abcde"), pod("kube-api-access-fghij", source=""))


def test_annotations_and_ephemeral_volumes_are_looked_at_each_time() -> None:
    annotated = pod("kube-api-access-abcde", annotations={"a": "b"})
    assert not known(annotated, annotated)
    claimed = pod("kube-api-access-abcde")
    claimed["spec"]["volumes"].append({"name": "e", "ephemeral": {}})
    assert not known(claimed, claimed)
