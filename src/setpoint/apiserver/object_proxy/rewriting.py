"""Links in an answer, so that they lead through the proxy again: what points at the same host by an absolute path gets the
proxy's path in front.

Source: apimachinery `util/proxy/transport.go`.
"""

from __future__ import annotations

import posixpath
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct


class Links(Struct, frozen=True):
    """`prefix` is the proxy's path of the destination; `hosts` are those that mean the destination itself."""

    prefix: str
    hosts: tuple[str, ...]

    def rewritten(self, link: str) -> str:
        """The link as a client of the proxy can follow it; relative ones and those to other hosts are left alone."""
        try:
            parts = urlsplit(link)
        except ValueError:
            return link
        if (parts.netloc and parts.netloc not in self.hosts) or not parts.path.startswith("/"):
            return link
        path = parts.path
        if not path.startswith(self.prefix):
            path = joined(self.prefix, path)
        return urlunsplit(("", "", path, parts.query, parts.fragment))

    def in_page(self, page: str) -> str:
        """An HTML page with its links rewritten."""
        from setpoint.apiserver.object_proxy.pages import with_links  # only who asks for a page waits for the parser's import

        return with_links(page, self.rewritten)


def joined(*parts: str) -> str:
    """Paths one after the other without dots and doubled slashes; a slash at the end stays."""
    path = posixpath.normpath("/" + "/".join(parts).lstrip("/")) if any(parts) else ""
    last = next((part for part in reversed(parts) if part), "")
    return path + "/" if last.endswith("/") and not path.endswith("/") else path
