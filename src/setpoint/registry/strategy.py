"""What the generic store asks of a kind, in the order in which it asks.

Create: `default` → `prepare_for_create` → `validate` → `warnings_on_create` → `canonicalise`.
Update and patch: `default` → `prepare_for_update` → `validate_update` → `warnings_on_update` → `canonicalise`.
`default`, `prepare_…` and `canonicalise` may change the object they are given, the others may not; no hook may change `old`
or keep what it is given. All are synchronous and look at nothing but their arguments: what needs other objects is admission
(`registry.admission`) or an allocation (`begin_create`).

A subresource such as `status` is a second Strategy, usually a tiny one that copies everything but its own part from `old`.
Source: Kubernetes `apiserver/pkg/registry/rest` (RESTCreateStrategy, RESTUpdateStrategy, RESTDeleteStrategy).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from msgspec import Struct, field

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError
from setpoint.api.machinery.user import UserInfo
from setpoint.registry import generated

_LONGEST_BASE = 63 - generated.SUFFIX

Object = dict[str, Any]
NameRule = Callable[..., list[str]]


class Context(Struct):
    """One write: who, where, when (`now` in seconds since the epoch), and the warnings gathered for its answer."""

    user: UserInfo
    now: float
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    operation: str = "CREATE"
    dry_run: bool = False
    field_manager: str = ""
    warnings: list[str] = field(default_factory=list)
    options: Mapping[str, Any] = field(default_factory=dict)
    #: the version of the URL, which need not be the stored one
    version: str = ""
    #: what admission has to say to the audit log (`Request.annotations`)
    annotations: dict[str, str] = field(default_factory=dict)


class Heartbeat(Struct, frozen=True):
    """The time that a holder of an object renews: `path` leads to it; with `key` through a list of objects, told apart by it.

    A patch that changes nothing else takes a short way (`apiserver.heartbeats`).
    """

    path: tuple[str, ...]
    micro: bool
    key: str = ""


class Strategy:
    """The rules of a kind with no rules of its own; resources override what differs."""

    #: PUT of an object that does not exist creates it
    allow_create_on_update: ClassVar[bool] = False
    #: PUT without metadata.resourceVersion overwrites whatever is there
    allow_unconditional_update: bool = True
    #: what happens to dependents when a DELETE says nothing: "Background", "Orphan" or "Foreground"
    default_propagation: ClassVar[str] = "Background"
    #: warned about when a DELETE says nothing of dependents
    default_propagation_warning: ClassVar[str] = ""
    #: DELETE answers with the object in its last state rather than a Status
    delete_returns_object: ClassVar[bool] = False
    #: the server keeps metadata.generation; `generation_changed` says when it rises
    has_generation: ClassVar[bool] = False
    #: metadata.generation is 1 from the start; else a creator's own is kept, and the first change begins to count
    generation_from_start: ClassVar[bool] = True
    #: paths that a write through this endpoint cannot change; field ownership leaves them out (`resetFields`)
    reset_fields: tuple[tuple[str, ...], ...] = ()
    #: `validate_update` of Kubernetes' kind checks the whole new object, metadata too, once more (causes repeat accordingly)
    validates_whole_on_update: ClassVar[bool] = False
    #: … and does it twice
    validates_whole_twice_on_update: ClassVar[bool] = False
    #: `validate_update` of Kubernetes' kind looks at what changed in the metadata, once more
    compares_metadata_on_update: ClassVar[bool] = True
    #: updates through this endpoint leave what is in stored form in it, and change nothing inside of what they share with the
    #: old object, but for the top of its metadata and status
    keeps_stored_form: ClassVar[bool] = False
    #: what is renewed through this endpoint again and again, without any other change
    heartbeat: ClassVar[Heartbeat | None] = None
    #: field selectors besides metadata.name and metadata.namespace; `fields` gives their values
    selectable_fields: ClassVar[frozenset[str]] = frozenset()

    def default(self, obj: Object) -> None:
        """Set what the user left out, as decoding does in Kubernetes; also applied to update and patch results."""

    def default_beside(self, obj: Object, settled: Mapping[str, Any]) -> None:
        """The same of an object that may share parts with `settled`, which has its defaults."""
        self.default(obj)

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        """Drop what a creator may not set (status, …) and set what the server owns."""

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        """Every complaint about a new object's own fields, in a fixed order. `metadata` is validated by the generic store."""
        return []

    def warnings_on_create(self, context: Context, obj: Object) -> list[str]:
        return []

    def prepare_for_update(self, context: Context, obj: Object, old: Object) -> None:
        """Copy from `old` what this endpoint may not change (status on the main resource)."""

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        """Every complaint about the change; the base class validates the new object as if it were new."""
        return self.validate(context, obj)

    def warnings_on_update(self, context: Context, obj: Object, old: Object) -> list[str]:
        return []

    def stands_for(self, obj: Object) -> bytes:
        """What tells the spec of a new object from those that do not look the same in stored form; empty: nothing does."""
        return b""

    def canonicalise(self, obj: Object) -> None:
        """Bring what was accepted into the form that is stored (after validation)."""

    def generation_changed(self, obj: Object, old: Object) -> bool:
        """Whether this update raises metadata.generation (only asked where `has_generation`)."""
        return bool(obj.get("spec") != old.get("spec"))

    def validate_name(self, name: str, *, prefix: bool) -> list[str]:
        """What is wrong with a name (`prefix`: a generateName); the default is a DNS subdomain."""
        return names.dns_subdomain(name, prefix=prefix)

    def name_rule(self, obj: Object) -> NameRule:
        """`validate_name` of a new object; for kinds whose names follow from the rest."""
        return self.validate_name

    def generate_name(self, base: str) -> str:
        """The name of an object that has `base` as its generateName: that and five letters, at most 63 characters together."""
        return base[:_LONGEST_BASE] + generated.suffix()

    def fields(self, obj: Object) -> Mapping[str, str]:
        """The values of `selectable_fields`."""
        return {}

    def grace_period(self, context: Context, obj: Object, requested: int | None) -> int | None:
        """Seconds that a deletion must wait for the kind's own agent (pods: their node); None: it is gone at once."""
        return None


class Column(Struct, frozen=True):
    """A column of `kubectl get`: `priority` 0 shows always, 1 with `-o wide`.

    The description is a text of its own or, where `documents` names a field (`io.k8s.api.core.v1.PodStatus.podIP`), that field's.
    """

    name: str
    type: str
    description: str = ""
    format: str = ""
    priority: int = 0
    documents: str = ""

    def text(self) -> str:
        """The description, as clients read it."""
        if self.description or not self.documents:
            return self.description
        from setpoint.api.machinery.schema.trees import load

        definition, _, field = self.documents.rpartition(".")
        return load().descriptions.of_field(definition, field)
