"""From a container in a pod's spec to a `ContainerSpec`: environment, arguments, mounts, user, files of the container's own."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from setpoint.api.machinery.quantity import parse
from setpoint.api.types.core_v1 import CONFIGMAPS, SECRETS, ConfigMap, Container, Pod, Secret, Volume
from setpoint.node.downward import Surroundings
from setpoint.node.environment import Environment, config_error, environment_of, expand
from setpoint.node.runtime import ContainerSpec, Image, Limits, VolumeMount
from setpoint.node.services import Services
from setpoint.node.sources import SourceUnavailable
from setpoint.node.users import user_of
from setpoint.node.volumes import sub_path

TERMINATION_LOG = "/dev/termination-log"
TERMINATION_LIMIT = 4096
_FALLBACK_BYTES, _FALLBACK_LINES = 2048, 80


def log_path(directory: str, container: str, attempt: int) -> str:
    return os.path.join(directory, "logs", container, f"{attempt}.log")


def termination_path(directory: str, container: str, attempt: int) -> str:
    return os.path.join(directory, "termination", container, str(attempt))


class _Lookup:
    """ConfigMaps and Secrets of one pod."""

    def __init__(self, services: Services, pod: Pod) -> None:
        self._services = services
        self._pod = pod

    async def config_map(self, name: str) -> ConfigMap | None:
        meta = self._pod.metadata
        return await self._services.sources.get(CONFIGMAPS, meta.namespace, name, meta.uid)

    async def secret(self, name: str) -> Secret | None:
        meta = self._pod.metadata
        return await self._services.sources.get(SECRETS, meta.namespace, name, meta.uid)


class Launcher:
    """Builds specs for one pod. `volumes` are the host's paths by volume name."""

    def __init__(self, services: Services, directory: str) -> None:
        self._services = services
        self._directory = directory
        self.volumes: Mapping[str, str] = {}

    async def spec(
        self, pod: Pod, container: Container, container_id: str, attempt: int, image: Image, around: Surroundings
    ) -> tuple[ContainerSpec, Sequence[str]]:
        """The spec, and complaints for events. Raises ContainerError."""
        environment = await self._environment(pod, container, around)
        values = environment.values
        argv = [expand(word, values) for word in image.argv(container.command, container.args)]
        uid, gid, groups = user_of(pod, container, around.user)
        spec = ContainerSpec(
            id=container_id,
            name=container.name,
            attempt=attempt,
            image=container.image,
            image_id=image.id,
            argv=argv,
            environment=values,
            log=log_path(self._directory, container.name, attempt),
            working_dir=container.working_dir,
            mounts=self._mounts(pod, container, attempt, values, around),
            stdin=container.stdin,
            stdin_once=container.stdin_once,
            tty=container.tty,
            uid=uid,
            gid=gid,
            groups=groups,
            no_new_privileges=bool(
                container.security_context is not None and container.security_context.allow_privilege_escalation is False
            ),
            limits=limits_of(container),
        )
        return spec, environment.invalid

    async def _environment(self, pod: Pod, container: Container, around: Surroundings) -> Environment:
        services, checkpoints = self._services, self._services.checkpoints
        uid = pod.metadata.uid
        try:
            of_services = await services.service_environment(pod)
            found = await environment_of(pod, container, _Lookup(services, pod), around, of_services)
        except SourceUnavailable as error:
            saved = checkpoints.load_launch(uid, container.name)
            if saved is None:
                raise config_error(str(error)) from error
            return Environment(saved)
        address = {"POD_IP": around.addresses[0]} if around.addresses else {}
        values = {**address, **found.values}
        checkpoints.save_launch(uid, container.name, values)
        return Environment(values, found.invalid)

    def _mounts(
        self, pod: Pod, container: Container, attempt: int, environment: Mapping[str, str], around: Surroundings
    ) -> list[VolumeMount]:
        mounts = []
        fixed = {volume.name for volume in pod.spec.volumes if is_api_data(volume) or _is_read_only(volume)}
        for mount in container.volume_mounts:
            if mount.name not in self.volumes:
                raise config_error(f'cannot find volume "{mount.name}" to mount into container "{container.name}"')
            source = self.volumes[mount.name]
            part = expand(mount.sub_path_expr, environment) if mount.sub_path_expr else mount.sub_path
            if part:
                source = sub_path.resolve(source, part, mount=mount.name)
            mounts.append(VolumeMount(mount.name, source, mount.mount_path, mount.read_only or mount.name in fixed))
        taken = {mount.target for mount in mounts}
        mounts.append(VolumeMount("termination-log", self._termination(container, attempt), _message_path(container)))
        if "/etc/hosts" not in taken and not pod.spec.host_network and os.path.exists("/etc/hosts"):
            mounts.append(VolumeMount("etc-hosts", self._hosts(pod, around), "/etc/hosts"))
        return mounts

    def _termination(self, container: Container, attempt: int) -> str:
        """An empty file that any user may write."""
        path = termination_path(self._directory, container.name, attempt)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o666))
        os.chmod(path, 0o666)  # noqa: S103  # the container's user is unknown here
        return path

    def _hosts(self, pod: Pod, around: Surroundings) -> str:
        """The pod's /etc/hosts, in kubelet's shape."""
        lines = [
            "# Kubernetes-managed hosts file.",
            "127.0.0.1\tlocalhost",
            "::1\tlocalhost ip6-localhost ip6-loopback",
            "fe00::0\tip6-localnet",
            "fe00::0\tip6-mcastprefix",
            "fe00::1\tip6-allnodes",
            "fe00::2\tip6-allrouters",
        ]
        name = hostname(pod)
        lines += [f"{address}\t{name}" for address in around.addresses]
        if pod.spec.host_aliases:
            lines += ["", "# Entries added by HostAliases."]
            lines += [f"{alias.ip}\t" + "\t".join(alias.hostnames) for alias in pod.spec.host_aliases]
        path = os.path.join(self._directory, "etc-hosts")
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        os.chmod(path, 0o644)
        return path


def is_api_data(volume: Volume) -> bool:
    """Whether it shows what the API server holds: containers may only read it (kubelet mounts such volumes read-only)."""
    return any(part is not None for part in (volume.config_map, volume.secret, volume.projected, volume.downward_api))


def hostname(pod: Pod) -> str:
    return pod.spec.hostname_override or pod.spec.hostname or pod.metadata.name[:63].rstrip("-.")


def _message_path(container: Container) -> str:
    return container.termination_message_path or TERMINATION_LOG


def limits_of(container: Container) -> Limits:
    """Rounded up, so that the smallest amount is still a limit."""
    limits, requests = container.resources.limits, container.resources.requests
    return Limits(
        memory_bytes=-(-parse(limits.get("memory", "0")).nanos // 10**9),
        cpu_millis=-(-parse(limits.get("cpu", "0")).nanos // 10**6),
        cpu_request_millis=-(-parse(requests.get("cpu", "0")).nanos // 10**6),
    )


def termination_message(directory: str, container: Container, attempt: int, exit_code: int, log: str) -> str:
    """What the container left at its termination message path (of more than the limit, the end, as kubelet); the end of its log
    when policy says so and it left nothing.
    """
    text = ""
    try:
        with open(termination_path(directory, container.name, attempt), "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - TERMINATION_LIMIT))
            text = file.read(TERMINATION_LIMIT).decode(errors="replace")
    except OSError:
        pass
    if text or exit_code == 0 or container.termination_message_policy != "FallbackToLogsOnError":
        return text
    return _log_end(log)


def _log_end(path: str) -> str:
    try:
        with open(path, "rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 4 * _FALLBACK_BYTES))
            raw = file.read().decode(errors="replace")
    except OSError:
        return ""
    lines = [line.split(" ", 3)[3] for line in raw.splitlines(keepends=True) if line.count(" ") >= 3]
    return "".join(lines[-_FALLBACK_LINES:])[-_FALLBACK_BYTES:]


def _is_read_only(volume: Volume) -> bool:
    """Whether the pod asks for its claim's volume only to read."""
    return volume.persistent_volume_claim is not None and bool(volume.persistent_volume_claim.read_only)
