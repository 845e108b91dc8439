"""Whether the cache shows what this controller itself wrote to a Deployment's ReplicaSets.

Adding up replicas from a cache that lacks one's own create or scale would go beyond the surge. A write whose answer was lost
may have been carried out or not: then the ReplicaSets are read from the server once, and the cache has to reach what they say.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from setpoint.api.machinery.status import StatusError
from setpoint.api.types import apps_v1
from setpoint.client.client import ClientProtocol
from setpoint.client.informer import Informer
from setpoint.client.objects import key_of
from setpoint.client.owners import is_controlled_by
from setpoint.controllers.freshness import version

_SERVER_ERROR = 500


class OwnWrites:
    """By the Deployment's key: the newest version written, and the keys of those with a write of unknown outcome."""

    def __init__(self, client: ClientProtocol, replica_sets: Informer[apps_v1.ReplicaSet]) -> None:
        self._client = client
        self._informer = replica_sets
        self._newest: dict[str, int] = {}
        self._unknown: set[str] = set()

    def forget(self, key: str) -> None:
        self._newest.pop(key, None)
        self._unknown.discard(key)

    def are_shown(self, key: str) -> bool:
        return key not in self._unknown and version(self._informer.resource_version) >= self._newest.get(key, 0)

    def note(self, deployment: apps_v1.Deployment, replica_set: apps_v1.ReplicaSet) -> None:
        self._newest[key_of(deployment)] = version(replica_set.metadata.resource_version)

    @contextmanager
    def attempt(self, deployment: apps_v1.Deployment) -> Iterator[None]:
        """Writes within that end without the server's clear refusal are of unknown outcome."""
        try:
            yield
        except StatusError as error:
            if error.code >= _SERVER_ERROR:
                self._unknown.add(key_of(deployment))
            raise
        except BaseException:
            self._unknown.add(key_of(deployment))
            raise

    async def find_out(self, deployment: apps_v1.Deployment) -> None:
        """Learn from the server what became of writes of unknown outcome; one request, and only if there are any."""
        key = key_of(deployment)
        if key not in self._unknown:
            return
        listed = await self._client.list(apps_v1.REPLICASETS, deployment.metadata.namespace)
        own = [each for each in listed.items if is_controlled_by(each.metadata, deployment)]
        self._newest[key] = max((version(each.metadata.resource_version) for each in own), default=0)
        self._unknown.discard(key)
