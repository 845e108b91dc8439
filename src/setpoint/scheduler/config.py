"""KubeSchedulerConfiguration (`kubescheduler.config.k8s.io/v1`) from a file: profiles, plugins' arguments, extenders, backoff."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.api.machinery.names import qualified_name
from setpoint.api.machinery.status import FieldError, duplicate, invalid, required
from setpoint.scheduler import durations
from setpoint.scheduler.args_validation import errors_of
from setpoint.scheduler.devices.extended import is_extended
from setpoint.scheduler.profiles import DEFAULT_NAME, POINTS, Enabled, PluginSet, ProfileConfig, merged
from setpoint.scheduler.queue import Backoff
from setpoint.scheduler.registry import PluginError, read_args

API_VERSION, KIND = "kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration"
LEASES = "leases"
REMOVED_PLUGINS = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
REMOVED = f'was invalid in version "{API_VERSION}" (KubeSchedulerConfiguration is version "{API_VERSION}")'


class ConfigError(ValueError):
    """The file is no valid configuration; the message is one line for the user."""


def seconds_of(duration: str) -> float:
    """A Go duration ("1m30s") in seconds. Raises ConfigError."""
    try:
        return durations.seconds_of(duration)
    except ValueError as error:
        raise ConfigError(str(error)) from error


class ManagedResource(Struct, frozen=True, rename="camel"):
    """An extended resource that an extender looks after."""

    name: str
    ignored_by_scheduler: bool = False


class ExtenderConfig(Struct, frozen=True, rename="camel"):
    """Where an extender is, and what it does."""

    url_prefix: str
    filter_verb: str = ""
    prioritize_verb: str = ""
    bind_verb: str = ""
    preempt_verb: str = ""
    weight: int = 0
    enable_https: bool = msgspec.field(name="enableHTTPS", default=False)
    tls_config: dict[str, Any] | None = None
    http_timeout: str = "5s"
    node_cache_capable: bool = False
    managed_resources: tuple[ManagedResource, ...] = ()
    ignorable: bool = False


class SchedulerConfig(Struct, frozen=True):
    """All of it."""

    profiles: tuple[ProfileConfig, ...] = (ProfileConfig(),)
    backoff: Backoff = Backoff()
    extenders: tuple[ExtenderConfig, ...] = ()

    @property
    def names(self) -> list[str]:
        return [profile.scheduler_name for profile in self.profiles]


DEFAULT_CONFIG = SchedulerConfig()


class _PluginConfig(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    args: dict[str, Any] | None = None


class _Profile(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    scheduler_name: str | None = None
    percentage_of_nodes_to_score: int | None = None
    plugins: dict[str, PluginSet] = {}
    plugin_config: tuple[_PluginConfig, ...] = ()


class _File(Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    api_version: str = ""
    kind: str = ""
    parallelism: int = 16
    leader_election: dict[str, Any] = {}
    client_connection: dict[str, Any] = {}
    enable_profiling: bool = True
    enable_contention_profiling: bool = True
    delay_cache_until_active: bool = False
    pod_initial_backoff_seconds: int = 1
    pod_max_backoff_seconds: int = 10
    percentage_of_nodes_to_score: int | None = None
    profiles: tuple[_Profile, ...] = ()
    extenders: tuple[ExtenderConfig, ...] = ()


def load(path: Path) -> SchedulerConfig:
    """Read a file (YAML or JSON). Raises ConfigError."""
    import yaml

    try:
        return parse(yaml.safe_load(path.read_text()))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: {' '.join(str(error).split())}") from error
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def parse(document: Any) -> SchedulerConfig:
    """The configuration of a document as JSON. Raises ConfigError."""
    try:
        file = msgspec.convert(document, _File)
    except msgspec.ValidationError as error:
        raise ConfigError(str(error)) from error
    if (file.api_version, file.kind) != (API_VERSION, KIND):
        raise ConfigError(f'no kind "{file.kind}" is registered for version "{file.api_version}": {API_VERSION}, {KIND} is read')
    name = DEFAULT_NAME if len(file.profiles) < 2 else ""  # of several profiles each has to say its name
    profiles = tuple(_profile(each, name, file.percentage_of_nodes_to_score) for each in file.profiles or (_Profile(),))
    config = SchedulerConfig(profiles, Backoff(file.pod_initial_backoff_seconds, file.pod_max_backoff_seconds), file.extenders)
    _check(file, config)
    return config


def _profile(each: _Profile, name: str, percentage: int | None) -> ProfileConfig:
    unknown = set(each.plugins) - {*POINTS, "multiPoint"}
    if unknown:
        raise ConfigError(f'unknown field "profiles.plugins.{min(unknown)}"')
    own = each.percentage_of_nodes_to_score
    return ProfileConfig(
        name if each.scheduler_name is None else each.scheduler_name,
        merged(each.plugins.get("multiPoint", PluginSet())),
        {point: chosen for point, chosen in each.plugins.items() if point != "multiPoint"},
        {entry.name: entry.args for entry in each.plugin_config},
        (percentage if own is None else own) or 0,
    )


def _check(file: _File, config: SchedulerConfig) -> None:
    """Kubernetes' validation, as far as it can be got wrong here. Raises ConfigError with all that is wrong."""
    try:
        errors = [*dict.fromkeys(map(str, _errors(file, config)))]
    except (PluginError, ValueError) as error:
        raise ConfigError(str(error)) from error
    if errors:
        raise ConfigError(errors[0] if len(errors) == 1 else f"[{', '.join(errors)}]")


def _errors(file: _File, config: SchedulerConfig) -> Iterator[FieldError]:
    yield from _election_errors(file)
    if file.parallelism <= 0:
        yield invalid("parallelism", file.parallelism, "should be an integer value greater than zero")
    names = config.names
    for index, profile in enumerate(config.profiles):
        where = f"profiles[{index}]"
        own = file.profiles[index] if file.profiles else _Profile()
        if not profile.scheduler_name:
            yield required(f"{where}.schedulerName")
        yield from _percentage_errors(f"{where}.percentageOfNodesToScore", own.percentage_of_nodes_to_score)
        yield from _plugin_errors(where, own)
        if names.index(profile.scheduler_name) != index:
            yield duplicate(f"{where}.schedulerName", profile.scheduler_name)
    yield from _sorting_errors(file.profiles)
    yield from _percentage_errors("percentageOfNodesToScore", file.percentage_of_nodes_to_score)
    initial, most = file.pod_initial_backoff_seconds, file.pod_max_backoff_seconds
    if initial <= 0:
        yield invalid("podInitialBackoffSeconds", initial, "must be greater than 0")
    if most < initial:
        yield invalid("podMaxBackoffSeconds", most, "must be greater than or equal to PodInitialBackoffSeconds")
    yield from _extender_errors(config.extenders)


def _election_errors(file: _File) -> Iterator[FieldError]:
    burst = file.client_connection.get("burst") or 0
    if burst < 0:
        yield invalid("clientConnection.burst", burst, "must be non-negative")
    lock = file.leader_election.get("resourceLock") or LEASES
    if lock != LEASES and file.leader_election.get("leaderElect", True):
        yield invalid("leaderElection.resourceLock", lock, f'resourceLock value must be "{LEASES}"')


def _percentage_errors(path: str, percentage: int | None) -> Iterator[FieldError]:
    if percentage is not None and not 0 <= percentage <= 100:
        yield invalid(path, percentage, "not in valid range [0-100]")


def _plugin_errors(where: str, profile: _Profile) -> Iterator[FieldError]:
    for point in POINTS:
        for index, each in enumerate(profile.plugins.get(point, PluginSet()).enabled):
            if each.name in REMOVED_PLUGINS:
                yield invalid(f"{where}.plugins.{point}.enabled[{index}]", each.name, REMOVED)
    seen: set[str] = set()
    for index, entry in enumerate(profile.plugin_config):
        path = f"{where}.pluginConfig[{index}]"
        if entry.name in seen:
            yield duplicate(path, entry.name)
        seen.add(entry.name)
        if entry.name in REMOVED_PLUGINS:
            yield invalid(path, entry.name, REMOVED)
        yield from errors_of(f"{path}.args", read_args(entry.name, entry.args))


def _sorting_errors(profiles: Sequence[_Profile]) -> Iterator[FieldError]:
    """One plugin sorts the queue, since all profiles share it."""
    sets = [each.plugins.get("queueSort", PluginSet()) for each in profiles]
    if sets and len(sets[0].enabled) > 1:
        detail = "only one queue sort plugin can be enabled"
        yield invalid("profiles[0].plugins.queueSort.Enabled", len(sets[0].enabled), detail)
    for index, each in enumerate(sets):
        if each != sets[0]:
            yield invalid(f"profiles[{index}].plugins.queueSort", _printed(each), "must be the same for all profiles")


def _printed(plugins: PluginSet) -> dict[str, Any]:
    """As the type of Kubernetes' own, whose fields have no other names in JSON, is printed."""

    def listed(those: Sequence[Enabled]) -> list[dict[str, Any]] | None:
        return [{"Name": each.name, "Weight": each.weight} for each in those] or None

    return {"Enabled": listed(plugins.enabled), "Disabled": listed(plugins.disabled)}


def _extender_errors(extenders: Sequence[ExtenderConfig]) -> Iterator[FieldError]:
    managed: set[str] = set()
    for index, each in enumerate(extenders):
        where = f"extenders[{index}]"
        if each.prioritize_verb and each.weight <= 0:
            yield invalid(f"{where}.weight", each.weight, "must have a positive weight applied to it")
        for number, resource in enumerate(each.managed_resources):
            path, name = f"{where}.managedResources[{number}].name", resource.name
            messages = qualified_name(name) or ([] if is_extended(name) else ["is an invalid extended resource name"])
            for message in messages:
                yield invalid(path, name, message)
            if name in managed:
                yield invalid(path, name, "duplicate extender managed resource name")
            managed.add(name)
    binders = sum(bool(each.bind_verb) for each in extenders)
    if binders > 1:
        yield invalid("extenders", f"found {binders} extenders implementing bind", "only one extender can implement bind")
