"""The RBAC authoriser, and the following of roles and bindings. Source: `plugin/pkg/auth/authorizer/rbac`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import orjson

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authorization import union
from setpoint.apiserver.authorization.decision import NO_OPINION, Decision, Rules
from setpoint.apiserver.authorization.rbac.index import Index, Key, Rule, binding_of, not_found
from setpoint.apiserver.routing import RequestInfo
from setpoint.kit.clock import Clock
from setpoint.kit.tasks import Tasks
from setpoint.registry.rbac.default_roles import Seeds
from setpoint.storage.following import Following
from setpoint.storage.protocol import Record, Store

GROUP = "rbac.authorization.k8s.io"
_ROLES = ("clusterroles", "roles")
_BINDINGS = ("clusterrolebindings", "rolebindings")


class RBAC:
    """Decides by the roles in the store. Where the default ones are not made yet, their table speaks for them.

    A `pipeline.Follower`: `load` before the first request, then `run`, for ever.
    """

    def __init__(self, store: Store, clock: Clock, seeds: Seeds | None = None) -> None:
        self.index = Index()
        self._store = store
        self._seen = -1
        self._seeded: set[tuple[str, Key]] = set()
        self._followings = [
            Following(store, clock, f"{plural}.{GROUP}/", partial(self._take, plural)) for plural in (*_ROLES, *_BINDINGS)
        ]
        if seeds is not None:
            self._seed(seeds)

    # --- authorizer ---

    def decide(self, user: UserInfo, info: RequestInfo) -> Decision:
        self.catch_up()  # a right that was taken away is gone with the answer that said so, one that was given is there
        allowed = self.index.decide(user, info)
        if allowed is not None:
            return allowed
        missing = self.index.missing(user, info.namespace)
        return Decision(None, f"RBAC: {union.aggregate(missing)}") if missing else NO_OPINION

    def rules_for(self, user: UserInfo, namespace: str) -> Rules:
        """All that bindings give a user in a namespace."""
        rules, missing = self.held(user, namespace)
        resources = [rule for rule in rules if rule.get("resources")]
        paths = [rule for rule in rules if rule.get("nonResourceURLs")]
        return Rules(resources, paths, error=union.aggregate(missing))

    def held(self, user: UserInfo, namespace: str, resource: str = "") -> tuple[list[Rule], list[str]]:
        """The rules of all roles that a user is bound to, and what is said of roles that are not there."""
        self.catch_up()
        rules: list[Rule] = []
        missing: list[str] = []
        for binding in self.index.bindings(user, namespace):
            found = self.index.rules(binding.role)
            if found is None:
                missing.append(not_found(binding.role, resource))
            else:
                rules += found
        return rules, missing

    def rules_of(self, namespace: str, name: str) -> Sequence[Rule] | None:
        """The rules of one role; None if it is not there."""
        self.catch_up()
        return self.index.rules((namespace, name))

    def catch_up(self) -> bool:
        """Take what the store has for us; whether that was anything."""
        if self._seen == self._store.revision:
            return False
        self._seen = self._store.revision
        return sum(following.catch_up() for following in self._followings) > 0

    # --- following ---

    async def load(self) -> None:
        for following in self._followings:
            await following.load()

    async def run(self) -> None:
        async with Tasks("rbac") as tasks:
            for following in self._followings:
                tasks.start(following.prefix, following.run())

    def _take(self, plural: str, key: str, record: Record | None) -> None:
        namespace, _, name = key.partition("/")[2].rpartition("/")
        place = (namespace, name)
        obj: dict[str, Any] | None = None if record is None else orjson.loads(record.value)
        self._seeded.discard((plural, place))
        if plural in _ROLES:
            self.index.set_role(place, None if obj is None else obj.get("rules") or ())
        else:
            self.index.set_binding(place, None if obj is None else binding_of(obj))

    # --- defaults ---

    def _seed(self, seeds: Seeds) -> None:
        for key in seeds.roles():
            self.index.set_role(key, partial(seeds.rules, key))
            self._seeded.add(("roles" if key[0] else "clusterroles", key))
        for binding in map(binding_of, seeds.bindings()):
            self.index.set_binding(binding.key, binding)
            self._seeded.add(("rolebindings" if binding.key[0] else "clusterrolebindings", binding.key))

    def defaults_made(self) -> None:
        """The default roles are in the store now: what is not there does not count any more."""
        self.catch_up()
        setters: dict[str, Callable[[Key, None], None]] = dict.fromkeys(_ROLES, self.index.set_role)
        setters |= dict.fromkeys(_BINDINGS, self.index.set_binding)
        for plural, key in self._seeded:
            setters[plural](key, None)
        self._seeded.clear()
