"""What tells the world whose service account tokens these are: the provider's configuration and its keys (OpenID Connect).

Source: Kubernetes `pkg/routes/openidmetadata.go`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from setpoint.api.machinery.status import StatusError, method_not_allowed
from setpoint.apiserver.authentication.service_accounts import ServiceAccountTokens
from setpoint.apiserver.request import JSON, Request, Response, text_response

CONFIGURATION, KEYS = "/.well-known/openid-configuration", "/openid/v1/jwks"
_KEY_SET = "application/jwk-set+json"


class IssuerPages:
    """Answers both pages; `address` is where clients reach the server (`host:port`)."""

    def __init__(self, tokens: ServiceAccountTokens, address: Callable[[], str]) -> None:
        self._tokens = tokens
        self._address = address

    async def configuration(self, request: Request) -> Response:
        """The provider's configuration document."""
        document = {
            "issuer": self._tokens.issuer,
            "jwks_uri": f"https://{self._address()}{KEYS}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [self._tokens.key.algorithm],
        }
        return _page(request, CONFIGURATION, JSON, document)

    async def keys(self, request: Request) -> Response:
        """The public keys that tokens can be verified with."""
        return _page(request, KEYS, _KEY_SET, self._tokens.key.published())


def _page(request: Request, path: str, media: str, document: dict[str, Any]) -> Response:
    if request.path.rstrip("/") != path:
        return text_response("404 page not found\n", 404)
    if request.method != "GET":
        raise method_not_allowed()
    accept = request.header("accept")
    if accept and not any(clause.partition(";")[0].strip() in ("*/*", media) for clause in accept.split(",")):
        raise StatusError(406, "NotAcceptable", f"406: Not Acceptable\n\nAvailable representations: {media}", {})
    return Response(200, {"Content-Type": media, "Cache-Control": "public, max-age=3600"}, orjson.dumps(document))
