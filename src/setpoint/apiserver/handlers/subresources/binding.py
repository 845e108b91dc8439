"""`binding`: the scheduler's decision. Sets `spec.nodeName` once and marks the pod as scheduled.

Source: Kubernetes `registry/core/pod/storage` (BindingREST, assignPod).
"""

from __future__ import annotations

from setpoint.api.machinery.status import StatusError, bad_request, conflict, not_supported, required
from setpoint.api.machinery.store_names import check_name
from setpoint.apiserver import answers
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store.store import GenericStore
from setpoint.apiserver.handlers.subresources import own_changes
from setpoint.apiserver.negotiation import accepted, body_type
from setpoint.apiserver.options import write_options
from setpoint.apiserver.request import Response
from setpoint.kit.clock import rfc3339
from setpoint.registry.strategy import Context, Object

_DEFINITION = "io.k8s.api.core.v1.Binding"


async def handle(call: Call) -> Response:
    """POST to `pods/<name>/binding`, or to `bindings` with the pod's name in the body."""
    call.form = accepted(call.request, answers.OBJECT_FORMS)
    options = write_options(call.request, "CreateOptions")
    media = body_type(call.request)
    binding, warnings = call.bodies.decode_as(call.request.body, media, _DEFINITION, "Binding", "v1", options.validation)
    call.warnings += warnings
    metadata, info = binding["metadata"], call.info
    given = metadata.get("namespace")
    if given and given != info.namespace:
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    name = metadata.get("name", "")
    store = call.pipeline.stores["", "pods"]
    context = call.context("CREATE", options)
    context.namespace, context.name, context.subresource = info.namespace, info.name or name, "binding"
    asked = store.request(context, "CREATE", binding, None)
    await store.admission.admit(asked)
    if info.name and info.name != name:
        raise bad_request("name in URL does not match name in Binding object")
    _check(binding)
    await store.admission.validate(asked)
    await _assign(store, context, name, binding)
    return answers.value_answer(
        call, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, 201
    )


def _check(binding: Object) -> None:
    target = binding.get("target") or {}
    errors = []
    if target.get("kind") not in (None, "", "Node"):
        errors.append(not_supported("target.kind", target["kind"], ("Node", "<empty>")))
    if not target.get("name"):
        errors.append(required("target.name"))
    if errors:
        # Kubernetes does not wrap these into an Invalid: they reach the client as an internal error.
        texts = [str(error) for error in errors]
        raise StatusError(500, "", texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")


async def _assign(store: GenericStore, context: Context, name: str, binding: Object) -> None:
    check_name(name)
    node = binding["target"]["name"]
    wanted = binding["metadata"]

    def refused(why: str) -> StatusError:
        return conflict("", "pods/binding", name, why)

    async def compute(old: Object) -> Object:
        meta, spec = old["metadata"], old.get("spec") or {}
        for shown, field in (("UID", "uid"), ("ResourceVersion", "resourceVersion")):
            if not wanted.get(field) or wanted[field] == meta[field]:
                continue
            why = f"Precondition failed: {shown} in precondition: {wanted[field]}, {shown} in object meta: {meta[field]}"
            place = f"Code: 4, Key: /registry/pods/{context.namespace}/{name}, ResourceVersion: 0"
            raise store.conflict(name, f"StorageError: invalid object, {place}, AdditionalErrorMsg: {why}")
        if meta.get("deletionTimestamp"):
            raise refused(f"pod {name} is being deleted, cannot be assigned to a host")
        if spec.get("nodeName"):
            raise refused(f'pod {name} is already assigned to node "{spec["nodeName"]}"')
        if spec.get("schedulingGates"):
            raise refused(f"pod {name} has non-empty .spec.schedulingGates")
        return _bound(store, old, node, wanted)

    await own_changes.change(store, context, name, compute)


def _bound(store: GenericStore, old: Object, node: str, wanted: Object) -> Object:
    metadata = dict(old["metadata"])
    for field in ("annotations", "labels"):
        if wanted.get(field):
            metadata[field] = {**(metadata.get(field) or {}), **wanted[field]}
    status = dict(old.get("status") or {})
    conditions = [dict(condition) for condition in status.get("conditions") or ()]
    now = rfc3339(store.clock.now())
    scheduled = {"type": "PodScheduled", "status": "True", "lastProbeTime": None, "lastTransitionTime": now}
    known = any(condition["type"] == "PodScheduled" for condition in conditions)
    status["conditions"] = [scheduled if condition["type"] == "PodScheduled" else condition for condition in conditions]
    if not known:
        status["conditions"].append(scheduled)
    status.pop("nominatedNodeName", None)  # it has its node
    return {**old, "metadata": metadata, "spec": {**(old.get("spec") or {}), "nodeName": node}, "status": status}
