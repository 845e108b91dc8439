"""What admission is asked, and the protocol that the API server calls it through."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Protocol

from msgspec import Struct, field

from setpoint.registry.resource import ServedResource
from setpoint.registry.strategy import Context, Object


class Shown(Protocol):
    """An endpoint that shows a part of an object as a kind of its own."""

    def show(self, obj: Object) -> Object:
        """What is shown of an object."""

    def take(self, obj: Object, shown: Object) -> None:
        """Change the object so that this is what is shown of it."""


class Reinvocation(Struct):
    """What a mutating step that asks others (webhooks, policies) keeps from its first pass for the second.

    `output` is the object as the last of them left it; `asked` want to see it again after a later change, `again` are those whom
    a change has brought back. They are named as the step pleases. Source: `reinvocationcontext.go` of both plugins.
    """

    output: bytes = b""
    asked: set[Hashable] = field(default_factory=set)
    again: set[Hashable] = field(default_factory=set)

    def bring_back(self) -> None:
        """The object changed: who asked for it comes again."""
        self.again |= self.asked
        self.asked = set()


class AdmissionRequest(Struct):
    """One write before it is stored. `obj` is in the stored version; None on DELETE and CONNECT, `old` None on CREATE.

    Mutating steps change `obj` in place. `context` has the user, dry run, and takes warnings. `name` is empty while a
    generateName is not yet made. For subresources with a body of their own (binding, eviction, token) `obj` is that body.
    """

    operation: str
    resource: ServedResource
    version: str
    context: Context
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    obj: Object | None = None
    old: Object | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    #: the version of the URL; of a write that came without a URL the stored one
    request_version: str = ""
    #: the server made the name up: mutating webhooks and policies are not to see it yet
    generated_name: bool = False
    #: the object is as it will be stored
    validating: bool = False
    #: it is in stored form already, and no step will change that
    stored_form: bool = False
    #: a mutating step changed the object, so that those before it should see it once more
    reinvoke: bool = False
    #: this is that second pass
    reinvoking: bool = False
    #: how the endpoint shows the object, where that is not the object itself (`scale`)
    shown: Shown | None = None
    #: by the step's name
    reinvocations: dict[str, Reinvocation] = field(default_factory=dict)

    def reinvocation(self, step: str) -> Reinvocation:
        """What a step keeps from one pass to the next."""
        return self.reinvocations.setdefault(step, Reinvocation())


class Admission(Protocol):
    """Raises StatusError to refuse. `admit` may change the object, `validate` sees it as it will be stored.

    `concerned` tells whether anyone looks at a kind of write at all, `changes` whether anyone may change what is written.
    """

    def concerned(self, operation: str, group_resource: str, subresource: str) -> bool: ...
    def changes(self, operation: str, group_resource: str, subresource: str) -> bool: ...

    async def admit(self, request: AdmissionRequest) -> None: ...
    async def validate(self, request: AdmissionRequest) -> None: ...
