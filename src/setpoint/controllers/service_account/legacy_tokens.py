"""Tokens that old versions made for every account and that nobody has used for a year: marked invalid, a year later deleted.

As `pkg/controller/serviceaccount/legacy_serviceaccount_token_cleaner.go`. Only those that an account's `secrets` name count, and
not those that a pod mounts. What is known of uses begins with the day in the API server's ConfigMap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, date, datetime, timedelta

from msgspec import Struct

from setpoint.api.machinery.status import StatusError
from setpoint.api.types.core_v1 import CONFIGMAPS, PODS, SECRETS, SERVICEACCOUNTS, Pod, Secret, ServiceAccount
from setpoint.client.client import ClientProtocol
from setpoint.client.controller import Controller, Result
from setpoint.client.objects import key
from setpoint.client.store import Store
from setpoint.controllers.component import Context
from setpoint.kit import logs
from setpoint.kit.clock import Clock, parse_rfc3339

NAME = "legacy-serviceaccount-token-cleaner-controller"
TRACKING = ("kube-system", "kube-apiserver-legacy-service-account-token-tracking")
TOKEN_TYPE = "kubernetes.io/service-account-token"  # noqa: S105  a type's name
LAST_USED = "kubernetes.io/legacy-token-last-used"
INVALID_SINCE = "kubernetes.io/legacy-token-invalid-since"
_ACCOUNT, _ACCOUNT_UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"
_KEY = "tokens"
_PERIOD = 24 * 3600.0  # seconds
_UNUSED = timedelta(days=365)
log = logs.get_logger("controllers.service_account")


class Observed(Struct, frozen=True):
    """`since` is the first day whose uses are noted. Accounts by key; `mounted` are keys of Secrets that pods mount."""

    secrets: Sequence[Secret]
    accounts: Mapping[str, ServiceAccount]
    mounted: frozenset[str]
    since: date
    now: float


class Plan(Struct, frozen=True):
    """Secrets to mark with a day, and those to delete."""

    day: str
    mark: tuple[Secret, ...] = ()
    delete: tuple[Secret, ...] = ()


def diff(observed: Observed) -> Plan:
    """Pure."""
    today = datetime.fromtimestamp(observed.now, UTC).date()
    limit = today - _UNUSED
    mark, delete = [], []
    for secret in observed.secrets:
        if not _is_old(secret, observed, limit):
            continue
        invalid = _day(secret, INVALID_SINCE)
        if invalid is None or (_day(secret, LAST_USED) or date.min) >= invalid:
            mark.append(secret)
        elif invalid < limit:
            delete.append(secret)
    return Plan(today.isoformat(), tuple(mark), tuple(delete))


def _is_old(secret: Secret, observed: Observed, limit: date) -> bool:
    """Whether it is one that was made for an account, as long ago, and not used since."""
    meta = secret.metadata
    created = datetime.fromtimestamp(parse_rfc3339(meta.creation_timestamp), UTC).date() if meta.creation_timestamp else limit
    last_used = _day(secret, LAST_USED) or observed.since
    if meta.deletion_timestamp or created >= limit or last_used >= limit:
        return False
    annotations = meta.annotations or {}
    account = observed.accounts.get(key(meta.namespace, annotations.get(_ACCOUNT, "")))
    if account is None or account.metadata.uid != annotations.get(_ACCOUNT_UID):
        return False
    if all(reference.name != meta.name for reference in account.secrets):
        return False
    return key(meta.namespace, meta.name) not in observed.mounted


def _day(secret: Secret, label: str) -> date | None:
    """The day that a label tells; None for none or no day."""
    try:
        return date.fromisoformat((secret.metadata.labels or {}).get(label, ""))
    except ValueError:
        return None


class Cleaner:
    """Its one key is "tokens", once a day."""

    def __init__(
        self,
        client: ClientProtocol,
        clock: Clock,
        secrets: Store[Secret],
        accounts: Store[ServiceAccount],
        pods: Store[Pod],
    ) -> None:
        self._client = client
        self._clock = clock
        self._secrets = secrets
        self._accounts = accounts
        self._pods = pods

    async def observe(self, _key: str) -> Observed:
        """Without a day from which uses are noted, that day is today: nothing is old."""
        now = self._clock.now()
        mounted = frozenset(
            key(pod.metadata.namespace, volume.secret.secret_name)
            for pod in self._pods.list()
            for volume in pod.spec.volumes
            if volume.secret is not None
        )
        accounts = {key(each.metadata.namespace, each.metadata.name): each for each in self._accounts.list()}
        since = await self._since() or datetime.fromtimestamp(now, UTC).date()
        return Observed(self._secrets.list(), accounts, mounted, since, now)

    async def _since(self) -> date | None:
        namespace, name = TRACKING
        try:
            held = await self._client.get(CONFIGMAPS, name, namespace)
            return date.fromisoformat((held.data or {}).get("since", ""))
        except StatusError as error:
            if error.code != 404:
                raise
        except ValueError:
            log.warning("since when uses of tokens are noted cannot be read", config_map=f"{namespace}/{name}")
        return None

    def diff(self, observed: Observed) -> Plan:
        return diff(observed)

    async def act(self, plan: Plan) -> Result:
        for secret in plan.mark:
            await self._mark(secret, plan.day)
        for secret in plan.delete:
            await self._delete(secret)
        return Result(_PERIOD)

    async def _mark(self, secret: Secret, day: str) -> None:
        meta = secret.metadata
        body = {"metadata": {"resourceVersion": meta.resource_version, "labels": {INVALID_SINCE: day}}}
        with _unless_changed():
            await self._client.patch(SECRETS, meta.name, body, meta.namespace)

    async def _delete(self, secret: Secret) -> None:
        meta = secret.metadata
        with _unless_changed():
            version = meta.resource_version
            await self._client.delete(SECRETS, meta.name, meta.namespace, uid=meta.uid, resource_version=version)


@contextmanager
def _unless_changed() -> Iterator[None]:
    """What has changed since it was seen is looked at tomorrow."""
    try:
        yield
    except StatusError as error:
        if error.reason not in {"NotFound", "Conflict"}:
            raise


def new(context: Context) -> Controller[Observed, Plan]:
    """The controller; nothing runs yet."""
    secrets = context.informers.of(SECRETS, field_selector=f"type={TOKEN_TYPE}")
    accounts, pods = context.informers.of(SERVICEACCOUNTS), context.informers.of(PODS)
    cleaner = Cleaner(context.client, context.clock, secrets.store, accounts.store, pods.store)
    controller: Controller[Observed, Plan] = Controller(
        NAME, cleaner, context.clock, workers=1, informers=(secrets, accounts, pods)
    )
    controller.enqueue(_KEY)
    return controller
