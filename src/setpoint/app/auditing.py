"""The audit log as options ask for it. Imported where it is on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from setpoint.api.machinery.decode import IGNORE
from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.audit import policy
from setpoint.apiserver.audit.log_file import Rotation
from setpoint.apiserver.audit.log_process import LogProcess
from setpoint.apiserver.audit.recorder import Recorder
from setpoint.apiserver.negotiation import body_type
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request
from setpoint.apiserver.routing import RequestInfo
from setpoint.app.options import Audit, StartError
from setpoint.kit.clock import Clock


def begin(audit: Audit, pipeline: Pipeline, clock: Clock) -> tuple[Recorder, LogProcess]:
    """What records requests, and what writes its log. Raises StartError."""
    try:
        rules = policy.read(Path(audit.policy))
    except (OSError, ValueError) as error:
        raise StartError(f"audit policy {audit.policy}: {error}") from error
    log = LogProcess(audit.log, Rotation(audit.size, audit.backups, audit.days))
    try:
        log.open()
    except OSError as error:
        raise StartError(f"audit log {audit.log}: {error.strerror}") from error

    def decode(request: Request, info: RequestInfo) -> Any:
        return _object(pipeline, request, info)

    recorder = Recorder(rules, log, clock, decode)
    log.last = recorder.flush
    return recorder, log


def _object(pipeline: Pipeline, request: Request, info: RequestInfo) -> Any:
    """A body that is no JSON, as the object that it describes; None where it cannot be told."""
    served = pipeline.router.find(info.group, info.version, info.resource)
    if info.verb == "patch":  # an apply, whose YAML is mostly JSON anyway
        return _yaml(request.body)
    if served is None or (info.subresource and info.subresource != "status"):
        return None
    try:
        media = body_type(request)
        return pipeline.bodies.decode(request.body, media, served.resource, info.version, IGNORE)[0]
    except StatusError:
        return None


def _yaml(body: bytes) -> Any:
    """As the handler reads it: a small body cannot become a large line, and all that it holds can be written as JSON."""
    from setpoint.api.machinery.yaml_bodies import YamlComplaint, to_json

    try:
        return orjson.loads(to_json(body)[0])
    except YamlComplaint:
        return None
