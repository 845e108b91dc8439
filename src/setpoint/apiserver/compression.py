"""Answers are packed where that is worth it and the client takes it, as kube-apiserver does."""

from __future__ import annotations

import asyncio
import gzip

from setpoint.apiserver.request import Response

_COMPRESS_FROM = 128 * 1024  # bytes; smaller answers are not worth it


async def compressed(response: Response, accepted: str) -> Response:
    """The answer as it goes out: big bodies packed, where the client takes that."""
    body = response.body or b""
    if len(body) <= _COMPRESS_FROM or not _accepts_gzip(accepted) or "Content-Encoding" in response.headers:
        return response
    packed = await asyncio.get_running_loop().run_in_executor(None, gzip.compress, body, 1)
    varies = ", ".join(filter(None, (response.headers.get("Vary"), "Accept-Encoding")))
    headers = {**response.headers, "Content-Encoding": "gzip", "Vary": varies}
    return Response(response.status, headers, packed, warnings=response.warnings, more_headers=response.more_headers)


def _accepts_gzip(accepted: str) -> bool:
    """Whether the word stands there by itself: kube-apiserver reads no weights."""
    return any(word.strip() == "gzip" for word in accepted.split(","))
