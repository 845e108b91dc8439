"""Which configurations are taken, and what is said of the others."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest

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
    assert "at least one provider is required" in complaint((["secrets"], []))
    assert "capital letters" in complaint((["Secrets"], [aes()]))
    assert "use '*.' to encrypt all the resources" in complaint((["*"], [aes()]))
    assert "overlapping resources" in complaint((["secrets", "*."], [aes()]))
    assert "masked" in complaint((["*."], [aes()]), (["secrets"], [aes()]))
    assert "Use 'events' instead" in complaint((["events.events.k8s.io"], [aes()]))


@pytest.mark.parametrize("kind", ["kms", "secretbox"])
def test_providers_that_are_not_here_are_refused(kind: str) -> None:
    assert "not supported: use aesgcm" in complaint((["secrets"], [{kind: {"name": "x"}}, {"identity": {}}]))


def test_a_file_is_not_quoted(tmp_path: Path) -> None:
    file = tmp_path / "encryption.yaml"
    file.write_text(f"kind: EncryptionConfiguration\nresources: [secret: {KEY}: x")
    with pytest.raises(ValueError, match="no YAML: line 2") as raised:
        read(file)
    assert KEY not in str(raised.value)
    file.write_text("kind: ConfigMap")
    with pytest.raises(ValueError, match="expected an EncryptionConfiguration"):
        read(file)
