"""An API server without sockets, with everybody in it: people with Kubernetes' roles, nodes with pods, an account."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import parse_qs, unquote

import orjson
import pytest

from setpoint.api.machinery.user import ADMIN, ANONYMOUS, UserInfo
from setpoint.apiserver.pipeline import Pipeline
from setpoint.apiserver.request import Request, Response
from setpoint.app.assembly import make_pipeline
from setpoint.kit.clock import VirtualClock
from setpoint.kit.tasks import Tasks
from setpoint.storage.backends.memory import memory_store

SECONDS = 5  # that any answer may take
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def person(name: str, *groups: str) -> UserInfo:
    return UserInfo(name, groups=(*groups, "system:authenticated"))


def node(name: str) -> UserInfo:
    return person(f"system:node:{name}", "system:nodes")


def account(namespace: str, name: str) -> UserInfo:
    groups = ("system:serviceaccounts", f"system:serviceaccounts:{namespace}")
    return person(f"system:serviceaccount:{namespace}:{name}", *groups)


class World:
    """Sends requests as anybody."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.pipeline = pipeline

    async def respond(self, line: str, user: UserInfo = ADMIN, body: Any = None, **headers: str) -> Response:
        method, _, target = line.partition(" ")
        path, _, query = target.partition("?")
        sent = {"content-type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
        content = b"" if body is None else orjson.dumps(body)
        asked = parse_qs(query, keep_blank_values=True)
        async with asyncio.timeout(SECONDS):
            return await self.pipeline.handle(Request(method, unquote(path), asked, sent, content, user))

    async def __call__(self, line: str, user: UserInfo = ADMIN, body: Any = None, *, code: int = 0, **headers: str) -> Any:
        response = await self.respond(line, user, body, **headers)
        value = orjson.loads(response.body or b"null")
        assert response.status == code if code else response.status < 400, value
        return value

    async def refused(self, line: str, user: UserInfo, **headers: str) -> str:
        """What authorisation said against a request; empty where it let it pass (whatever became of it then)."""
        response = await self.respond(line, user, {} if line.split(maxsplit=1)[0] not in ("GET", "HEAD") else None, **headers)
        if (close := getattr(response.stream, "aclose", None)) is not None:
            await close()
        if response.status != 403:
            return ""
        message: str = orjson.loads(response.body or b"{}").get("message", "")
        return message if f'User "{user.name}" cannot ' in message else ""

    async def bind(self, namespace: str, name: str, role: str, *subjects: dict[str, str], kind: str = "ClusterRole") -> None:
        body = {"metadata": {"name": name}, "roleRef": {"kind": kind, "name": role}, "subjects": list(subjects)}
        plural = f"namespaces/{namespace}/rolebindings" if namespace else "clusterrolebindings"
        await self(f"POST {RBAC}/{plural}", body=body)

    async def role(self, namespace: str, name: str, *rules: dict[str, Any], **more: Any) -> None:
        plural = f"namespaces/{namespace}/roles" if namespace else "clusterroles"
        await self(f"POST {RBAC}/{plural}", body={"metadata": {"name": name}, "rules": list(rules), **more})


def rule(verbs: str, resources: str, groups: str = "", names: str = "") -> dict[str, Any]:
    found = {"verbs": verbs.split(","), "resources": resources.split(","), "apiGroups": groups.split(",")}
    return {**found, "resourceNames": names.split(",")} if names else found


def user(name: str) -> dict[str, str]:
    return {"kind": "User", "name": name}


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """The server with the namespaces `team` and `other`."""
    clock = VirtualClock()
    store = memory_store(clock)
    await store.open()
    pipeline = make_pipeline(store, clock, address=lambda: "127.0.0.1:6443")
    for follower in pipeline.followers:
        await follower.load()
    async with Tasks("test") as tasks:
        for follower in pipeline.followers:
            tasks.start(type(follower).__name__, follower.run())
        await clock.idle()
        world = World(pipeline)
        for name in ("team", "other", "kube-node-lease"):
            await world("POST /api/v1/namespaces", body={"metadata": {"name": name}})
            await world(f"POST /api/v1/namespaces/{name}/serviceaccounts", body={"metadata": {"name": "default"}})
        yield world
        tasks.stop()
    await pipeline.close()
    await store.close()


def pod(name: str, where: str, number: int) -> dict[str, Any]:
    source = {"secretRef": {"name": f"s{number}"}}
    volumes = [
        {"name": "claim", "persistentVolumeClaim": {"claimName": f"v{number}"}},
        {"name": "config", "configMap": {"name": f"c{number}"}},
    ]
    container = {"name": "c", "image": "i", "envFrom": [source]}
    spec = {"nodeName": where, "serviceAccountName": f"robot{number}", "containers": [container], "volumes": volumes}
    return {"metadata": {"name": name}, "spec": {**spec, "automountServiceAccountToken": False}}


@pytest.fixture
async def populated(world: World) -> World:
    """Roles are bound in `team`; pod p1 runs on node n1, p2 on n2, each with things of its own."""
    for role in ("view", "edit", "admin"):
        await world.bind("team", role, role, user(f"{role}er"))
    robot = {"kind": "ServiceAccount", "name": "robot1", "namespace": "team"}
    await world.role("team", "robot", rule("get,list", "pods"), rule("get", "configmaps", names="cfg"))
    await world.bind("team", "robot", "robot", robot, kind="Role")
    for number in (1, 2):
        await world("POST /api/v1/namespaces/team/serviceaccounts", body={"metadata": {"name": f"robot{number}"}})
        await world("POST /api/v1/nodes", body={"metadata": {"name": f"n{number}"}})
        await world("POST /api/v1/namespaces/team/pods", body=pod(f"p{number}", f"n{number}", number))
        attached = {"attacher": "a", "nodeName": f"n{number}", "source": {"persistentVolumeName": f"pv{number}"}}
        await world(
            "POST /apis/storage.k8s.io/v1/volumeattachments", body={"metadata": {"name": f"va{number}"}, "spec": attached}
        )
        volume = {
            "capacity": {"storage": "1Gi"},
            "accessModes": ["ReadWriteOnce"],
            "claimRef": {"namespace": "team", "name": f"v{number}"},
            "csi": {"driver": "d", "volumeHandle": "h", "nodeStageSecretRef": {"name": f"stage{number}", "namespace": "other"}},
        }
        await world("POST /api/v1/persistentvolumes", body={"metadata": {"name": f"pv{number}"}, "spec": volume})
    return world


PEOPLE: dict[str, UserInfo] = {
    "anonymous": ANONYMOUS,
    "nobody": person("nobody"),
    "view": person("viewer"),
    "edit": person("editer"),
    "admin": person("adminer"),
    "n1": node("n1"),
    "n2": node("n2"),
    "account": account("team", "robot1"),
}
