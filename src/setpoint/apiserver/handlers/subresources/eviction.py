"""`eviction`: a deletion that asks PodDisruptionBudgets first.

Source: Kubernetes `registry/core/pod/storage/eviction.go`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from setpoint.api.machinery.status import StatusError, bad_request
from setpoint.apiserver import answers
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store import delete as deleting
from setpoint.apiserver.generic_store.delete import Deletion
from setpoint.apiserver.handlers.subresources import disruption_budgets as budgets
from setpoint.apiserver.handlers.subresources import own_changes
from setpoint.apiserver.negotiation import accepted, body_type
from setpoint.apiserver.options import WriteOptions, write_options
from setpoint.apiserver.request import Response
from setpoint.kit.clock import rfc3339
from setpoint.registry.strategy import Object

_DEFINITION = "io.k8s.api.policy.v1.Eviction"
_BETA = "policy/v1beta1"
_ATTEMPTS = 20


async def handle(call: Call) -> Response:
    call.form = accepted(call.request, answers.OBJECT_FORMS)
    options = write_options(call.request, "CreateOptions")
    eviction, name = _decoded(call, options), call.info.name
    if eviction["metadata"].get("namespace") not in (None, "", call.info.namespace):
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    eviction["metadata"]["namespace"] = call.info.namespace
    asked_for = call.store.request(call.context("CREATE", options), "CREATE", eviction, None)
    await call.store.admission.admit(asked_for)
    if eviction["metadata"].get("name") != name:
        raise bad_request("name in URL does not match name in Eviction object")
    dry_run = _dry_run(options, eviction.get("deleteOptions") or {})
    await call.store.admission.validate(asked_for)
    await _evict(call, name, _deletion(eviction.get("deleteOptions") or {}), dry_run=dry_run)
    return answers.value_answer(
        call, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, 201
    )


def _deletion(asked: Object) -> Deletion:
    conditions = asked.get("preconditions") or {}
    return Deletion(
        grace=asked.get("gracePeriodSeconds"),
        propagation=asked.get("propagationPolicy") or "",
        uid=conditions.get("uid"),
        version=conditions.get("resourceVersion"),
        admitted=True,
    )


def _decoded(call: Call, options: WriteOptions) -> Object:
    """The Eviction, which may also come in the version that was before (KEP-85)."""
    body, media = call.request.body, body_type(call.request)

    def read(version: str) -> tuple[Object, list[str]]:
        return call.bodies.decode_as(body, media, _DEFINITION, "Eviction", version, options.validation)

    try:
        eviction, warnings = read("policy/v1")
    except StatusError as error:
        if f"({_BETA})" not in error.message:
            raise
        eviction, warnings = read(_BETA)
    call.warnings += warnings
    return eviction


def _dry_run(options: WriteOptions, asked: Object) -> bool:
    """The request and its content may both say it, but not differ. Raises 500, as Kubernetes does."""
    own = asked.get("dryRun") or []
    if own and options.dry_run and own != ["All"]:
        shown = f"[All] and [{' '.join(own)}]"
        raise StatusError(500, "", f"Non-matching dry-run options in request and content: {shown}")
    return options.dry_run or bool(own)


def _ignores_budgets(pod: Object) -> bool:
    """Pods that are over, not yet running, or already going do not count for a budget."""
    phase = (pod.get("status") or {}).get("phase")
    return phase in ("Succeeded", "Failed", "Pending") or bool(pod["metadata"].get("deletionTimestamp"))


async def _evict(call: Call, name: str, deletion: Deletion, *, dry_run: bool) -> None:
    """Delete the pod as it was judged: one that has become ready meanwhile is judged again."""
    given = deletion.version
    for attempt in range(_ATTEMPTS):
        pod = call.store.codec.decode(await call.store.head(call.info.namespace, name))
        free = _ignores_budgets(pod)
        budget = "" if free else await budgets.ask(call, pod, dry_run=dry_run)
        bound = bool(budget) or (free and _may_become_ready(pod))
        deletion.version = given or (pod["metadata"]["resourceVersion"] if bound else None)
        try:
            await _delete(call, name, deletion, dry_run=dry_run)
        except StatusError as error:
            if error.reason != "Conflict" or given or not bound:
                raise
            if budget:
                raise budgets.still_processed(budget) from error
            if attempt == _ATTEMPTS - 1:
                raise
        else:
            return


def _may_become_ready(pod: Object) -> bool:
    """Of pods that need no budget, those that are still on their way."""
    return (pod.get("status") or {}).get("phase") == "Pending" and not pod["metadata"].get("deletionTimestamp")


async def _delete(call: Call, name: str, deletion: Deletion, *, dry_run: bool) -> None:
    """Mark the pod as disrupted, then delete it."""
    store = call.store
    if not dry_run:
        outcome = await own_changes.change(store, call.context("UPDATE"), name, _marking(call, name, deletion))
        if deletion.version is not None:
            deletion.version = store.codec.decode(outcome.record)["metadata"]["resourceVersion"]
    context = call.context("DELETE", WriteOptions("DeleteOptions", dry_run=dry_run))
    context.subresource = ""
    await deleting.delete(store, context, name, deletion)


def _marking(call: Call, name: str, deletion: Deletion) -> Callable[[Object], Awaitable[Object]]:
    async def compute(old: Object) -> Object:
        deleting.check_preconditions(call.store, name, deletion, old)
        return disrupted(old, rfc3339(call.clock.now()))

    return compute


def disrupted(pod: Object, now: str) -> Object:
    """The pod with the condition DisruptionTarget, whose time of transition stays if it was so before (KEP-3329)."""
    told = {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
    }
    status = dict(pod.get("status") or {})
    listed = [*(status.get("conditions") or ())]
    at = next((index for index, each in enumerate(listed) if each["type"] == told["type"]), None)
    if at is None:
        listed.append(told)
    else:
        former = listed[at]
        if former.get("status") == "True":
            told["lastTransitionTime"] = former.get("lastTransitionTime")
        listed[at] = told
    status["conditions"] = listed
    return {**pod, "metadata": {**pod["metadata"]}, "status": status}
