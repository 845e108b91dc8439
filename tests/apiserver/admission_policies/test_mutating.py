"""Mutating admission policies at work."""

from __future__ import annotations

from typing import Any

from tests.apiserver.admission_policies.conftest import Api

PODS = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}


async def pod(api: Api, code: int = 0, **spec: Any) -> Any:
    account = {"metadata": {"name": "default"}}
    await api.respond("POST /api/v1/namespaces/default/serviceaccounts", account)
    body = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}], **spec}}
    return await api("POST /api/v1/namespaces/default/pods?dryRun=All", body, code=code)


async def test_operations(api: Api) -> None:
    await api.mutating(
        "m",
        "[JSONPatch{op: 'add', path: '/data', value: {'n': variables.n, 'op': request.operation}}]",
        "has(object.data.n) ? [JSONPatch{op: 'add', path: '/data/' + jsonpatch.escapeKey('a/b'.replace('/', '-')),"
        " value: object.data.n}] : []",
        matchConditions=[{"name": "c", "expression": "object.metadata.name != 'plain'"}],
        variables=[{"name": "n", "expression": "object.metadata.name + '!'"}],
    )
    made = await api.make()
    assert made["data"] == {"n": "a!", "op": "CREATE", "a-b": "a!"}
    assert "data" not in await api.make("plain")


async def test_what_fails_is_refused(api: Api) -> None:
    text = "[JSONPatch{op: object.data.op, path: '/metadata/labels', value: {'v': object.data.v}}]"
    await api.mutating("m", text, reinvocationPolicy="IfNeeded")
    assert (await api.make("b", data={"op": "replace", "v": "x"}))["metadata"]["labels"] == {"v": "x"}
    refused = await api.make(code=403)
    why = f"policy 'm' with binding 'm' denied request: expression '{text}' resulted in error: no such key: data"
    assert (refused["reason"], refused["message"]) == ("Invalid", why)
    assert refused["details"] == {"name": "a", "kind": "configmaps", "causes": [{"message": why}]}
    await api.make(code=422, data={"op": "add", "v": "not a label!"})
    refused = await api.make(code=403, data={"op": "jump", "v": "x"})
    assert refused["message"].endswith("JSON Patch: Unexpected kind: jump")
    await api.make("untouched", data={"op": "test", "v": "x"})


async def test_apply_configurations(api: Api) -> None:
    await api.mutating(
        "m",
        "Object{metadata: Object.metadata{labels: {'sized': 'yes'}}, spec: Object.spec{"
        "initContainers: [Object.spec.initContainers{name: 'mesh', image: 'proxy:1', restartPolicy: 'Always'}],"
        "containers: object.spec.containers.map(c, Object.spec.containers{name: c.name, imagePullPolicy: 'Never'})}}",
        matchConstraints={"resourceRules": [PODS]},
    )
    made = await pod(api)
    assert made["metadata"]["labels"] == {"sized": "yes"}
    (container,) = made["spec"]["containers"]
    assert (container["image"], container["imagePullPolicy"]) == ("i", "Never")
    (sidecar,) = made["spec"]["initContainers"]
    assert (sidecar["name"], sidecar["terminationMessagePath"]) == ("mesh", "/dev/termination-log")
    assert [each["name"] for each in sidecar["volumeMounts"]], "the account's volume comes with the second pass"


async def test_bad_configurations(api: Api) -> None:
    for number, (text, why) in enumerate(
        (
            ("Object{spec: Object.spec{nope: 1}}", ".spec.nope: field not declared in schema"),
            ("Object{spec: Object.spex{}}", 'unexpected type name "Object.spex", expected "Object.spec", which matches field'),
            (
                "Object{spec: Object.spec{nodeSelector: {'a': 'b'}}}",
                "error applying patch: invalid ApplyConfiguration: may not mutate atomic arrays, maps or structs: .spec.nodeS",
            ),
            (
                "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'c', command: ['x']}]}}",
                "may not mutate atomic arrays, maps or structs: .spec.containers[0].command",
            ),
        )
    ):
        name = f"m{number}"
        await api.mutating(name, text, matchConstraints={"resourceRules": [PODS]})
        refused = await pod(api, 403)
        assert why in refused["message"]
        await api(f"DELETE /apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicybindings/{name}")
        await api.settle()


async def test_a_second_look_where_another_changed_it(api: Api) -> None:
    """The first policy sees what the second did; one that wants no second look does not."""
    count = "[JSONPatch{op: 'add', path: '/data', value: {'seen': has(object.data) ? 'late' : 'early', 'late': '%s'}}]"
    await api.mutating(
        "a",
        "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': has(object.data) ? 'data' : 'none'}}]",
        reinvocationPolicy="IfNeeded",
    )
    await api.mutating("b", count % "1")
    made = await api.make()
    assert made["metadata"]["labels"] == {"a": "data"}
    assert made["data"] == {"seen": "early", "late": "1"}


async def test_ownership_stays_with_who_wrote(api: Api) -> None:
    await api.mutating("m", "Object{metadata: Object.metadata{annotations: {'by': 'policy'}, ?labels: optional.none()}}")
    path = "PATCH /api/v1/namespaces/default/configmaps/a?fieldManager=me"
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "1"}}
    made = await api(path, body, kind="application/apply-patch+yaml")
    assert made["metadata"]["annotations"] == {"by": "policy"}
    assert "labels" not in made["metadata"]
    assert [entry["fieldsV1"] for entry in made["metadata"]["managedFields"]] == [{"f:data": {"f:k": {}}}]


async def test_a_scale(api: Api) -> None:
    rule = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["deployments/scale"]}
    await api.mutating("m", "Object{spec: Object.spec{replicas: 2}}", matchConstraints={"resourceRules": [rule]})
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": template}
    await api("POST /apis/apps/v1/namespaces/default/deployments", {"metadata": {"name": "d"}, "spec": spec})
    path = "PATCH /apis/apps/v1/namespaces/default/deployments/d/scale"
    scaled = await api(path, {"spec": {"replicas": 7}}, kind="application/merge-patch+json")
    assert scaled["spec"] == {"replicas": 2}


async def test_params_and_the_authoriser(api: Api) -> None:
    reference = {"name": "limits", "parameterNotFoundAction": "Allow"}
    await api.mutating(
        "m",
        "[JSONPatch{op: 'add', path: '/data', value: {'most': params.data.most,"
        " 'may': string(authorizer.requestResource.check('delete').allowed())}}]",
        paramKind={"apiVersion": "v1", "kind": "ConfigMap"},
        binding={"paramRef": reference},
    )
    assert (await api.make("limits", data={"most": "3"}))["data"] == {"most": "3"}
    assert (await api.make())["data"] == {"most": "3", "may": "true"}
