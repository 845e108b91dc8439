"""Kubernetes' AuthenticationConfiguration (`--authentication-config`), and the flags that say less of the same.

Which issuers' tokens are accepted, how their claims become users, and whether anybody is let in without a token. Everything is
checked when it is read, so that a server never starts with a rule that cannot hold.
Source: Kubernetes `apiserver/pkg/apis/apiserver` and its validation (structured authentication configuration, KEP-3331).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from setpoint.api.machinery.status import FieldError, duplicate, invalid, required
from setpoint.apiserver import configuration_file
from setpoint.apiserver.authentication import Anonymous
from setpoint.apiserver.authentication.oidc.claims import ClaimExpression, ExtraMapping, Mapped, ValidationRule
from setpoint.apiserver.authentication.oidc.expressions import complaints

_VERSIONS = tuple(f"apiserver.config.k8s.io/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
_KIND = "AuthenticationConfiguration"
#: every signature that an issuer of a configuration file may use; none of them has a secret that is public elsewhere
ALGORITHMS = ("RS256", "RS384", "RS512", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512")


class Issuer(Struct, frozen=True):
    """One issuer: where it is, for whom its tokens must be, how claims become a user."""

    url: str
    audiences: tuple[str, ...]
    username: Mapped
    discovery_url: str = ""
    ca: str = ""  # PEM; empty: the system's
    groups: Mapped = Mapped()
    uid: Mapped = Mapped()
    extra: tuple[ExtraMapping, ...] = ()
    required_claims: Mapping[str, str] = {}
    claim_rules: tuple[ValidationRule, ...] = ()
    user_rules: tuple[ValidationRule, ...] = ()
    algorithms: tuple[str, ...] = ALGORITHMS


class Configuration(Struct, frozen=True):
    """All issuers; `anonymous` is None where the configuration does not speak of it."""

    issuers: tuple[Issuer, ...]
    anonymous: Anonymous | None = None


class Flags(Protocol):
    """kube-apiserver's --oidc-* flags."""

    @property
    def issuer_url(self) -> str: ...
    @property
    def client_id(self) -> str: ...
    @property
    def username_claim(self) -> str: ...
    @property
    def username_prefix(self) -> str: ...
    @property
    def groups_claim(self) -> str: ...
    @property
    def groups_prefix(self) -> str: ...
    @property
    def required_claims(self) -> tuple[str, ...]: ...
    @property
    def ca_file(self) -> str: ...
    @property
    def signing_algs(self) -> tuple[str, ...]: ...


def read(file: Path, own_issuers: Sequence[str]) -> Configuration:
    """The configuration in a file; `own_issuers` are those of service accounts. Raises ValueError that names what is wrong."""
    return parse(configuration_file.read(file, _KIND, _VERSIONS), own_issuers)


def parse(document: Mapping[str, Any], own_issuers: Sequence[str]) -> Configuration:
    """The configuration that a document says; raises ValueError with every complaint."""
    errors = _Reader(document, own_issuers).errors()
    if errors:
        raise ValueError("; ".join(map(str, errors)))
    return Configuration(tuple(map(_issuer, document.get("jwt") or ())), _anonymous(document.get("anonymous")))


def of_flags(flags: Flags, own_issuers: Sequence[str]) -> Configuration:
    """What the flags say; raises ValueError."""
    if not flags.client_id:
        raise ValueError("--oidc-issuer-url and --oidc-client-id must be specified together")
    if wrong := [name for name in flags.signing_algs if name not in ALGORITHMS]:
        raise ValueError(f"--oidc-signing-algs: {wrong[0]} is not accepted: choose of {', '.join(ALGORITHMS)}")
    prefix = flags.username_prefix
    if not prefix and flags.username_claim != "email":
        prefix = f"{flags.issuer_url}#"
    pairs = [text.partition("=") for text in flags.required_claims]
    if wrong := ["=".join(pair) for pair in pairs if not pair[0] or not pair[1]]:
        raise ValueError(f"--oidc-required-claim: {wrong[0]}: expected key=value")
    issuer = Issuer(
        url=flags.issuer_url,
        audiences=(flags.client_id,),
        ca=Path(flags.ca_file).read_text() if flags.ca_file else "",
        username=Mapped(flags.username_claim, "" if prefix == "-" else prefix),
        groups=Mapped(flags.groups_claim, flags.groups_prefix),
        required_claims={key: value for key, _, value in pairs},
        algorithms=flags.signing_algs,
    )
    if errors := _url_errors("--oidc-issuer-url", issuer.url, own_issuers):
        raise ValueError("; ".join(map(str, errors)))
    return Configuration((issuer,))


def _issuer(jwt: Mapping[str, Any]) -> Issuer:
    issuer, mappings = jwt["issuer"], jwt["claimMappings"]
    rules = jwt.get("claimValidationRules") or ()
    return Issuer(
        url=issuer["url"],
        discovery_url=issuer.get("discoveryURL") or "",
        ca=issuer.get("certificateAuthority") or "",
        audiences=tuple(issuer["audiences"]),
        username=_mapped(mappings["username"]),
        groups=_mapped(mappings.get("groups")),
        uid=_mapped(mappings.get("uid")),
        extra=tuple(
            ExtraMapping(each["key"], ClaimExpression(each["valueExpression"], "claims")) for each in mappings.get("extra") or ()
        ),
        required_claims={rule["claim"]: rule.get("requiredValue") or "" for rule in rules if rule.get("claim")},
        claim_rules=_rules([rule for rule in rules if rule.get("expression")], "claims"),
        user_rules=_rules(jwt.get("userValidationRules") or (), "user"),
    )


def _mapped(mapping: Mapping[str, Any] | None) -> Mapped:
    if not mapping:
        return Mapped()
    expression = mapping.get("expression")
    return Mapped(
        mapping.get("claim") or "",
        mapping.get("prefix") or "",
        ClaimExpression(expression, "claims") if expression else None,
    )


def _rules(rules: Sequence[Mapping[str, Any]], variable: str) -> tuple[ValidationRule, ...]:
    return tuple(ValidationRule(ClaimExpression(rule["expression"], variable), rule.get("message") or "") for rule in rules)


def _anonymous(given: Mapping[str, Any] | None) -> Anonymous | None:
    if given is None:
        return None
    paths = frozenset(condition["path"] for condition in given.get("conditions") or ())
    return Anonymous(bool(given.get("enabled")), paths)


class _Reader:
    """Finds what is wrong with a document."""

    def __init__(self, document: Mapping[str, Any], own_issuers: Sequence[str]) -> None:
        self._document = document
        self._own = own_issuers
        self._errors: list[FieldError] = []

    def errors(self) -> list[FieldError]:
        known = set[str]()
        for index, jwt in enumerate(self._document.get("jwt") or ()):
            path = f"jwt[{index}]"
            issuer = jwt.get("issuer") or {}
            self._issuer(f"{path}.issuer", issuer)
            if issuer.get("url") in known:
                self._errors.append(duplicate(f"{path}.issuer.url", issuer["url"]))
            known.add(issuer.get("url") or "")
            self._mappings(f"{path}.claimMappings", jwt)
            self._claim_rules(f"{path}.claimValidationRules", jwt.get("claimValidationRules") or ())
            for number, rule in enumerate(jwt.get("userValidationRules") or ()):
                self._expression(f"{path}.userValidationRules[{number}].expression", rule.get("expression"), "user", "bool")
        self._anonymous(self._document.get("anonymous") or {})
        return self._errors

    def _issuer(self, path: str, issuer: Mapping[str, Any]) -> None:
        self._errors += _url_errors(f"{path}.url", issuer.get("url") or "", self._own)
        discovery = issuer.get("discoveryURL")
        if discovery:
            self._errors += _url_errors(f"{path}.discoveryURL", discovery, ())
            if discovery.rstrip("/") == (issuer.get("url") or "").rstrip("/"):
                self._errors.append(invalid(f"{path}.discoveryURL", discovery, "discoveryURL must be different from URL"))
        audiences, policy = issuer.get("audiences") or [], issuer.get("audienceMatchPolicy") or ""
        if not audiences:
            self._errors.append(required(f"{path}.audiences", f"at least one {path}.audiences is required"))
        for index, audience in enumerate(audiences):
            if not audience:
                self._errors.append(required(f"{path}.audiences[{index}]", "audience can't be empty"))
            elif audience in audiences[:index]:
                self._errors.append(duplicate(f"{path}.audiences[{index}]", audience))
        if len(audiences) > 1 and policy != "MatchAny":
            why = "audienceMatchPolicy must be MatchAny for multiple audiences"
            self._errors.append(invalid(f"{path}.audienceMatchPolicy", policy, why))
        elif policy not in ("", "MatchAny"):
            why = "audienceMatchPolicy must be empty or MatchAny for single audience"
            self._errors.append(invalid(f"{path}.audienceMatchPolicy", policy, why))

    def _mappings(self, path: str, jwt: Mapping[str, Any]) -> None:
        mappings = jwt.get("claimMappings") or {}
        username = mappings.get("username") or {}
        self._mapping(f"{path}.username", username, needed=True, prefixed=True)
        if expression := username.get("expression"):
            self._email(f"{path}.username.expression", expression, jwt)
        self._mapping(f"{path}.groups", mappings.get("groups") or {}, needed=False, prefixed=True)
        self._mapping(f"{path}.uid", mappings.get("uid") or {}, needed=False, prefixed=False)
        seen = set[str]()
        for index, extra in enumerate(mappings.get("extra") or ()):
            self._extra(f"{path}.extra[{index}]", extra, seen)

    def _mapping(self, path: str, mapping: Mapping[str, Any], *, needed: bool, prefixed: bool) -> None:
        claim, expression, prefix = mapping.get("claim"), mapping.get("expression"), mapping.get("prefix")
        if claim and expression:
            self._errors.append(invalid(path, "", "claim and expression can't both be set"))
        elif expression:
            if prefix is not None:
                self._errors.append(invalid(f"{path}.prefix", prefix, "prefix can't be set when expression is set"))
            results = ("string", "list(string)") if path.endswith("groups") else ("string",)
            self._expression(f"{path}.expression", expression, "claims", *results)
        elif claim:
            if prefixed and prefix is None:
                why = "prefix is required when claim is set. It can be set to an empty string to disable prefixing"
                self._errors.append(required(f"{path}.prefix", why))
        elif needed:
            self._errors.append(required(path, "claim or expression is required"))
        elif prefix:
            self._errors.append(invalid(f"{path}.prefix", prefix, "non-empty prefix isn't allowed when claim isn't set"))

    def _extra(self, path: str, extra: Mapping[str, Any], seen: set[str]) -> None:
        key = extra.get("key") or ""
        host, _, rest = key.partition("/")
        if not key:
            self._errors.append(required(f"{path}.key"))
        elif not host or not rest:
            why = 'must be a domain-prefixed path (such as "acme.io/foo")'
            self._errors.append(invalid(f"{path}.key", key, why))
        elif key != key.lower():
            self._errors.append(invalid(f"{path}.key", key, "key must be lowercase"))
        elif host in ("k8s.io", "kubernetes.io") or host.endswith((".k8s.io", ".kubernetes.io")):
            parent = "kubernetes.io" if host.endswith("kubernetes.io") else "k8s.io"
            why = f"{parent}, {', '.join(('*.' + parent,))} are reserved by Kubernetes"
            self._errors.append(invalid(f"{path}.key", key, why))
        elif key in seen:
            self._errors.append(duplicate(f"{path}.key", key))
        seen.add(key)
        self._expression(f"{path}.valueExpression", extra.get("valueExpression"), "claims", "string", "list(string)")

    def _claim_rules(self, path: str, rules: Sequence[Mapping[str, Any]]) -> None:
        for index, rule in enumerate(rules):
            place, claim, expression = f"{path}[{index}]", rule.get("claim"), rule.get("expression")
            if claim and expression:
                self._errors.append(invalid(place, claim, "claim and expression can't both be set"))
            elif not claim and not expression:
                self._errors.append(required(place, "claim or expression is required"))
            elif claim and rule.get("message"):
                self._errors.append(invalid(f"{place}.message", rule["message"], "message can't be set when claim is set"))
            elif expression and rule.get("requiredValue"):
                why = "requiredValue can't be set when expression is set"
                self._errors.append(invalid(f"{place}.requiredValue", rule["requiredValue"], why))
            elif expression:
                self._expression(f"{place}.expression", expression, "claims", "bool")

    def _email(self, path: str, expression: str, jwt: Mapping[str, Any]) -> None:
        """An email address is somebody's only where the issuer says that it was verified."""
        mappings = jwt.get("claimMappings") or {}
        texts = [expression, *(each.get("valueExpression") or "" for each in mappings.get("extra") or ())]
        texts += [rule.get("expression") or "" for rule in jwt.get("claimValidationRules") or ()]
        if "claims.email" not in expression.replace("claims.email_verified", "") or any(
            "email_verified" in text for text in texts
        ):
            return
        why = (
            "claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression "
            "or claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression"
        )
        self._errors.append(invalid(path, expression, why))

    def _expression(self, path: str, text: str | None, variable: str, *results: str) -> None:
        if not text:
            self._errors.append(required(path, "expression is required"))
        else:
            self._errors += complaints(path, text, variable, results)

    def _anonymous(self, given: Mapping[str, Any]) -> None:
        conditions = given.get("conditions") or []
        if conditions and not given.get("enabled"):
            why = "enabled should be set to true when conditions are defined"
            self._errors.append(invalid("anonymous.conditions", conditions, why))


def _url_errors(path: str, url: str, own_issuers: Sequence[str]) -> list[FieldError]:
    if not url:
        return [required(path, "URL is required")]
    if url in own_issuers:
        return [invalid(path, url, f"URL must not overlap with disallowed issuers: [{' '.join(own_issuers)}]")]
    parts = urlsplit(url)
    for wrong, why in (
        (parts.scheme != "https", "URL scheme must be https"),
        (parts.username is not None, "URL must not contain a username or password"),
        (bool(parts.query), "URL must not contain a query"),
        (bool(parts.fragment), "URL must not contain a fragment"),
    ):
        if wrong:
            return [invalid(path, url, why)]
    return []
