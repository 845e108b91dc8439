"""KubeSchedulerConfiguration (`kubescheduler.config.k8s.io/v1`) from a file: profiles, plugins' arguments, extenders, backoff."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from setpoint.scheduler import durations
from setpoint.scheduler.profiles import DEFAULT_NAME, POINTS, PluginSet, ProfileConfig, merged
from setpoint.scheduler.queue import Backoff
from setpoint.scheduler.registry import PluginError, check_args

API_VERSION, KIND = "kubescheduler.config.k8s.io/v1", "KubeSchedulerConfiguration"


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
    weight: int = 1
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
    scheduler_name: str = DEFAULT_NAME
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
    profiles = tuple(_profile(each, file.percentage_of_nodes_to_score) for each in file.profiles or (_Profile(),))
    config = SchedulerConfig(profiles, Backoff(file.pod_initial_backoff_seconds, file.pod_max_backoff_seconds), file.extenders)
    _check(file, config)
    return config


def _profile(each: _Profile, percentage: int | None) -> ProfileConfig:
    unknown = set(each.plugins) - {*POINTS, "multiPoint"}
    if unknown:
        raise ConfigError(f'unknown field "profiles.plugins.{min(unknown)}"')
    own = each.percentage_of_nodes_to_score
    return ProfileConfig(
        each.scheduler_name,
        merged(each.plugins.get("multiPoint", PluginSet())),
        {point: chosen for point, chosen in each.plugins.items() if point != "multiPoint"},
        {entry.name: entry.args for entry in each.plugin_config},
        (percentage if own is None else own) or 0,
    )


def _check(file: _File, config: SchedulerConfig) -> None:
    """Kubernetes' validation, as far as it can be got wrong here."""
    if file.pod_initial_backoff_seconds <= 0:
        value = file.pod_initial_backoff_seconds
        raise ConfigError(f"podInitialBackoffSeconds: Invalid value: {value}: must be greater than 0")
    if file.pod_max_backoff_seconds < file.pod_initial_backoff_seconds:
        value = file.pod_max_backoff_seconds
        raise ConfigError(
            f"podMaxBackoffSeconds: Invalid value: {value}: must be greater than or equal to PodInitialBackoffSeconds"
        )
    if sum(bool(extender.bind_verb) for extender in config.extenders) > 1:
        raise ConfigError("extenders: Invalid value: only one extender can implement bind")
    names = config.names
    for index, profile in enumerate(config.profiles):
        where = f"profiles[{index}]"
        if not profile.scheduler_name:
            raise ConfigError(f"{where}.schedulerName: Required value")
        if names.index(profile.scheduler_name) != index:
            raise ConfigError(f'{where}.schedulerName: Duplicate value: "{profile.scheduler_name}"')
        if not 0 <= profile.percentage_of_nodes_to_score <= 100:
            value = profile.percentage_of_nodes_to_score
            raise ConfigError(f"{where}.percentageOfNodesToScore: Invalid value: {value}: not in valid range [0-100]")
        if len(profile.at("queueSort")) < 1 or profile.at("queueSort") != config.profiles[0].at("queueSort"):
            raise ConfigError(f"{where}.plugins.queueSort: Invalid value: queueSort must be the same for all profiles")
        for name, args in profile.args.items():
            try:
                check_args(name, args)
            except PluginError as error:
                raise ConfigError(f"{where}.pluginConfig: {error}") from error
