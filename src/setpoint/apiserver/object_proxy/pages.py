"""HTML pages with other links in them.

Source: apimachinery `util/proxy/transport.go`.
"""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from html.parser import HTMLParser

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


def with_links(page: str, rewritten: Callable[[str], str]) -> str:
    """The page as it is, but each of its links as `rewritten` says."""
    parser = _Page(rewritten)
    parser.feed(page)
    parser.close()
    return "".join(parser.pieces)


class _Page(HTMLParser):
    """Gives a page back as it came, but for the links in its tags."""

    def __init__(self, rewritten: Callable[[str], str]) -> None:
        super().__init__(convert_charrefs=False)
        self._rewritten = rewritten
        self.pieces: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        held = _LINKS.get(tag, frozenset())
        made = [(name, self._rewritten(value) if value and name in held else value) for name, value in attrs]
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
