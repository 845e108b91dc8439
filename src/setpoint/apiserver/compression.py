"""Answers are packed where that is worth it and the client takes it, as kube-apiserver does."""

from __future__ import annotations

import asyncio
import gzip
import zlib
from collections.abc import AsyncGenerator
from contextlib import aclosing

from msgspec import structs

from setpoint.apiserver.request import Response

_COMPRESS_FROM = 128 * 1024  # bytes; smaller answers are not worth it
_GZIP = 31  # zlib's word for gzip's frame around the largest window


async def compressed(response: Response, accepted: str) -> Response:
    """The answer as it goes out: big bodies packed, where the client takes that."""
    body, pieces = response.body or b"", response.pieces
    is_small = pieces is None and len(body) <= _COMPRESS_FROM
    if is_small or not _accepts_gzip(accepted) or "Content-Encoding" in response.headers:
        return response
    if pieces is None:
        body = await asyncio.get_running_loop().run_in_executor(None, gzip.compress, body, 1)
    varies = ", ".join(filter(None, (response.headers.get("Vary"), "Accept-Encoding")))
    headers = {**response.headers, "Content-Encoding": "gzip", "Vary": varies}
    packed = structs.replace(response, headers=headers)
    if pieces is None:
        packed.body = body
    else:
        packed.pieces = _packed(pieces)
    return packed


async def _packed(pieces: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """The same, packed while it is made."""
    packer, run = zlib.compressobj(1, wbits=_GZIP), asyncio.get_running_loop().run_in_executor
    async with aclosing(pieces):
        async for piece in pieces:
            if part := await run(None, packer.compress, piece):
                yield part
    yield packer.flush()


def _accepts_gzip(accepted: str) -> bool:
    """Whether the word stands there by itself: kube-apiserver reads no weights."""
    return any(word.strip() == "gzip" for word in accepted.split(","))
