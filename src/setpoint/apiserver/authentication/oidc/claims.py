"""From verified claims to a user. Source: Kubernetes `plugin/pkg/authenticator/token/oidc/oidc.go`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authentication.rejected import Rejected

if TYPE_CHECKING:
    from setpoint.api.machinery.cel.expression import Expression
    from setpoint.apiserver.authentication.configuration import Issuer

Claims = Mapping[str, Any]
_CREDENTIAL = "authentication.kubernetes.io/credential-id"


class ClaimExpression:
    """A CEL expression over `claims` or `user`, compiled when first needed."""

    def __init__(self, text: str, variable: str) -> None:
        self.text = text
        self._variable = variable

    @cached_property
    def _compiled(self) -> Expression:
        from setpoint.apiserver.authentication.oidc.expressions import compiled

        return compiled(self.text, self._variable)

    def value(self, of: Mapping[str, Any]) -> Any:
        """What it evaluates to; raises Rejected."""
        outcome = self._compiled.evaluate([of])
        if outcome.error:
            raise Rejected(f"oidc: error evaluating expression: expression '{self.text}' resulted in error: {outcome.error}")
        return outcome.value


class Mapped(Struct, frozen=True):
    """Where a part of the user comes from: a claim, with what is put before it, or an expression; or nowhere."""

    claim: str = ""
    prefix: str = ""
    expression: ClaimExpression | None = None


class ExtraMapping(Struct, frozen=True):
    """One extra field of the user."""

    key: str
    expression: ClaimExpression


class ValidationRule(Struct, frozen=True):
    """What must be true, and what is said where it is not."""

    expression: ClaimExpression
    message: str = ""


def user_of(claims: Claims, issuer: Issuer) -> UserInfo:
    """The user of verified claims; raises Rejected with the reason."""
    name = _username(claims, issuer.username)
    groups = _groups(claims, issuer.groups)
    uid = _uid(claims, issuer.uid)
    extra = {each.key: values for each in issuer.extra if (values := _texts(each.expression.value(claims), each.key))}
    if token_id := claims.get("jti"):
        extra[_CREDENTIAL] = (f"JTI={token_id}",)
    _check_required(claims, issuer.required_claims)
    _check("oidc: error validating claims", issuer.claim_rules, claims)
    user = UserInfo(name, uid, groups, extra)
    if issuer.user_rules:
        told = {"username": name, "uid": uid, "groups": list(groups), "extra": {key: list(held) for key, held in extra.items()}}
        _check("oidc: error validating user", issuer.user_rules, told)
    return user


def _username(claims: Claims, mapped: Mapped) -> str:
    if mapped.expression is not None:
        name = mapped.expression.value(claims)
        if not isinstance(name, str):
            raise Rejected("oidc: username expression must return a string")
        if not name:
            raise Rejected("oidc: empty username via CEL expression is not allowed")
        return name
    name = _text(claims, mapped.claim)
    if mapped.claim == "email" and "email_verified" in claims and claims["email_verified"] is not True:
        raise Rejected("oidc: email not verified")
    return f"{mapped.prefix}{name}"


def _text(claims: Claims, claim: str) -> str:
    if claim not in claims:
        raise Rejected(f'oidc: parse username claims "{claim}": claim not present')
    value = claims[claim]
    if not isinstance(value, str):
        raise Rejected(f'oidc: parse username claims "{claim}": claim is not a string')
    return value


def _groups(claims: Claims, mapped: Mapped) -> tuple[str, ...]:
    if mapped.expression is not None:
        return _texts(mapped.expression.value(claims), "groups")
    if not mapped.claim or mapped.claim not in claims:
        return ()
    held = claims[mapped.claim]
    found = [held] if isinstance(held, str) else held
    if not isinstance(found, list) or not all(isinstance(group, str) for group in found):
        raise Rejected(f'oidc: parse groups claim "{mapped.claim}": expected a string or a list of strings')
    return tuple(f"{mapped.prefix}{group}" for group in found)


def _uid(claims: Claims, mapped: Mapped) -> str:
    if mapped.expression is None:
        return _text(claims, mapped.claim) if mapped.claim else ""
    uid = mapped.expression.value(claims)
    if not isinstance(uid, str):
        raise Rejected("oidc: uid expression must return a string")
    return uid


def _texts(value: Any, what: str) -> tuple[str, ...]:
    """A text or a list of them, without empty ones."""
    if value is None:
        return ()
    found = [value] if isinstance(value, str) else value
    if not isinstance(found, Sequence) or not all(isinstance(text, str) for text in found):
        raise Rejected(f"oidc: error evaluating {what} claim expression: must return a string or a list of strings")
    return tuple(text for text in found if text)


def _check_required(claims: Claims, wanted: Mapping[str, str]) -> None:
    for claim, value in wanted.items():
        if claim not in claims:
            raise Rejected(f"oidc: required claim {claim} not present in ID token")
        if claims[claim] != value:
            raise Rejected(f"oidc: required claim {claim} value does not match")


def _check(what: str, rules: Sequence[ValidationRule], of: Mapping[str, Any]) -> None:
    for rule in rules:
        if rule.expression.value(of) is not True:
            said = f": {rule.message}" if rule.message else ""
            raise Rejected(f"{what}: validation expression '{rule.expression.text}' failed{said}")
