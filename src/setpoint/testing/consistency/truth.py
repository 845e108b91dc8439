"""The one order of all writes that a history speaks of, put together from everything that anyone saw of it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

from setpoint.testing.consistency.history import History, Operation, Version

FOREVER = 1 << 62


class Truth:
    """Versions by revision and by key. Making it finds what no order can explain: `faults`."""

    def __init__(self, history: History) -> None:
        self.faults: list[str] = []
        self.by_revision: dict[int, Version] = {}
        #: revision → the operation that wrote it
        self.writers: dict[int, Operation] = {}
        #: token → the revision at which it was written
        self._tokens: dict[str, int] = {}
        for version in history.sightings():
            self._see(version)
        for operation in history.operations:
            self._hear(operation)
        self._revisions = sorted(self.by_revision)
        self.keys: dict[str, list[Version]] = {}
        for revision in self._revisions:
            version = self.by_revision[revision]
            self.keys.setdefault(version.key, []).append(version)
        self._find_deletions(history)

    def _see(self, version: Version) -> None:
        known = self.by_revision.setdefault(version.revision, version)
        if known != version:
            self.faults.append(f"revision {version.revision} means two things: {known} and {version}")
        if version.token and self._tokens.setdefault(version.token, version.revision) != version.revision:
            self.faults.append(f"{version.token} was written twice: at {self._tokens[version.token]} and {version.revision}")

    def _hear(self, operation: Operation) -> None:
        """What a writer was told."""
        if operation.verb == "get":
            return
        if operation.outcome == "done" and operation.revision:
            life = operation.life or self._life_at(operation.revision)
            self._see(Version(operation.key, operation.revision, operation.token, life))
            self.writers[operation.revision] = operation
        elif operation.token and (revision := self._tokens.get(operation.token)):
            if operation.outcome == "unknown":
                self.writers[revision] = operation
            else:
                self.faults.append(f"{operation.token} was refused ({operation.outcome}), and written at {revision}")

    def _life_at(self, revision: int) -> str:
        known = self.by_revision.get(revision)
        return known.life if known is not None else ""

    def _find_deletions(self, history: History) -> None:
        """Find the deletions whose answers told no revision, by the object that they ended; each is someone's."""
        open_ends = {
            (version.key, version.life): version.revision
            for version in self.by_revision.values()
            if version.deleted and version.revision not in self.writers
        }
        for operation in history.operations:
            if operation.verb == "delete" and operation.outcome == "done" and not operation.revision:
                revision = open_ends.pop((operation.key, operation.life), 0)
                if revision:
                    operation.revision = revision
                    self.writers[revision] = operation
                else:
                    self.faults.append(f"the deletion of {operation.key} ({operation.life}) is in no watch, or was done twice")

    # ---- questions

    def written(self, token: str) -> int:
        """The revision at which a token was written, 0 if nobody saw it."""
        return self._tokens.get(token, 0)

    def at(self, key: str, revision: int) -> Version | None:
        """The object as of a revision."""
        versions = self.keys.get(key, [])
        place = bisect_right(versions, revision, key=lambda version: version.revision)
        return versions[place - 1] if place and not versions[place - 1].deleted else None

    def spans(self, key: str, start: int) -> Iterator[tuple[int, int, Version | None]]:
        """What there was of a key from `start` on: (from, until, version or None), `until` being the last revision of that."""
        versions = self.keys.get(key, [])
        place = bisect_right(versions, start, key=lambda version: version.revision)
        current = versions[place - 1] if place else None
        begin = start
        for follower in [*versions[place:], None]:
            end = follower.revision - 1 if follower is not None else FOREVER
            if end >= begin:
                yield begin, end, None if current is None or current.deleted else current
            current, begin = follower, end + 1

    def snapshot(self, prefix: str, revision: int) -> list[Version]:
        found = (self.at(key, revision) for key in sorted(self.keys) if key.startswith(prefix))
        return [version for version in found if version is not None]

    def events(self, prefix: str, after: int, until: int) -> list[Version]:
        first, end = bisect_right(self._revisions, after), bisect_right(self._revisions, until)
        found = (self.by_revision[revision] for revision in self._revisions[first:end])
        return [version for version in found if version.key.startswith(prefix)]
