"""Which configurations are taken, and what is said of the others."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

from setpoint.storage.encryption import configuration
from setpoint.storage.encryption.configuration import chosen, parse, read

KEY = base64.b64encode(bytes(range(32))).decode()


def document(*rules: tuple[list[str], list[dict[str, Any]]]) -> dict[str, Any]:
    return {"resources": [{"resources": resources, "providers": providers} for resources, providers in rules]}


def aes(kind: str = "aesgcm", name: str = "k1", secret: str = KEY) -> dict[str, Any]:
    return {kind: {"keys": [{"name": name, "secret": secret}]}}


def complaint(*rules: tuple[list[str], list[dict[str, Any]]]) -> str:
    with pytest.raises(ValueError, match=r".") as raised:
        parse(document(*rules))
    assert KEY not in str(raised.value)
    return str(raised.value)


def test_the_most_special_rule_decides() -> None:
    rules = parse(
        document(
            (["secrets"], [aes(name="a")]), (["*.apps"], [aes(name="b")]), (["*."], [aes(name="c")]), (["*.*"], [aes(name="d")])
        )
    )

    def key_for(collection: str) -> str:
        rule = chosen(rules, collection)
        return rule.transformers[0].prefix.decode() if rule else ""

    assert key_for("secrets").endswith(":a:")
    assert key_for("deployments.apps").endswith(":b:")
    assert key_for("configmaps").endswith(":c:")
    assert key_for("widgets.example.com").endswith(":d:")
    assert chosen(rules[:1], "configmaps") is None


def test_what_is_wrong_is_said_with_its_path_and_without_the_key() -> None:
    short = base64.b64encode(b"password").decode()
    text = complaint((["secrets"], [aes("aescbc", secret=short)]))
    assert text == (
        'resources[0].providers[0].aescbc.keys[0].secret: Invalid value: "REDACTED": '
        "secret is not of the expected length, got 8, expected one of [16 24 32]"
    )
    assert "secrets must be base64 encoded" in complaint((["secrets"], [aes(secret="?")]))
    assert "resources[0].providers[0].aesgcm.keys[0].name: Required value" in complaint((["secrets"], [aes(name="")]))
    assert "more than one provider" in complaint((["secrets"], [aes() | {"identity": {}}]))
    assert "resources[0].providers: Required value: at least one resources[0].providers is required" in complaint(
        (["secrets"], [])
    )
    assert "capital letters" in complaint((["Secrets"], [aes()]))
    assert "use '*.' to encrypt all the resources" in complaint((["*"], [aes()]))
    assert "overlapping resources" in complaint((["secrets", "*."], [aes()]))
    assert 'resource "secrets" is masked by earlier rule "*."' in complaint((["*."], [aes()]), (["secrets"], [aes()]))
    assert "Use 'events' instead" in complaint((["events.events.k8s.io"], [aes()]))


def kms(**fields: Any) -> dict[str, Any]:
    return {"kms": {"apiVersion": "v2", "name": "k", "endpoint": "unix:///tmp/kms.sock", **fields}}


def test_key_managers_and_secretbox_are_taken() -> None:
    (rule,) = parse(document((["secrets"], [kms(timeout="1m30s"), aes("secretbox"), {"identity": {}}])))
    assert [each.prefix for each in rule.transformers] == [b"k8s:enc:kms:v2:k:", b"k8s:enc:secretbox:v1:k1:", b""]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"name": ""}, "kms.name: Required value: name is a mandatory field for a provider"),
        ({"name": "a:b"}, "kms.name: Invalid value: \"a:b\": invalid KMS provider name a:b, must not contain ':'"),
        ({"endpoint": ""}, 'kms.endpoint: Invalid value: "": endpoint is a mandatory field for a kms'),
        ({"endpoint": "tcp://x"}, 'unsupported scheme "tcp" for KMS provider, only unix is supported'),
        ({"timeout": "0s"}, "timeout should be a positive value"),
        ({"timeout": "soon"}, "timeout should be a positive value"),
        ({"cachesize": 7}, "kms.cachesize: Invalid value: 7: cachesize is not supported in v2"),
        ({"apiVersion": "v3"}, "for KMS provider, only v1 and v2 are supported"),
        ({"apiVersion": "v1"}, "KMSv1 is deprecated and will only receive security updates going forward. Use KMSv2 instead."),
        ({"apiVersion": None}, "KMSv1 is deprecated"),
        ({"secret": "x"}, "unknown field"),
    ],
)
def test_what_is_wrong_with_a_key_manager(fields: dict[str, Any], why: str) -> None:
    assert why in complaint((["secrets"], [kms(**fields)]))


def test_several_complaints_are_a_list_as_kubernetes_writes_it() -> None:
    text = complaint((["secrets"], [kms(), kms(), {}]))
    assert text == (
        '[resources[0].providers[1].kms.name: Invalid value: "k": duplicate KMS provider name k, names must be unique, '
        "resources[0].providers[2]: Invalid value: {}: provider does not contain any of the expected providers: "
        "KMS, AESGCM, AESCBC, Secretbox, Identity]"
    )
    short = base64.b64encode(bytes(16)).decode()
    assert "got 16, expected one of [32]" in complaint((["secrets"], [aes("secretbox", secret=short)]))


@pytest.mark.parametrize("provider", ["kms", "secretbox"])
def test_what_a_provider_needs_is_said_when_the_file_is_read(provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(configuration, "find_spec", lambda _: None)
    given = kms() if provider == "kms" else aes("secretbox")
    assert f"pip install 'setpoint[{provider}]'" in complaint((["secrets"], [given]))


def test_a_file_is_not_quoted(tmp_path: Path) -> None:
    file = tmp_path / "encryption.yaml"
    file.write_text(f"kind: EncryptionConfiguration\nresources: [secret: {KEY}: x")
    with pytest.raises(ValueError, match="no YAML: line 2") as raised:
        read(file)
    assert KEY not in str(raised.value)
    file.write_text("kind: ConfigMap")
    with pytest.raises(ValueError, match="expected an EncryptionConfiguration"):
        read(file)
