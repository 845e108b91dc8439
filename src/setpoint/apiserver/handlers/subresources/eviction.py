"""`eviction`: a deletion that asks PodDisruptionBudgets first.

Source: Kubernetes `registry/core/pod/storage/eviction.go`.
"""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery import selectors
from setpoint.api.machinery.status import StatusError, bad_request
from setpoint.apiserver import answers
from setpoint.apiserver.call import Call
from setpoint.apiserver.generic_store import delete as deleting
from setpoint.apiserver.generic_store.delete import Deletion
from setpoint.apiserver.negotiation import accepted, body_type
from setpoint.apiserver.options import WriteOptions, write_options
from setpoint.apiserver.request import Response
from setpoint.registry.strategy import Object
from setpoint.storage.protocol import Conflict, NotFound

_DEFINITION = "io.k8s.api.policy.v1.Eviction"
_BETA = "policy/v1beta1"
_ATTEMPTS = 20


async def handle(call: Call) -> Response:
    call.form = accepted(call.request, answers.OBJECT_FORMS)
    options = write_options(call.request, "CreateOptions")
    eviction, name = _decoded(call, options), call.info.name
    if eviction["metadata"].get("namespace") not in (None, "", call.info.namespace):
        raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
    if eviction["metadata"].get("name") != name:
        raise bad_request("name in URL does not match name in Eviction object")
    eviction["metadata"]["namespace"] = call.info.namespace
    dry_run = _dry_run(options, eviction.get("deleteOptions") or {})
    asked_for = call.store.request(call.context("CREATE", options), "CREATE", eviction, None)
    await call.store.admission.admit(asked_for)
    await call.store.admission.validate(asked_for)
    pod = call.store.codec.decode(await call.store.head(call.info.namespace, name))
    asked = eviction.get("deleteOptions") or {}
    if not _ignores_budgets(pod):
        await _ask_budgets(call, pod, dry_run=dry_run)
    conditions = asked.get("preconditions") or {}
    deletion = Deletion(
        grace=asked.get("gracePeriodSeconds"),
        propagation=asked.get("propagationPolicy") or "",
        uid=conditions.get("uid"),
        version=conditions.get("resourceVersion"),
    )
    context = call.context("DELETE", WriteOptions("DeleteOptions", dry_run=dry_run))
    context.subresource = ""
    await deleting.delete(call.store, context, name, deletion)
    return answers.value_answer(
        call, {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201}, 201
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


async def _ask_budgets(call: Call, pod: Object, *, dry_run: bool) -> None:
    """Take one disruption of the pod's budget, again where somebody else took one at the same time. Raises 429, 500, 504."""
    for _ in range(_ATTEMPTS):
        try:
            await _ask_budget(call, pod, dry_run=dry_run)
        except (Conflict, NotFound):
            continue
        return
    raise StatusError(504, "Timeout", "couldn't update PodDisruptionBudget due to conflicts", {"retryAfterSeconds": 10})


async def _ask_budget(call: Call, pod: Object, *, dry_run: bool) -> None:
    budgets = call.pipeline.stores.get(("policy", "poddisruptionbudgets"))
    if budgets is None:
        return
    page = await call.pipeline.store.list(budgets.resource.prefix(call.info.namespace))
    found = [obj for obj in map(budgets.codec.decode, page.records) if _covers(obj, pod)]
    if len(found) > 1:
        raise StatusError(
            500,
            "",  # Kubernetes gives none
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
        )
    if found and not _unready_may_go(found[0], pod):
        await _take_one(call, found[0], pod, dry_run=dry_run)


def _covers(budget: Object, pod: Object) -> bool:
    selector = (budget.get("spec") or {}).get("selector")
    return selector is not None and selectors.from_object(selector).matches(pod["metadata"].get("labels") or {})


def _unready_may_go(budget: Object, pod: Object) -> bool:
    """Whether the pod may go without counting: it is not ready, and the budget's policy lets such pods go (KEP-3017)."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    if any(condition["type"] == "Ready" and condition["status"] == "True" for condition in conditions):
        return False
    if (budget.get("spec") or {}).get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    return bool(status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0)


async def _take_one(call: Call, budget: Object, pod: Object, *, dry_run: bool) -> None:
    status, name = budget.get("status") or {}, budget["metadata"]["name"]
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        raise _refused(f"The disruption budget {name} is still being processed by the server.", 10)
    allowed = status.get("disruptionsAllowed", 0)
    if allowed <= 0:
        needs = f"needs {status.get('desiredHealthy', 0)} healthy pods and has {status.get('currentHealthy', 0)} currently"
        raise _refused(f"The disruption budget {name} {needs}", 0)
    if not dry_run:
        await _count(call, budget, pod, allowed)


async def _count(call: Call, budget: Object, pod: Object, allowed: int) -> None:
    """Note the disruption in the budget, so that the next eviction counts with it."""
    from setpoint.apiserver.generic_store.objects import encoder
    from setpoint.kit.clock import rfc3339

    store = call.pipeline.stores["policy", "poddisruptionbudgets"]
    meta = budget["metadata"]
    disrupted = {**(budget["status"].get("disruptedPods") or {}), pod["metadata"]["name"]: rfc3339(call.clock.now())}
    budget["status"] = {**budget["status"], "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}
    key = store.key(meta["namespace"], meta["name"])
    await store.store.update(key, encoder(store.strategy, budget), expect=int(meta["resourceVersion"]))


def _refused(why: str, seconds: int) -> StatusError:
    details: dict[str, Any] = {"causes": [{"reason": "DisruptionBudget", "message": why}]}
    if seconds:
        details["retryAfterSeconds"] = seconds
    return StatusError(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", details)
