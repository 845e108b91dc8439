"""From a CustomResourceDefinition to what the pipeline serves.

A `Kind` is compiled once per change of the definition's spec. It gives one row per served version (`ServedResource` whose storage
version is that version, with a codec that writes the definition's), and the rows that discovery and OpenAPI show.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import structs

from setpoint.api.machinery.jsonpath import JsonPath
from setpoint.api.machinery.schema.node import Node
from setpoint.api.machinery.schema.structural import compile_schema
from setpoint.api.machinery.schema.trees import Pack
from setpoint.api.machinery.status import forbidden_object
from setpoint.apiserver.custom_resources import codec, columns, scale
from setpoint.apiserver.custom_resources.conversion import Converter, in_rounds, known
from setpoint.apiserver.custom_resources.converting_store import ConvertingStore
from setpoint.apiserver.custom_resources.priority import priority
from setpoint.apiserver.custom_resources.strategy import CustomStatusStrategy, CustomStrategy, Selectable
from setpoint.apiserver.custom_resources.validation import Validator
from setpoint.apiserver.custom_resources.webhook_codec import WebhookCodec
from setpoint.apiserver.webhooks.client import WebhookClient
from setpoint.registry.apiextensions.conditions import is_true
from setpoint.registry.resource import CustomKind, ServedResource, Subresource
from setpoint.registry.strategy import Context, Object

Definition = Mapping[str, Any]
Handle = Callable[[Any], Awaitable[Any]]

_EVERYTHING: Mapping[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_PART = ("get", "patch", "update")
_SECONDS = 30  # that a conversion may take


class Kind:
    """One definition, compiled. `names` are the accepted ones; `watches` gets every watch of its objects.

    `since` is the revision of the definition that made its objects look as they do: watches begin there at the earliest.
    """

    def __init__(
        self,
        definition: Definition,
        names: Mapping[str, Any],
        pack: Pack,
        generation: int,
        client: WebhookClient,
        watches: set[Any] | None = None,
        since: int = 0,
    ) -> None:
        self._watches = watches if watches is not None else set()
        self._since = since
        self.spec: Mapping[str, Any] = definition["spec"]
        self.names = names
        self.generation = generation
        self.group: str = self.spec["group"]
        self.versions: Sequence[Mapping[str, Any]] = self.spec["versions"]
        self.storage = next(version["name"] for version in self.versions if version.get("storage"))
        self.stored = f"{self.group}/{self.storage}"
        self.schemas = {f"{self.group}/{version['name']}": _schema(version) for version in self.versions}
        self.converter = _converter(self.spec.get("conversion") or {}, client)
        self.terminating = is_true(definition, "Terminating")
        self._pack = pack
        self._nodes: dict[str, Node] = {}
        self.shallow = _shallow(pack)

    @property
    def served(self) -> list[str]:
        """Names of the served versions, the best first."""
        return sorted((version["name"] for version in self.versions if version.get("served")), key=priority)

    def convert(self, obj: Object, wanted: str) -> Object:
        """An object in another version. Raises NeedsConversion where a webhook is to be asked first."""
        if self.converter is not None:
            return known(obj, wanted)
        return codec.relabelled(obj, wanted)

    def node(self, version: str) -> Node:
        """The tree of a version."""
        found = self._nodes.get(version)
        if found is None:
            found = self._nodes[version] = compile_schema(self.schemas[f"{self.group}/{version}"], self._pack)
        return found

    @cached_property
    def rows(self) -> Mapping[str, ServedResource]:
        """A row per version, for the pipeline: whole families, each seen from its version."""
        return {version["name"]: self._row(version) for version in self.versions}

    def published(self) -> Iterator[ServedResource]:
        """The rows of discovery and OpenAPI, which know nothing but one version."""
        for name in self.served:
            yield structs.replace(self.rows[name], versions=(name,), storage=self.storage)

    def _row(self, version: Mapping[str, Any]) -> ServedResource:
        name, given = version["name"], self.names
        parts = version.get("subresources") or {}
        validator = Validator(self.schemas[f"{self.group}/{name}"], lambda: self.node(name), parts.get("scale"))
        has_status = parts.get("status") is not None
        strategy = CustomStrategy(validator, _selectable(version), status=has_status)
        everything = [each["name"] for each in self.versions]
        prefix = ".".join(reversed(self.group.split(".")))
        return ServedResource(
            group=self.group,
            versions=tuple(sorted(everything, key=priority)),
            plural=given["plural"],
            singular=given.get("singular") or "",
            kind=given["kind"],
            namespaced=self.spec["scope"] == "Namespaced",
            strategy=strategy,
            definitions={each: f"{prefix}.{each}.{given['kind']}" for each in everything},
            short_names=tuple(given.get("shortNames") or ()),
            categories=tuple(given.get("categories") or ()),
            subresources=tuple(_subresources(parts, strategy)),
            table=columns.table_of(version.get("additionalPrinterColumns")),
            storage=name,
            list_kind=given.get("listKind") or f"{given['kind']}List",
            deprecations={name: self._deprecation(version)},
            begin_create=self._refuse if self.terminating else None,
            custom=self._custom(version, validator),
        )

    async def _refuse(self, context: Context, _obj: Object, _old: Object | None) -> None:
        """No new objects while the definition is being deleted. Raises 403."""
        why = "create not allowed while custom resource definition is terminating"
        raise forbidden_object(self.group, self.names["plural"], context.name, why)

    def _codec(self, resource: ServedResource, _canonical: object) -> codec.CustomCodec:
        return codec.CustomCodec(resource, self) if self.converter is None else WebhookCodec(resource, self, self.converter)

    def _around(self, handler: Handle) -> Handle:
        """The handler, called anew whenever a webhook has converted what it asked for; only the last call's warnings count."""
        converter = self.converter
        if converter is None:
            return handler

        async def handle(call: Any) -> Any:
            held = len(call.warnings)

            async def once() -> Any:
                del call.warnings[held:]
                return await handler(call)

            return await in_rounds(converter, once)

        return handle

    def _deprecation(self, version: Mapping[str, Any]) -> str:
        """What answers about a version warn of: its own words, or the newest version to use instead."""
        if not version.get("deprecated"):
            return ""
        if own := version.get("deprecationWarning"):
            return str(own)
        name, kind = version["name"], self.names["kind"]
        text = f"{self.group}/{name} {kind} is deprecated"
        better = [
            each["name"]
            for each in self.versions
            if each.get("served") and not each.get("deprecated") and _newer(each["name"], name)
        ]
        return f"{text}; use {self.group}/{min(better, key=priority)} {kind}" if better else text

    def _custom(self, version: Mapping[str, Any], validator: Validator) -> CustomKind:
        by_webhook = self.converter is not None
        scaling = (version.get("subresources") or {}).get("scale")
        return CustomKind(
            node=self.node,
            schemas={each["name"]: self.schemas[f"{self.group}/{each['name']}"] for each in self.versions},
            shallow=self.shallow,
            settle_embedded=validator.settle_embedded,
            convert=self.convert,
            codec=self._codec,
            store=ConvertingStore if by_webhook else None,
            around=self._around if by_webhook else None,
            handlers={"scale": scale.Scaling(scaling).handle} if scaling else {},
            since=self._since,
            watches=self._watches,
        )


def _converter(conversion: Mapping[str, Any], client: WebhookClient) -> Converter | None:
    if conversion.get("strategy") != "Webhook":
        return None
    webhook = conversion.get("webhook") or {}
    config = webhook.get("clientConfig") or {}
    return Converter(webhook.get("conversionReviewVersions") or (), lambda body: client.call(config, body, seconds=_SECONDS))


def _newer(one: str, other: str) -> bool:
    return priority(one) < priority(other)


def _schema(version: Mapping[str, Any]) -> Mapping[str, Any]:
    found = (version.get("schema") or {}).get("openAPIV3Schema")
    return found if found is not None else _EVERYTHING


def _shallow(pack: Pack) -> Node:
    """What bodies are read by: metadata as every kind has it, the rest as it comes."""
    return compile_schema(_EVERYTHING, pack)


def _selectable(version: Mapping[str, Any]) -> tuple[Selectable, ...]:
    paths = [field["jsonPath"] for field in version.get("selectableFields") or ()]
    return tuple(Selectable(path.removeprefix("."), JsonPath(path)) for path in paths)


def _subresources(parts: Mapping[str, Any], strategy: CustomStrategy) -> Iterator[Subresource]:
    if parts.get("status") is not None:
        yield Subresource("status", _PART, strategy=CustomStatusStrategy(strategy))
    if parts.get("scale") is not None:
        yield Subresource("scale", _PART, kind="Scale", group="autoscaling", version="v1")
