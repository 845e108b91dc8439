from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from setpoint.apiserver.authentication import Anonymous
from setpoint.apiserver.authentication.configuration import of_flags, parse, read
from setpoint.app.options import Oidc

GOOD: dict[str, Any] = {
    "issuer": {"url": "https://issuer", "audiences": ["a"]},
    "claimMappings": {"username": {"claim": "sub", "prefix": ""}},
}


def refused(**changes: Any) -> str:
    with pytest.raises(ValueError, match=r"jwt\[0\]") as error:
        parse({"jwt": [{**GOOD, **changes}]}, ("https://own",))
    return str(error.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"issuer": {"audiences": ["a"]}}, "jwt[0].issuer.url: Required value: URL is required"),
        ({"issuer": {"url": "http://x", "audiences": ["a"]}}, "URL scheme must be https"),
        ({"issuer": {"url": "https://u:p@x", "audiences": ["a"]}}, "URL must not contain a username or password"),
        ({"issuer": {"url": "https://own", "audiences": ["a"]}}, "URL must not overlap with disallowed issuers: [https://own]"),
        ({"issuer": {"url": "https://x"}}, "at least one jwt[0].issuer.audiences is required"),
        (
            {"issuer": {"url": "https://x", "audiences": ["a", "b"]}},
            "audienceMatchPolicy must be MatchAny for multiple audiences",
        ),
        ({"claimMappings": {}}, "jwt[0].claimMappings.username: Required value: claim or expression is required"),
        ({"claimMappings": {"username": {"claim": "a"}}}, "prefix is required when claim is set"),
        ({"claimMappings": {"username": {"claim": "a", "expression": "b"}}}, "claim and expression can't both be set"),
        ({"claimMappings": {"username": {"expression": "claims.a +"}}}, "compilation failed: "),
        ({"claimMappings": {"username": {"expression": "1"}}}, "must evaluate to string"),
        ({"claimMappings": {"username": {"expression": "claims.email"}}}, "claims.email_verified must be used"),
        (
            {"claimMappings": {**GOOD["claimMappings"], "extra": [{"key": "k8s.io/x", "valueExpression": "'a'"}]}},
            "are reserved by Kubernetes",
        ),
        ({"claimValidationRules": [{}]}, "claim or expression is required"),
        ({"claimValidationRules": [{"expression": "1"}]}, "must evaluate to bool"),
        ({"userValidationRules": [{"expression": "user.nothing"}]}, "undefined field 'nothing'"),
    ],
)
def test_what_cannot_hold_is_refused_at_the_start(changes: dict[str, Any], said: str) -> None:
    assert said in refused(**changes)


def test_anonymous_may_be_limited_to_paths() -> None:
    found = parse({"anonymous": {"enabled": True, "conditions": [{"path": "/livez"}]}}, ()).anonymous
    assert found == Anonymous(True, frozenset({"/livez"}))
    with pytest.raises(ValueError, match="enabled should be set to true"):
        parse({"anonymous": {"enabled": False, "conditions": [{"path": "/livez"}]}}, ())


def test_a_file_must_be_an_authentication_configuration(tmp_path: Path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(
        "apiVersion: apiserver.config.k8s.io/v1beta1\nkind: AuthenticationConfiguration\nanonymous: {enabled: false}\n"
    )
    assert read(file, ()).anonymous == Anonymous(False)
    for text, why in (
        ("kind: Pod\n", "expected an AuthenticationConfiguration of apiserver.config.k8s.io/v1"),
        ("a: [", "config.yaml is no YAML"),
        ("- x\n", "config.yaml is no object"),
    ):
        file.write_text(text)
        with pytest.raises(ValueError, match=why):
            read(file, ())


def test_flags_say_the_same() -> None:
    [issuer] = of_flags(Oidc("https://x", "app", groups_claim="roles", required_claims=("hd=y",)), ()).issuers
    assert (issuer.username.prefix, issuer.groups.claim, issuer.required_claims) == ("https://x#", "roles", {"hd": "y"})
    assert issuer.algorithms == ("RS256",)
    assert of_flags(Oidc("https://x", "app", username_prefix="-"), ()).issuers[0].username.prefix == ""
    for wrong in (
        Oidc("https://x"),
        Oidc("http://x", "app"),
        Oidc("https://x", "app", required_claims=("hd",)),
        Oidc("https://x", "app", signing_algs=("HS256",)),
    ):
        with pytest.raises(ValueError, match="oidc"):
            of_flags(wrong, ())
