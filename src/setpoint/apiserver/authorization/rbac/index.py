"""All roles and bindings, by subject.

Every subject of a scope (a namespace, or the whole cluster) has the bindings that name it, and a table made of their roles' rules
when it first asks; a change of a role or binding drops the tables of those concerned. So a decision costs a few look-ups for the
user and each of its groups, and changes cost little until somebody asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.authorization.decision import Decision
from setpoint.apiserver.authorization.rbac.table import Grant, Table
from setpoint.apiserver.routing import RequestInfo

_REMEMBERED = 20_000  # pairs of a user and a scope
_LONGEST = 4096  # characters of a pair that is remembered
_LONGEST_QUESTION = 512  # characters of a question whose answer is

Rule = Mapping[str, Any]
#: namespace (empty: a ClusterRole, a ClusterRoleBinding) and name
Key = tuple[str, str]
_SubjectKey = tuple[str, str, str]  # namespace, User or Group, name
#: user, groups, verb, API group, resource, subresource, namespace
_Question = tuple[str, tuple[str, ...], str, str, str, str, str]
#: rules, or what reads them when somebody asks
Rules = Sequence[Rule] | Callable[[], Sequence[Rule]]


class Binding(Struct, frozen=True):
    """A binding as the index needs it; `subjects` are (User or Group, name, how a reason names it), None for unknown kinds."""

    key: Key
    role: Key
    subjects: tuple[tuple[str, str, str] | None, ...]

    def described(self, index: int) -> str:
        """`RoleBinding "rb/ns" of ClusterRole "view" to Group "team"`."""
        namespace, name = self.key
        binding = f'RoleBinding "{name}/{namespace}"' if namespace else f'ClusterRoleBinding "{name}"'
        kind = "Role" if self.role[0] else "ClusterRole"
        subject = self.subjects[index]
        return f'{binding} of {kind} "{self.role[1]}" to {subject[2] if subject else ""}'


class _Subject(Struct):
    """Bindings by name, each with the subject's first place in it."""

    bindings: dict[str, tuple[Binding, int]] = field(default_factory=dict)
    table: Table | None = None


class Index:
    """Who may do what, by roles alone."""

    def __init__(self) -> None:
        self._roles: dict[Key, Rules] = {}
        self._bindings: dict[Key, Binding] = {}
        self._subjects: dict[_SubjectKey, _Subject] = {}
        self._users: dict[Key, set[_SubjectKey]] = {}  # of each role
        self._dangling: set[Key] = set()  # roles that bindings name and that are not there
        self._tables: dict[tuple[str, str, tuple[str, ...]], tuple[Table, ...]] = {}  # scope, user, groups
        self._allowed: dict[_Question, Decision] = {}

    # --- what there is ---

    def set_role(self, key: Key, rules: Rules | None) -> None:
        """A role is as it says now; None: it is gone."""
        if rules is None:
            self._roles.pop(key, None)
        else:
            self._roles[key] = rules
        self._forget()
        for subject in self._users.get(key, ()):
            self._subjects[subject].table = None
        self._look_for(key)

    def set_binding(self, key: Key, binding: Binding | None) -> None:
        """A binding is as it says now; None: it is gone."""
        self._forget()
        old = self._bindings.pop(key, None)
        if old is not None:
            self._unbind(old)
        if binding is not None:
            self._bindings[key] = binding
            self._bind(binding)

    def _forget(self) -> None:
        """Rights are not what they were."""
        self._tables.clear()
        self._allowed.clear()

    def rules(self, key: Key) -> Sequence[Rule] | None:
        """A role's rules; None if there is no such role."""
        found = self._roles.get(key)
        if callable(found):
            found = self._roles[key] = found()
        return found

    def _bind(self, binding: Binding) -> None:
        scope, name = binding.key
        for place, subject in enumerate(binding.subjects):
            if subject is None:
                continue
            key = (scope, subject[0], subject[1])
            found = self._subjects.setdefault(key, _Subject())
            found.bindings.setdefault(name, (binding, place))
            found.table = None
            self._users.setdefault(binding.role, set()).add(key)
        self._look_for(binding.role)

    def _unbind(self, binding: Binding) -> None:
        scope, name = binding.key
        for subject in binding.subjects:
            if subject is None or (found := self._subjects.get((scope, subject[0], subject[1]))) is None:
                continue
            found.bindings.pop(name, None)
            found.table = None
            key = (scope, subject[0], subject[1])
            users = self._users.get(binding.role)
            if users is not None and all(other.role != binding.role for other, _ in found.bindings.values()):
                users.discard(key)
                if not users:
                    del self._users[binding.role]
            if not found.bindings:
                del self._subjects[key]
        self._look_for(binding.role)

    def _look_for(self, role: Key) -> None:
        if role in self._users and role not in self._roles:
            self._dangling.add(role)
        else:
            self._dangling.discard(role)

    # --- questions ---

    def decide(self, user: UserInfo, info: RequestInfo) -> Decision | None:
        """Whether a request is allowed; None where no binding says so.

        What was allowed is remembered until any role or binding changes, unless it may depend on the object's name.
        """
        question = (user.name, user.groups, info.verb, info.group, info.resource, info.subresource, info.namespace)
        known = self._allowed.get(question) if info.is_resource else None
        if known is not None:
            return known
        grant = self.find(user, info)
        if grant is None:
            return None
        decision = Decision(True, grant.reason)
        if info.is_resource and self._is_lasting(user, question):
            if len(self._allowed) >= _REMEMBERED:
                self._allowed.clear()
            self._allowed[question] = decision
        return decision

    def _is_lasting(self, user: UserInfo, question: _Question) -> bool:
        """Whether an answer holds for objects of all names, and is short enough to be kept."""
        name, groups, *asked = question
        if sum(map(len, (name, *groups, *asked))) > _LONGEST_QUESTION:
            return False
        return not any(table.tells_names_apart for scope in {"", asked[-1]} for table in self._of(user, scope))

    def find(self, user: UserInfo, info: RequestInfo) -> Grant | None:
        """The binding that allows a request: of the whole cluster if one does, else of its namespace."""
        best: Grant | None = None
        if not info.is_resource:
            for table in self._of(user, ""):
                found = table.path(info.verb, info.path)
                if found is not None and (best is None or found < best):
                    best = found
            return best
        name = info.name or info.selected
        for scope in ("", info.namespace) if info.namespace else ("",):
            for table in self._of(user, scope):
                found = table.resource(info.verb, info.group, info.resource, info.subresource, name)
                if found is not None and (best is None or found < best):
                    best = found
            if best is not None:
                break
        return best

    def missing(self, user: UserInfo, namespace: str) -> list[str]:
        """Which roles that the user is bound to are not there, in the order of their bindings."""
        if not self._dangling:
            return []
        found: list[str] = []
        for scope in ("", namespace) if namespace else ("",):
            named = {text for table in self._of(user, scope) for text in table.missing}
            found += [why for _, why in sorted(named)]
        return list(dict.fromkeys(found))

    def bindings(self, user: UserInfo, namespace: str) -> Iterator[Binding]:
        """The bindings that name the user, those of the cluster first, by name."""
        for scope in ("", namespace) if namespace else ("",):
            found = {name: binding for held in self._held(user, scope) for name, (binding, _) in held.bindings.items()}
            yield from (found[name] for name in sorted(found))

    def _held(self, user: UserInfo, scope: str) -> Iterator[_Subject]:
        subjects = self._subjects
        found = subjects.get((scope, "User", user.name))
        if found is not None:
            yield found
        for group in user.groups:
            found = subjects.get((scope, "Group", group))
            if found is not None:
                yield found

    def _of(self, user: UserInfo, scope: str) -> tuple[Table, ...]:
        """The tables of all subjects that a user is; remembered, since the same few users ask again and again."""
        key = (scope, user.name, user.groups)
        tables = self._tables.get(key)
        if tables is None:
            if len(self._tables) >= _REMEMBERED:
                self._tables.clear()
            tables = tuple(held.table or self._made(held) for held in self._held(user, scope))
            if len(scope) + len(user.name) + sum(map(len, user.groups)) <= _LONGEST:
                self._tables[key] = tables
        return tables

    def _made(self, subject: _Subject) -> Table:
        table = subject.table = Table()
        for name in sorted(subject.bindings):
            binding, place = subject.bindings[name]
            rules = self.rules(binding.role)
            if rules is None:
                table.missing.append((name, not_found(binding.role)))
                continue
            grant = Grant((name, place), f"RBAC: allowed by {binding.described(place)}")
            table.extend(rules, grant)
        return table


def not_found(role: Key, resource: str = "") -> str:
    """How the lister says that a role is not there."""
    return f'{resource or ("role" if role[0] else "clusterrole")}.rbac.authorization.k8s.io "{role[1]}" not found'


def binding_of(obj: Mapping[str, Any]) -> Binding:
    """A RoleBinding or ClusterRoleBinding as the index needs it."""
    metadata, role = obj["metadata"], obj.get("roleRef") or {}
    namespace = metadata.get("namespace") or ""
    role_key = (namespace if role.get("kind") == "Role" else "", role.get("name") or "")
    return Binding((namespace, metadata["name"]), role_key, tuple(_subjects(obj.get("subjects") or (), namespace)))


def _subjects(subjects: Iterable[Mapping[str, Any]], namespace: str) -> Iterator[tuple[str, str, str] | None]:
    """A service account is the user that it authenticates as; without a namespace it is one of the binding's own."""
    for subject in subjects:
        kind, name = subject.get("kind"), subject.get("name") or ""
        if kind == "ServiceAccount":
            scope = subject.get("namespace") or namespace
            user = f"system:serviceaccount:{scope}:{name}"
            yield ("User", user, f'ServiceAccount "{name}/{scope}"') if scope else None
        else:
            yield (kind, name, f'{kind} "{name}"') if kind in {"User", "Group"} else None
