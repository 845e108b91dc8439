"""The operations that belong to no resource: what there is at `/api`, `/apis`, a group, a version, and the pages beside them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from setpoint.api.machinery.schema.published import Dialect, Schemas

_META = "io.k8s.apimachinery.pkg.apis.meta.v1."
_TYPES = ("application/json", "application/yaml", "application/vnd.kubernetes.protobuf")


class Root(Struct, frozen=True):
    """One GET. `definition` is what it answers; none is a text."""

    path: str
    operation: str
    sentence: str
    tag: str
    definition: str = ""
    produces: tuple[str, ...] = _TYPES
    consumes: tuple[str, ...] = _TYPES

    def item(self, dialect: Dialect, schemas: Schemas) -> dict[str, Any]:
        """Its path item."""
        get: dict[str, Any] = {"description": self.sentence, "tags": [self.tag], "operationId": self.operation}
        answer = schemas.ref(self.definition) if self.definition else {"type": "string"}
        dialect.complete(get, [], None, self.consumes, {"200": answer}, self.produces)
        return {"get": get}


_FIXED = {
    "api": Root("/api/", "getCoreAPIVersions", "get available API versions", "core", _META + "APIVersions"),
    "apis": Root("/apis/", "getAPIVersions", "get available API versions", "apis", _META + "APIGroupList"),
    "version": Root(
        "/version/",
        "getCodeVersion",
        "get the version information for this server",
        "version",
        "io.k8s.apimachinery.pkg.version.Info",
        ("application/json",),
        ("application/json",),
    ),
    ".well-known/openid-configuration": Root(
        "/.well-known/openid-configuration/",
        "getServiceAccountIssuerOpenIDConfiguration",
        "get service account issuer OpenID configuration, also known as the 'OIDC discovery doc'",
        "WellKnown",
        produces=("application/json",),
        consumes=(),
    ),
    "openid/v1/jwks": Root(
        "/openid/v1/jwks/",
        "getServiceAccountIssuerOpenIDKeyset",
        "get service account issuer OpenID JSON Web Key Set (contains public token verification keys)",
        "openid",
        produces=("application/jwk-set+json",),
        consumes=(),
    ),
}
#: paths that have a document of their own whatever is served
PATHS = tuple(_FIXED)


def root_of(path: str, words: str) -> Root:
    """The GET of a path without slashes at its ends; `words` are the group's name as operations have it (`RbacAuthorization`)."""
    if path in _FIXED:
        return _FIXED[path]
    tag = words[:1].lower() + words[1:]
    if path.count("/") == 1 and path.startswith("apis/"):
        return Root(f"/{path}/", f"get{words}APIGroup", "get information of a group", tag, _META + "APIGroup")
    version = path.rpartition("/")[2]
    operation = f"get{words}{version[:1].upper()}{version[1:]}APIResources"
    return Root(f"/{path}/", operation, "get available resources", f"{tag}_{version}", _META + "APIResourceList")


def items(roots: Iterable[Root], dialect: Dialect, schemas: Schemas) -> dict[str, Any]:
    return {root.path: root.item(dialect, schemas) for root in roots}
