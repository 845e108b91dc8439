"""Field selectors: `metadata.name=a,status.phase!=Running`.

Source: apimachinery's `fields/selector.go`. Which fields a kind has is the kind's business: see `FieldSelector.unsupported`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache

from msgspec import Struct


class SelectorError(ValueError):
    """The text is no selector; the message is what a 400 answer says."""


class FieldRequirement(Struct, frozen=True):
    """`field=value`, or `field!=value` where `equal` is false; a field that the object lacks has the empty value."""

    field: str
    value: str
    equal: bool = True

    def __str__(self) -> str:
        escaped = self.value.replace("\\", "\\\\").replace(",", "\\,").replace("=", "\\=")
        return f"{self.field}{'=' if self.equal else '!='}{escaped}"


class FieldSelector(Struct, frozen=True):
    """A conjunction. All of its terms must hold."""

    requirements: tuple[FieldRequirement, ...] = ()

    @property
    def everything(self) -> bool:
        return not self.requirements

    def matches(self, values: Mapping[str, str]) -> bool:
        return all(
            (values.get(requirement.field, "") == requirement.value) is requirement.equal for requirement in self.requirements
        )

    def exact(self, name: str) -> str | None:
        """The one value that the selector asks of a field, if it does."""
        for requirement in self.requirements:
            if requirement.field == name and requirement.equal:
                return requirement.value
        return None

    def unsupported(self, known: Iterable[str]) -> str | None:
        """The first field that the kind does not have; a server refuses it: `field label not supported: x`."""
        return next((requirement.field for requirement in self.requirements if requirement.field not in known), None)

    def __str__(self) -> str:
        return ",".join(map(str, self.requirements))


_term = re.compile(r"(.*?)(!=|==|=)(.*)", re.DOTALL).fullmatch


@lru_cache(maxsize=4096)
def parse_fields(text: str) -> FieldSelector:
    r"""The selector that a `fieldSelector` parameter stands for; blanks count, `,` `=` and backslash are escaped in values."""
    requirements = []
    for part in sorted(_split_terms(text)):
        if not part:
            continue
        found = _term(part)
        if found is None:
            raise SelectorError(f"invalid selector: '{text}'; can't understand '{part}'")
        requirements.append(FieldRequirement(found[1], _unescape(found[3]), found[2] != "!="))
    return FieldSelector(tuple(requirements))


def _split_terms(text: str) -> list[str]:
    terms, start, escaped = [], 0, False
    for position, letter in enumerate(text):
        if escaped:
            escaped = False
        elif letter == "\\":
            escaped = True
        elif letter == ",":
            terms.append(text[start:position])
            start = position + 1
    return [*terms, text[start:]]


def _unescape(value: str) -> str:
    if "\\" not in value and "=" not in value:
        return value
    out: list[str] = []
    letters = iter(value)
    for letter in letters:
        if letter == "\\":
            following = next(letters, "")
            if not following or following not in "\\,=":
                raise SelectorError(f"invalid field selector: invalid escape sequence: \\{following}")
            out.append(following)
        elif letter in ",=":
            raise SelectorError(f"invalid field selector: unescaped character in value: {ord(letter)}")
        else:
            out.append(letter)
    return "".join(out)
