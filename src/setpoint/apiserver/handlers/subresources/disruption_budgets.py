"""What PodDisruptionBudgets say to an eviction: one covers the pod, and has a disruption left to give.

Source: Kubernetes `registry/core/pod/storage/eviction.go` (checkAndDecrement) and `util/pod-disruption-budget`.
"""

from __future__ import annotations

from typing import Any

from setpoint.api.machinery import selectors
from setpoint.api.machinery.status import StatusError, forbidden_object
from setpoint.apiserver.call import Call
from setpoint.registry.strategy import Object
from setpoint.storage.protocol import Conflict, NotFound

_ATTEMPTS = 20
_BUDGET = "poddisruptionbudget"
_ALLOWED = "DisruptionAllowed"
_MOST_DISRUPTED = 2000  # evictions that the budgets' controller has not yet seen come to their end


async def ask(call: Call, pod: Object, *, dry_run: bool) -> str:
    """Take one disruption of the pod's budget, again where somebody else took one at the same time. Raises 403, 429, 500, 504.

    The name of a budget under which the pod may go without one, as long as it is not ready; "" where it is not so.
    """
    for _ in range(_ATTEMPTS):
        try:
            return await _ask(call, pod, dry_run=dry_run)
        except (Conflict, NotFound):
            continue
    raise StatusError(504, "Timeout", "couldn't update PodDisruptionBudget due to conflicts", {"retryAfterSeconds": 10})


async def _ask(call: Call, pod: Object, *, dry_run: bool) -> str:
    budgets = call.pipeline.stores.get(("policy", "poddisruptionbudgets"))
    if budgets is None:
        return ""
    page = await call.pipeline.store.list(budgets.resource.prefix(call.info.namespace))
    found = [obj for obj in map(budgets.codec.decode, page.records) if _covers(obj, pod)]
    if len(found) > 1:
        raise StatusError(
            500,
            "",  # Kubernetes gives none
            "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
        )
    if found and _unready_may_go(found[0], pod):
        return str(found[0]["metadata"]["name"])
    if found:
        await _take_one(call, found[0], pod, dry_run=dry_run)
    return ""


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
        raise still_processed(name)
    allowed = status.get("disruptionsAllowed", 0)
    if allowed < 0:
        raise forbidden_object("policy", _BUDGET, name, "pdb disruptions allowed is negative")
    if len(status.get("disruptedPods") or ()) > _MOST_DISRUPTED:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise forbidden_object("policy", _BUDGET, name, why)
    if not allowed:
        raise _refused(_why(name, status), 0)
    if not dry_run:
        await _count(call, budget, pod, allowed)


def _why(name: str, status: Object) -> str:
    """What was not computed is not told: after a failed sync the counts are not to be trusted."""
    subject, never = f"The disruption budget {name}", "does not allow evicting pods currently"
    told: Object = next((each for each in status.get("conditions") or () if each["type"] == _ALLOWED), {})
    reason, message = (told.get("reason"), told.get("message")) if told.get("status") == "False" else ("", "")
    if message and reason == "SyncFailed":
        return f"{subject} {never} because it failed sync: {message}"
    healthy, desired = status.get("currentHealthy", 0), status.get("desiredHealthy", 0)
    if healthy <= desired:
        return f"{subject} needs {desired} healthy pods and has {healthy} currently"
    return f"{subject} {never} ({reason}): {message}" if message else f"{subject} {never}"


async def _count(call: Call, budget: Object, pod: Object, allowed: int) -> None:
    """Note the disruption in the budget, so that the next eviction counts with it."""
    from setpoint.apiserver.generic_store.objects import encoder
    from setpoint.kit.clock import rfc3339

    store = call.pipeline.stores["policy", "poddisruptionbudgets"]
    meta, status, now = budget["metadata"], budget["status"], rfc3339(call.clock.now())
    disrupted = {**(status.get("disruptedPods") or {}), pod["metadata"]["name"]: now}
    budget["status"] = status = {**status, "disruptionsAllowed": allowed - 1, "disruptedPods": disrupted}
    if allowed == 1:
        status["conditions"] = used_up(status, now)
    key = store.key(meta["namespace"], meta["name"])
    await store.store.update(key, encoder(store.strategy, budget), expect=int(meta["resourceVersion"]))


def used_up(status: Object, now: str) -> list[Object]:
    """The conditions of a budget that has just given its last disruption."""
    listed = [dict(each) for each in status.get("conditions") or ()]
    told: Object = next((each for each in listed if each["type"] == _ALLOWED), {})
    if not told:
        listed.append(told)
    if told.get("status") != "False":
        told["lastTransitionTime"] = now
    told |= {"type": _ALLOWED, "status": "False", "reason": "InsufficientPods", "message": ""}
    told["observedGeneration"] = status.get("observedGeneration", 0)
    return listed


def still_processed(name: str) -> StatusError:
    """To be tried again: the budget, or the pod under it, has just changed."""
    return _refused(f"The disruption budget {name} is still being processed by the server.", 10)


def _refused(why: str, seconds: int) -> StatusError:
    details: dict[str, Any] = {"causes": [{"reason": "DisruptionBudget", "message": why}]}
    if seconds:
        details["retryAfterSeconds"] = seconds
    return StatusError(429, "TooManyRequests", "Cannot evict pod as it would violate the pod's disruption budget.", details)
