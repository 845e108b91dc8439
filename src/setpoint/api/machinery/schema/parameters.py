"""The query and path parameters of the API's verbs, as the published schemas name them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct


class Parameter(Struct, frozen=True):
    """`place` is query or path; `type` a JSON type."""

    name: str
    type: str
    description: str
    place: str = "query"


PRETTY = Parameter("pretty", "string", "If 'true', the answer is indented.")
NAMESPACE = Parameter("namespace", "string", "The namespace of the object: its name is unique within it.", "path")
NAME = Parameter("name", "string", "The name of the object.", "path")
DRY_RUN = Parameter("dryRun", "string", "With `All`, every step is taken but nothing is stored.")
FIELD_MANAGER = Parameter("fieldManager", "string", "Who makes these changes, as managedFields will say; at most 128 characters.")
FIELD_VALIDATION = Parameter(
    "fieldValidation",
    "string",
    "What happens to unknown and repeated fields: Ignore drops them, Warn also warns, Strict refuses.",
)
FORCE = Parameter("force", "boolean", "Only for apply: take over fields that other managers own.")
LIST = (
    Parameter("allowWatchBookmarks", "boolean", "A watcher that understands BOOKMARK events."),
    Parameter("continue", "string", "The token of an earlier page."),
    Parameter("fieldSelector", "string", "Only objects whose fields match."),
    Parameter("labelSelector", "string", "Only objects whose labels match."),
    Parameter("limit", "integer", "The greatest number of objects on a page."),
    Parameter("resourceVersion", "string", "The version that the answer may not be older than, or must be of."),
    Parameter("resourceVersionMatch", "string", "How resourceVersion is meant: Exact or NotOlderThan."),
    Parameter("sendInitialEvents", "boolean", "A watch that first sends what exists, then a bookmark."),
    Parameter("timeoutSeconds", "integer", "After how many seconds a list or a watch ends."),
    Parameter("watch", "boolean", "A stream of changes rather than a list."),
)
DELETE = (
    DRY_RUN,
    Parameter("gracePeriodSeconds", "integer", "Seconds before the object is deleted; 0 is at once."),
    Parameter("ignoreStoreReadErrorWithClusterBreakingPotential", "boolean", "Deletes an object that cannot be read; dangerous."),
    Parameter("orphanDependents", "boolean", "Deprecated: propagationPolicy says it better."),
    Parameter("propagationPolicy", "string", "What becomes of dependents: Orphan, Background or Foreground."),
)
_WRITE = (DRY_RUN, FIELD_MANAGER, FIELD_VALIDATION)
_OF_VERB = {
    "list": LIST,
    "create": _WRITE,
    "update": _WRITE,
    "patch": (*_WRITE, FORCE),
    "delete": DELETE,
    "deletecollection": (*DELETE, *LIST[1:9]),
}


def of_verb(verb: str) -> tuple[Parameter, ...]:
    """The query parameters of a verb."""
    return _OF_VERB.get(verb, ())


def of_place(names: Iterable[str]) -> Iterator[Parameter]:
    """The parameters of a path, and what every path takes."""
    for name in names:
        yield NAMESPACE if name == "namespace" else NAME
    yield PRETTY
