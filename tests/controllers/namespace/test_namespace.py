from __future__ import annotations

from typing import Any

import pytest

from setpoint.api.machinery.status import StatusError

NAME = "namespace-controller"


async def config_map(world: Any, name: str, **metadata: Any) -> None:
    await world.call("POST", "/api/v1/namespaces/gone/configmaps", {"metadata": {"name": name, **metadata}})


async def test_content_then_the_namespace_vanish(world: Any) -> None:
    await world.namespace("gone")
    await config_map(world, "a")
    await world.run(NAME)
    await world.call("DELETE", "/api/v1/namespaces/gone")
    assert (await world.get("/api/v1/namespaces/gone"))["status"]["phase"] == "Terminating"
    with pytest.raises(StatusError) as caught:
        await config_map(world, "b")
    assert caught.value.code == 403
    await world.clock.advance(4)
    assert await world.get("/api/v1/namespaces/gone") is None
    assert await world.get("/api/v1/namespaces/gone/configmaps/a") is None
    assert world.manager.activity().settled


async def test_what_holds_it_is_said_in_conditions(world: Any) -> None:
    await world.namespace("gone")
    await config_map(world, "a", finalizers=["example.com/hold"])
    await config_map(world, "b")
    await world.run(NAME)
    await world.call("DELETE", "/api/v1/namespaces/gone")
    await world.clock.advance(5)
    namespace = await world.get("/api/v1/namespaces/gone")
    said = {each["type"]: (each["status"], each["reason"], each["message"]) for each in namespace["status"]["conditions"]}
    assert said == {
        "NamespaceDeletionDiscoveryFailure": ("False", "ResourcesDiscovered", "All resources successfully discovered"),
        "NamespaceDeletionGroupVersionParsingFailure": (
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        "NamespaceDeletionContentFailure": (
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        "NamespaceContentRemaining": (
            "True",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 1 resource instances",
        ),
        "NamespaceFinalizersRemaining": (
            "True",
            "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
        ),
    }
    await world.merge("/api/v1/namespaces/gone/configmaps/a", {"metadata": {"finalizers": None}})
    await world.clock.advance(10)
    assert await world.get("/api/v1/namespaces/gone") is None


async def test_nothing_is_said_to_be_left_while_pods_are_waited_for(world: Any) -> None:
    await world.namespace("gone", account=True)
    await config_map(world, "a")
    pod = {"metadata": {"name": "p", "finalizers": ["example.com/hold"]}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    await world.call("POST", "/api/v1/namespaces/gone/pods", pod)
    await world.run(NAME)
    await world.call("DELETE", "/api/v1/namespaces/gone")
    await world.clock.advance(5)
    assert await world.get("/api/v1/namespaces/gone/configmaps/a") is not None
    namespace = await world.get("/api/v1/namespaces/gone")
    assert {each["type"]: (each["status"], each["reason"]) for each in namespace["status"]["conditions"]} == {
        "NamespaceDeletionDiscoveryFailure": ("False", "ResourcesDiscovered"),
        "NamespaceDeletionGroupVersionParsingFailure": ("False", "ParsedGroupVersions"),
        "NamespaceDeletionContentFailure": ("False", "ContentDeleted"),
        "NamespaceContentRemaining": ("False", "ContentRemoved"),
        "NamespaceFinalizersRemaining": ("False", "ContentHasNoFinalizers"),
    }


async def test_other_finalizers_of_the_namespace_are_waited_for(world: Any) -> None:
    await world.call(
        "POST", "/api/v1/namespaces", {"metadata": {"name": "gone"}, "spec": {"finalizers": ["example.com/own", "kubernetes"]}}
    )
    await world.run(NAME)
    await world.call("DELETE", "/api/v1/namespaces/gone")
    await world.clock.advance(10)
    namespace = await world.get("/api/v1/namespaces/gone")
    assert namespace["spec"]["finalizers"] == ["example.com/own"]
    namespace["spec"]["finalizers"] = []
    await world.call("PUT", "/api/v1/namespaces/gone/finalize", namespace)
    await world.clock.advance(1)
    assert await world.get("/api/v1/namespaces/gone") is None
