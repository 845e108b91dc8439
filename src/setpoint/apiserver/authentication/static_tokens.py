"""Static bearer tokens from a CSV file: `token,user,uid,"group1,group2"`, as kube-apiserver's --token-auth-file."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self

from setpoint.api.machinery.user import UserInfo


class StaticTokens:
    """A fixed set of tokens, held by their digests so that a lookup's time tells nothing of a token."""

    def __init__(self, tokens: Mapping[str, UserInfo]) -> None:
        self._users = {_digest(token): user for token, user in tokens.items()}

    @classmethod
    def read(cls, file: Path) -> Self:
        """Read a token file; raises ValueError with the line that is wrong, OSError when it cannot be read."""
        with file.open(newline="") as lines:
            return cls(dict(_rows(lines, str(file))))

    async def user_of(self, token: str) -> UserInfo | None:
        return self._users.get(_digest(token))


def _rows(lines: Iterable[str], name: str) -> Iterable[tuple[str, UserInfo]]:
    for number, row in enumerate(csv.reader(lines), 1):
        if not row or row[0].startswith("#"):
            continue
        if len(row) < 3 or not row[0] or not row[1]:
            raise ValueError(f"{name}:{number}: a token file has at least the columns token, user name and user uid")
        groups = tuple(group.strip() for group in row[3].split(",")) if len(row) > 3 and row[3] else ()
        yield row[0], UserInfo(row[1], row[2], groups)


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
