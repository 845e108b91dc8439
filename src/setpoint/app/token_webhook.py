"""The connection to a server that judges tokens, from a kubeconfig file: its cluster is the server, its user are we."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from setpoint.app.options import StartError
from setpoint.client.kubeconfig import KubeconfigError, load

if TYPE_CHECKING:
    import aiohttp

_PATIENCE = 30.0  # seconds for an answer
_MOST = 1024 * 1024  # bytes of one
_CONNECTIONS = 32


class TokenWebhook:
    """Sends TokenReviews to the server of a kubeconfig; raises StartError where the file cannot be used."""

    def __init__(self, file: Path) -> None:
        try:
            self._access = load(file)
        except KubeconfigError as error:
            raise StartError(f"token webhook {file}: {error}") from error
        self._session: aiohttp.ClientSession | None = None

    async def post(self, body: bytes) -> tuple[int, bytes]:
        """Status and body of the answer; raises OSError or TimeoutError where there is none."""
        import aiohttp

        try:
            async with self._open().post(self._access.server, data=body, allow_redirects=False) as answer:
                return answer.status, await answer.content.read(_MOST)
        except aiohttp.ClientError as error:
            raise ConnectionError(type(error).__name__) from error

    def _open(self) -> aiohttp.ClientSession:
        import aiohttp

        from setpoint.client.transports.http import ssl_context

        if self._session is None or self._session.closed:
            headers = {"Content-Type": "application/json", "Accept": "application/json"}
            if self._access.token:
                headers["Authorization"] = f"Bearer {self._access.token}"
            context = ssl_context(self._access) if self._access.server.startswith("https:") else True
            timeout, connector = aiohttp.ClientTimeout(total=_PATIENCE), aiohttp.TCPConnector(ssl=context, limit=_CONNECTIONS)
            self._session = aiohttp.ClientSession(headers=headers, timeout=timeout, connector=connector)
        return self._session

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
