"""TokenRequest: what may be asked for, and the answer. Source: `registry/core/serviceaccount/storage/token.go`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setpoint.api.machinery.status import FieldError, bad_request, conflict, invalid, invalid_object, not_found
from setpoint.api.machinery.store_names import check_name
from setpoint.apiserver.authentication.service_accounts import Bound, ServiceAccountTokens
from setpoint.kit.clock import Clock, rfc3339
from setpoint.registry.admission.reader import Getter

GROUP, KIND = "authentication.k8s.io", "TokenRequest"
_DEFAULT_SECONDS = 3600
_MIN_SECONDS = 600
_MAX_SECONDS = 1 << 32
_INJECTED_SECONDS = 3607  # what the ServiceAccount admission asks for in the volumes that it adds
_EXTENDED_SECONDS = 365 * 24 * 3600
_BINDABLE = {"Pod": "pods", "Secret": "secrets", "Node": "nodes"}


class TokenRequests:
    """Answers TokenRequests for service accounts; raises StatusError for what may not be asked."""

    def __init__(self, tokens: ServiceAccountTokens, objects: Getter, clock: Clock) -> None:
        self._tokens = tokens
        self._objects = objects
        self._clock = clock

    async def issue(self, account: Mapping[str, Any], request: dict[str, Any], *, dry_run: bool) -> dict[str, Any]:
        """The request with its metadata, defaults and, unless it is a dry run, the token."""
        metadata, owner = request.setdefault("metadata", {}), account["metadata"]
        self._check_uid(metadata, owner)
        spec = request.setdefault("spec", {})
        if spec.get("expirationSeconds") is None:
            spec["expirationSeconds"] = _DEFAULT_SECONDS
        if errors := _spec_errors(spec["expirationSeconds"]):
            raise invalid_object(GROUP, KIND, "", errors)
        spec["audiences"] = spec.get("audiences") or [self._tokens.issuer]
        bound = await self._bound(spec.get("boundObjectRef"), owner)
        spec.setdefault("boundObjectRef", None)
        metadata |= {"name": owner["name"], "namespace": owner["namespace"], "uid": owner["uid"]}
        metadata["creationTimestamp"] = rfc3339(self._clock.now())
        token, expires = "", int(self._clock.now()) + spec["expirationSeconds"]
        if not dry_run:
            seconds, warn_after = self._lifetime(spec, bound)
            token, _ = self._tokens.issue(
                owner["namespace"],
                account,
                audiences=spec["audiences"],
                seconds=seconds,
                bound=bound,
                warn_after=warn_after,
            )
        request["status"] = {"token": token, "expirationTimestamp": rfc3339(expires)}
        return request

    @staticmethod
    def check_name(metadata: Mapping[str, Any], namespace: str, name: str) -> None:
        """Whether a request says the same as its path, of an account that need not be there."""
        given = metadata.get("name") or ""
        if (metadata.get("namespace") or namespace) != namespace:
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
        if given not in ("", name):
            error = invalid("metadata.name", given, "must match the service account name if specified")
            raise invalid_object(GROUP, KIND, name, [error])

    def _check_uid(self, metadata: Mapping[str, Any], owner: Mapping[str, Any]) -> None:
        if (uid := metadata.get("uid", "")) not in ("", owner["uid"]):
            why = f"the UID in the token request ({uid}) does not match the UID of the service account ({owner['uid']})"
            raise conflict(GROUP, KIND, owner["name"], why)

    async def _bound(self, reference: Mapping[str, Any] | None, owner: Mapping[str, Any]) -> list[Bound]:
        """What the token lives with: the object named, and of a pod its node."""
        if reference is None:
            return []
        kind, version, name = (reference.get(key, "") for key in ("kind", "apiVersion", "name"))
        group, _, short = version.rpartition("/")
        if kind not in _BINDABLE or group:
            raise bad_request(f"cannot bind token to object of type {group}/{short}, Kind={kind}")
        check_name(name)
        found = await self._objects.get(_BINDABLE[kind], "" if kind == "Node" else owner["namespace"], name)
        if found is None:
            raise not_found("", _BINDABLE[kind], name)
        if kind == "Pod" and found["spec"].get("serviceAccountName") != owner["name"]:
            why = f'cannot bind token for serviceaccount "{owner["name"]}" to pod running with different serviceaccount name.'
            raise bad_request(why)
        uid = found["metadata"]["uid"]
        if (wanted := reference.get("uid", "")) and wanted != uid:
            why = f"the UID in the bound object reference ({wanted}) does not match the UID in record. "
            raise conflict("", kind, name, why + "The object might have been deleted and then recreated")
        bound = [Bound(kind, name, uid)]
        node = found.get("spec", {}).get("nodeName", "") if kind == "Pod" else ""
        if node:  # told even where the node is not there (any more)
            held = await self._objects.get("nodes", "", node)
            bound.append(Bound("Node", node, held["metadata"]["uid"] if held is not None else ""))
        return bound

    def _lifetime(self, spec: Mapping[str, Any], bound: list[Bound]) -> tuple[int, int]:
        """Seconds that a token is good for, and after which it should have been renewed (0: not told).

        Tokens that pods get by themselves live longer than they say, for clients that never read them again.
        """
        seconds: int = spec["expirationSeconds"]
        of_pod = any(item.kind == "Pod" for item in bound)
        if of_pod and seconds == _INJECTED_SECONDS and set(spec["audiences"]) <= {self._tokens.issuer}:
            return _EXTENDED_SECONDS, seconds
        return seconds, 0


def _spec_errors(seconds: int) -> list[FieldError]:
    field = "spec.expirationSeconds"
    if seconds < _MIN_SECONDS:
        return [invalid(field, seconds, "may not specify a duration less than 10 minutes")]
    if seconds > _MAX_SECONDS:
        return [invalid(field, seconds, "may not specify a duration larger than 2^32 seconds")]
    return []
