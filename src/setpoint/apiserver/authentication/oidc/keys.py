"""An issuer's keys: found by its discovery document, asked for again when a token names one that is not known yet.

Source: OpenID Connect Discovery 1.0. What is fetched is bounded in size, time and frequency, since tokens of strangers cause it.
"""

from __future__ import annotations

import asyncio
import ssl
from typing import Any

import orjson

from setpoint.apiserver.authentication.rejected import Rejected
from setpoint.kit import logs
from setpoint.kit.clock import Clock

log = logs.get_logger("apiserver.authentication")

_WELL_KNOWN = "/.well-known/openid-configuration"
_MOST = 1024 * 1024  # bytes of a document
_PATIENCE = 10.0  # seconds for one document
_AGAIN_AFTER = 10.0  # seconds between two attempts to find keys


class IssuerKeys:
    """The public keys of one issuer, by their ids. `ca` is the PEM text of its server's CA (empty: the system's)."""

    def __init__(self, url: str, clock: Clock, *, discovery_url: str = "", ca: str = "") -> None:
        self._url = url
        self._discovery = discovery_url or url.rstrip("/") + _WELL_KNOWN
        self._ca = ca
        self._clock = clock
        self._keys: dict[str, Any] = {}
        self._tried: float | None = None
        self._fetching = asyncio.Lock()

    async def key(self, key_id: str) -> Any:
        """The key of that id (empty: the only one); raises Rejected where the issuer has none, or does not answer."""
        found = self._known(key_id)
        if found is None:
            async with self._fetching:
                found = self._known(key_id)
                if found is None and self._may_try():
                    self._tried = self._clock.monotonic()
                    await self._fetch()
                    found = self._known(key_id)
        if found is not None:
            return found
        if not self._keys:
            raise Rejected(f'oidc: authenticator for issuer "{self._url}" is not initialized')
        raise Rejected("oidc: verify token: failed to verify signature: failed to verify id token signature")

    def _known(self, key_id: str) -> Any:
        if key_id:
            return self._keys.get(key_id)
        return next(iter(self._keys.values())) if len(self._keys) == 1 else None

    def _may_try(self) -> bool:
        return self._tried is None or self._clock.monotonic() - self._tried >= _AGAIN_AFTER

    async def _fetch(self) -> None:
        import aiohttp
        import jwt

        context = ssl.create_default_context(cadata=self._ca or None)
        timeout = aiohttp.ClientTimeout(total=_PATIENCE)
        try:
            async with aiohttp.ClientSession(timeout=timeout, connector=aiohttp.TCPConnector(ssl=context)) as session:
                document = await _json(session, self._discovery)
                if document.get("issuer") != self._url:
                    raise ValueError("the discovery document is another issuer's")
                address = str(document.get("jwks_uri", ""))
                if not address.startswith("https://"):
                    raise ValueError("jwks_uri is no https URL")
                held = await _json(session, address)
            keys = jwt.PyJWKSet.from_dict(held).keys
        except (aiohttp.ClientError, OSError, ValueError, jwt.PyJWTError, AttributeError) as error:
            log.warning("keys of an issuer could not be fetched", issuer=self._url, error=f"{type(error).__name__}: {error}")
            return
        self._keys = {key.key_id or f"#{index}": key for index, key in enumerate(keys) if key.public_key_use in (None, "sig")}


async def _json(session: Any, url: str) -> dict[str, Any]:
    """A JSON object from a URL; raises ValueError, or what aiohttp raises."""
    async with session.get(url, allow_redirects=False) as answer:
        body = await answer.content.read(_MOST)
        if answer.status != 200 or not answer.content.at_eof():
            raise ValueError(f"{url} answered {answer.status}")
    found = orjson.loads(body)
    if not isinstance(found, dict):
        raise ValueError(f"{url} is no JSON object")  # noqa: TRY004  one error for all that a stranger may answer
    return found
