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


_PATH_QUERY = Parameter("path", "string", "The path below what is connected to.")
_STREAMS = (
    Parameter("container", "string", "The container; may be left out where the pod has one alone."),
    Parameter("stderr", "boolean", "Whether standard error is passed on."),
    Parameter("stdin", "boolean", "Whether standard input is passed on."),
    Parameter("stdout", "boolean", "Whether standard output is passed on."),
    Parameter("tty", "boolean", "Whether a terminal is made."),
)
#: the query parameters of subresources that lead through to something else
CONNECT: dict[str, tuple[Parameter, ...]] = {
    "attach": _STREAMS,
    "exec": (Parameter("command", "string", "The program and its arguments, one parameter each; no shell."), *_STREAMS),
    "portforward": (Parameter("ports", "integer", "The ports to forward; needed with WebSockets."),),
    "proxy": (_PATH_QUERY,),
}
LOG = (
    _STREAMS[0],
    Parameter("follow", "boolean", "Whether the answer goes on as the log does."),
    Parameter("insecureSkipTLSVerifyBackend", "boolean", "Whether the node's certificate is not checked."),
    Parameter("limitBytes", "integer", "After how many bytes the answer ends."),
    Parameter("previous", "boolean", "The log of the container that ran before."),
    Parameter("sinceSeconds", "integer", "Only what was written in the last so many seconds."),
    Parameter("stream", "string", "All, Stdout or Stderr."),
    Parameter("tailLines", "integer", "Only the last so many lines."),
    Parameter("timestamps", "boolean", "Whether each line begins with the moment it was written."),
)
_PLACES = {"namespace": NAMESPACE, "name": NAME, "path": Parameter("path", "string", "The path below.", "path")}


def of_verb(verb: str) -> tuple[Parameter, ...]:
    """The query parameters of a verb."""
    return _OF_VERB.get(verb, ())


def of_place(names: Iterable[str], *, pretty: bool = True) -> Iterator[Parameter]:
    """The parameters of a path, and what every path takes that answers with an object."""
    for name in names:
        yield _PLACES[name]
    if pretty:
        yield PRETTY
