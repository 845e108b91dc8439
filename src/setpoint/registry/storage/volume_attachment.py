"""VolumeAttachments: the wish that a volume be attached to a node.

Source: `pkg/registry/storage/volumeattachment`, `pkg/apis/storage/validation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setpoint.api.machinery import names
from setpoint.api.machinery.status import FieldError, forbidden, invalid, required, too_long
from setpoint.registry import formats, go_form
from setpoint.registry.fields import Errors, complain, dns_subdomain
from setpoint.registry.persistent_volume.inline import validate_inline_volume
from setpoint.registry.pod.validation.remote_volumes import csi_driver_name
from setpoint.registry.spec_status import STATUS_METADATA, SpecStatusStrategy, StatusStrategy
from setpoint.registry.strategy import Context, Object

_ONE_SOURCE = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
_LONGEST_ERROR = 1024  # bytes
_MAX_METADATA_SIZE = 256 * 1024  # bytes of all keys and values


class VolumeAttachmentStrategy(SpecStatusStrategy):
    """The main endpoint: the wish cannot be changed."""

    delete_returns_object: ClassVar[bool] = True
    allow_unconditional_update = False
    validates_whole_on_update: ClassVar[bool] = True
    compares_metadata_on_update: ClassVar[bool] = False

    def prepare_for_create(self, context: Context, obj: Object) -> None:
        obj["status"] = {"attached": False}

    def validate(self, context: Context, obj: Object) -> list[FieldError]:
        """New attachments are checked more strictly than those that exist."""
        spec = obj.get("spec") or {}
        errors = _validate_spec(spec)
        if spec.get("attacher"):
            errors += csi_driver_name("spec.attacher", spec["attacher"])
        volume = (spec.get("source") or {}).get("persistentVolumeName")
        return errors + (dns_subdomain("spec.source.persistentVolumeName", volume) if volume else [])

    def validate_update(self, context: Context, obj: Object, old: Object) -> list[FieldError]:
        spec = obj.get("spec") or {}
        errors = (_validate_spec(spec) + _validate_status(obj)) * 2  # Kubernetes looks at the whole twice: causes repeat
        if spec != (old.get("spec") or {}):
            errors.append(invalid("spec", go_form.of(spec, "VolumeAttachmentSpec"), formats.IMMUTABLE))
        return errors


def _validate_spec(spec: Mapping[str, Any]) -> Errors:
    errors: Errors = [] if spec.get("attacher") else [required("spec.attacher")]
    source = spec.get("source") or {}
    volume, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    if volume is None and inline is None:
        errors.append(required("spec.source", _ONE_SOURCE))
    elif volume is not None and inline is not None:
        errors.append(forbidden("spec.source", _ONE_SOURCE))
    elif volume == "":
        errors.append(required("spec.source.persistentVolumeName", "must specify non empty persistentVolumeName"))
    elif inline is not None:
        errors += validate_inline_volume("spec.source.inlineVolumeSpec", inline)
    return errors + dns_subdomain("spec.nodeName", spec.get("nodeName", ""))


def _validate_status(obj: Object) -> Errors:
    status = obj.get("status") or {}
    given, path = status.get("attachmentMetadata") or {}, "status.attachmentMetadata"
    errors: Errors = []
    if names.annotations_size(given) > _MAX_METADATA_SIZE:
        errors.append(too_long(path, _MAX_METADATA_SIZE))
    for field in ("attachError", "detachError"):
        error = status.get(field) or {}
        code = error.get("errorCode")
        if len(error.get("message", "").encode()) > _LONGEST_ERROR:  # the limit that is named is another one's
            errors.append(too_long(f"status.{field}.message", _MAX_METADATA_SIZE))
        if code is not None and code < 0:
            why = names.in_range(code, 0, formats.MAX_INT32)
            errors += complain(f"status.{field}.errorCode", code, why)
    return errors


def validate_attachment_status(obj: Object, _old: Object) -> Errors:
    """Of the `status` endpoint, which goes by the same rules as the main one."""
    return _validate_status(obj) * 2


def volume_attachment_status() -> StatusStrategy:
    """The `status` endpoint."""
    main = VolumeAttachmentStrategy()
    return StatusStrategy(main, keep_metadata=STATUS_METADATA, validate_status=validate_attachment_status)
