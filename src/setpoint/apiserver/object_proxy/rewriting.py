"""Links in an answer, so that they lead through the proxy again: what points at the same host by an absolute path gets the
proxy's path in front.

Source: apimachinery `util/proxy/transport.go`.
"""

from __future__ import annotations

import posixpath
from html import escape
from html.parser import HTMLParser
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct

#: attributes that hold URLs, by element (HTML 4.01 and 5)
_LINKS: dict[str, frozenset[str]] = {
    **dict.fromkeys(("a", "area", "base", "link"), frozenset(("href",))),
    **dict.fromkeys(("audio", "embed", "script", "source"), frozenset(("src",))),
    **dict.fromkeys(("blockquote", "del", "ins", "q"), frozenset(("cite",))),
    **dict.fromkeys(("frame", "iframe"), frozenset(("longdesc", "src"))),
    "applet": frozenset(("codebase",)),
    "body": frozenset(("background",)),
    "button": frozenset(("formaction",)),
    "command": frozenset(("icon",)),
    "form": frozenset(("action",)),
    "head": frozenset(("profile",)),
    "html": frozenset(("manifest",)),
    "img": frozenset(("longdesc", "src", "usemap")),
    "input": frozenset(("formaction", "src", "usemap")),
    "object": frozenset(("classid", "codebase", "data", "usemap")),
    "video": frozenset(("poster", "src")),
}


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
        parser = _Page(self)
        parser.feed(page)
        parser.close()
        return "".join(parser.pieces)


def joined(*parts: str) -> str:
    """Paths one after the other without dots and doubled slashes; a slash at the end stays."""
    path = posixpath.normpath("/" + "/".join(parts).lstrip("/")) if any(parts) else ""
    last = next((part for part in reversed(parts) if part), "")
    return path + "/" if last.endswith("/") and not path.endswith("/") else path


class _Page(HTMLParser):
    """Gives a page back as it came, but for the links in its tags."""

    def __init__(self, links: Links) -> None:
        super().__init__(convert_charrefs=False)
        self._links = links
        self.pieces: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = _LINKS.get(tag, frozenset())
        made = [(name, self._links.rewritten(value) if value and name in held else value) for name, value in attrs]
        text = self.get_starttag_text() or ""
        if made != attrs:
            inside = "".join(f" {name}" if value is None else f' {name}="{escape(value)}"' for name, value in made)
            text = f"<{tag}{inside}{'/>' if text.endswith('/>') else '>'}"
        self.pieces.append(text)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        self.pieces.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    def handle_entityref(self, name: str) -> None:
        self.pieces.append(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self.pieces.append(f"&#{name};")

    def handle_comment(self, data: str) -> None:
        self.pieces.append(f"<!--{data}-->")

    def handle_decl(self, decl: str) -> None:
        self.pieces.append(f"<!{decl}>")

    def handle_pi(self, data: str) -> None:
        self.pieces.append(f"<?{data}>")

    def unknown_decl(self, data: str) -> None:
        self.pieces.append(f"<![{data}]>")
