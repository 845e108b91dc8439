"""One request on its way through a handler, and what handlers need around it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, field

from setpoint.apiserver.bodies import Bodies
from setpoint.apiserver.negotiation import PLAIN, Form
from setpoint.apiserver.request import Request
from setpoint.apiserver.routing import RequestInfo, Served
from setpoint.kit.clock import Clock
from setpoint.registry.resource import ServedResource, Subresource
from setpoint.registry.strategy import Context

if TYPE_CHECKING:
    from setpoint.apiserver.generic_store.store import GenericStore
    from setpoint.apiserver.options import WriteOptions
    from setpoint.apiserver.pipeline import Pipeline


class Call(Struct):
    """What a handler gets: the request, what it asks for, and who serves it."""

    request: Request
    info: RequestInfo
    served: Served
    #: those of `served`, asked for many times on the way of a request
    resource: ServedResource
    version: str
    store: GenericStore
    pipeline: Pipeline
    subresource: Subresource | None = None
    form: Form = PLAIN
    warnings: list[str] = field(default_factory=list)

    @property
    def clock(self) -> Clock:
        return self.pipeline.clock

    @property
    def bodies(self) -> Bodies:
        return self.pipeline.bodies

    def context(self, operation: str, options: WriteOptions | None = None) -> Context:
        """The Context of a write with these options."""
        return Context(
            user=self.request.user,
            now=self.pipeline.clock.now(),
            namespace=self.info.namespace if self.resource.namespaced else "",
            name=self.info.name,
            subresource=self.info.subresource,
            operation=operation,
            dry_run=bool(options and options.dry_run),
            field_manager=options.field_manager if options else "",
            warnings=self.warnings,
            options=options.as_dict() if options else {},
            version=self.served.version,
            annotations=self.request.annotations,
        )
