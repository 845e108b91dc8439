"""Bodies become objects, with Kubernetes' own complaints."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from setpoint.api.machinery import decode
from setpoint.api.machinery.decode import IGNORE, STRICT, WARN, Decoded
from setpoint.api.machinery.schema import trees
from setpoint.api.machinery.schema.node import Node
from setpoint.api.machinery.status import StatusError

JSON = "application/json"
YAML = "application/yaml"
_ANONYMOUS = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'


def known(api_version: str, kind: str) -> bool:
    group, _, version = api_version.rpartition("/")
    return trees.load().definition_of(group, version, kind) is not None


def decoded(body: str | bytes, kind: str = "ConfigMap", media: str = JSON, **more: Any) -> Decoded:
    body = body.encode() if isinstance(body, str) else body
    api_version = {"Deployment": "apps/v1", "Lease": "coordination.k8s.io/v1", "PodDisruptionBudget": "policy/v1"}.get(kind, "v1")
    group, _, version = api_version.rpartition("/")
    definition = trees.load().definition_of(group, version, kind)
    assert definition
    return decode.decode(body, media, trees.load().tree(definition), kind=kind, api_version=api_version, known=known, **more)


def complaint(body: str | bytes, kind: str = "ConfigMap", media: str = JSON, **more: Any) -> str:
    with pytest.raises(StatusError) as caught:
        decoded(body, kind, media, **more)
    assert caught.value.code == 400
    return caught.value.message


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("{", "unexpected end of JSON input ({)"),
        ("", "unexpected end of JSON input (<empty>)"),
        ("[]", f"json: cannot unmarshal array into Go value of type {_ANONYMOUS} (5b5d)"),
        ('"text"', f"json: cannot unmarshal string into Go value of type {_ANONYMOUS} (227465787422)"),
        (
            '{"apiVersion":"v1","kind":"ConfigMap"} x',
            """invalid character 'x' after top-level value ({"apiVersion":"v1","kind":"Con ...)""",
        ),
        ("{'a':1}", "invalid character '\\'' looking for beginning of object key string ({'a':1})"),
        ('{"a":01}', """invalid character '1' after object key:value pair ({"a":01})"""),
        ('{"a":nul}', """invalid character '}' in literal null (expecting 'l') ({"a":nul})"""),
        ('{"a":"\n"}', """invalid character '\\n' in string literal ({"a":"\n"})"""),
        ('{"a":-}', """invalid character '}' in numeric literal ({"a":-})"""),
        ('{"a":1.}', """invalid character '}' after decimal point in numeric literal ({"a":1.})"""),
        ('{"kind":5}', """json: cannot unmarshal number into Go struct field .kind of type string ({"kind":5})"""),
    ],
)
def test_malformed_bodies(body: str, why: str) -> None:
    prefix = "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
    assert complaint(body) == prefix + why


def test_null_is_an_empty_object() -> None:
    assert decoded("null").obj == {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {}}


UNFIT = "json: cannot unmarshal"
POD = '{"metadata":{"name":"p"},"spec":%s}'


@pytest.mark.parametrize(
    ("kind", "body", "why"),
    [
        ("ConfigMap", '{"data":{"k":1}}', f"{UNFIT} number into Go struct field ConfigMap.data of type string"),
        (
            "ConfigMap",
            '{"data":["x"]}',
            f"{UNFIT} array into Go struct field ConfigMap.data of type map[string]string",
        ),
        (
            "ConfigMap",
            '{"metadata":{"name":5}}',
            f"{UNFIT} number into Go struct field ObjectMeta.metadata.name of type string",
        ),
        (
            "ConfigMap",
            '{"immutable":"true"}',
            f"{UNFIT} string into Go struct field ConfigMap.immutable of type bool",
        ),
        ("ConfigMap", '{"binaryData":{"k":"not base64!"}}', "illegal base64 data at input byte 3"),
        (
            "ConfigMap",
            '{"metadata":{"creationTimestamp":"yesterday"}}',
            'parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"',
        ),
        (
            "Pod",
            POD % '{"containers":[{"name":"c","ports":[{"containerPort":"80"}],"resources":{"limits":{"cpu":"x"}}}]}',
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        (
            "Pod",
            POD % '{"containers":{"name":"c"}}',
            f"{UNFIT} object into Go struct field PodSpec.spec.containers of type []v1.Container",
        ),
        (
            "Pod",
            POD % '{"containers":[{"ports":[{"containerPort":1.5}]}]}',
            f"{UNFIT} number 1.5 into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32",
        ),
        (
            "Pod",
            POD % '{"containers":[{"ports":[{"containerPort":80.0}]}]}',
            f"{UNFIT} number 80.0 into Go struct field ContainerPort.spec.containers.ports.containerPort of type int32",
        ),
        (
            "Pod",
            POD % '{"priority":3000000000}',
            f"{UNFIT} number 3000000000 into Go struct field PodSpec.spec.priority of type int32",
        ),
        (
            "Pod",
            POD % '{"activeDeadlineSeconds":99999999999999999999}',
            f"{UNFIT} number 99999999999999999999 into Go struct field PodSpec.spec.activeDeadlineSeconds of type int64",
        ),
        (
            "Pod",
            POD % '{"restartPolicy":1}',
            f"{UNFIT} number into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy",
        ),
        (
            "PodDisruptionBudget",
            '{"spec":{"maxUnavailable":true}}',
            f"{UNFIT} bool into Go struct field PodDisruptionBudgetSpec.spec.maxUnavailable of type int32",
        ),
        (
            "Deployment",
            '{"spec":[]}',
            f"{UNFIT} array into Go struct field Deployment.spec of type v1.DeploymentSpec",
        ),
        (
            "Lease",
            '{"spec":{"renewTime":"2026-01-01T00:00:00Z"}}',
            'parsing time "2026-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
        ),
    ],
)
def test_wrong_types(kind: str, body: str, why: str) -> None:
    version = "v1"
    assert complaint(body, kind) == f'{kind} in version "{version}" cannot be handled as a {kind}: {why}'


STRANGE = """{"apiVersion":"v1","kind":"PodTemplate","metadata":{"name":"t","odd":1,"labels":{"a":"1","a":"2"}},
"extra":{"deep":1},
"template":{"spec":{"containers":[{"name":"c","image":"i","image":"j","prots":[],"env":[{"name":"E","valu":"x"}]}],"volume":[]}}}"""
COMPLAINTS = [
    'unknown field "metadata.odd"',
    'duplicate field "metadata.labels.a"',
    'unknown field "extra"',
    'duplicate field "template.spec.containers[0].image"',
    'unknown field "template.spec.containers[0].prots"',
    'unknown field "template.spec.containers[0].env[0].valu"',
    'unknown field "template.spec.volume"',
]


def test_unknown_and_repeated_fields() -> None:
    warned = decoded(STRANGE, "PodTemplate")
    assert warned.warnings == COMPLAINTS
    assert warned.obj["template"]["spec"]["containers"] == [{"name": "c", "image": "j", "env": [{"name": "E"}], "resources": {}}]
    assert warned.obj["metadata"]["labels"] == {"a": "2"}
    assert decoded(STRANGE, "PodTemplate", validation=IGNORE).warnings == []
    strict = complaint(STRANGE, "PodTemplate", validation=STRICT)
    listed = ", ".join(COMPLAINTS)
    assert strict == f'PodTemplate in version "v1" cannot be handled as a PodTemplate: strict decoding error: {listed}'


def test_names_are_case_sensitive() -> None:
    body = '{"metadata":{"name":"m","Labels":{"a":"b"}},"Data":{"k":"v"}}'
    found = decoded(body)
    assert found.warnings == ['unknown field "metadata.Labels"', 'unknown field "Data"']
    assert found.obj == {"metadata": {"name": "m"}, "kind": "ConfigMap", "apiVersion": "v1"}


@pytest.mark.parametrize(
    "text", ['{"kind" :"ConfigMap","kind":"ConfigMap"}', '{"data":{"a\\\\":"","a\\\\":""}}', '{"data":{"x":"a", "x"\n:"b"}}']
)
def test_repeated_names_are_seen_through_any_spelling(text: str) -> None:
    assert len(decoded(text).warnings) == 1


def test_text_that_looks_like_names_is_not_counted() -> None:
    text = '{"data":{"a":"{\\"x\\":1,\\"x\\":2} : ","b":":","c":"\\\\"}}'
    found = decoded(text)
    assert found.warnings == []
    assert found.obj["data"] == {"a": '{"x":1,"x":2} : ', "b": ":", "c": "\\"}


def test_a_body_of_another_kind() -> None:
    pod = "Pod"
    assert complaint('{"kind":"Service","apiVersion":"v1"}', pod) == (
        'Service in version "v1" cannot be handled as a Pod: converting (v1.Service) to (core.Pod): unknown conversion'
    )
    assert complaint('{"kind":"Pod","apiVersion":"apps/v1"}', pod) == (
        'Pod in version "v1" cannot be handled as a Pod: '
        'no kind "Pod" is registered for version "apps/v1" in scheme "pkg/api/legacyscheme/scheme.go:30"'
    )
    assert complaint('{"kind":"Deployment","apiVersion":"apps/v1beta1"}', "Deployment") == (
        "the API version in the data (apps/v1beta1) does not match the expected API version (apps/v1)"
    )
    assert complaint('{"apiVersion":"a/b/c"}', pod).startswith(
        "the object provided is unrecognized (must be of type Pod): unexpected GroupVersion string: a/b/c ("
    )


@pytest.mark.parametrize(("kind", "version"), [("Pod", "/v1"), ("Pod", "/"), ("Deployment", "apps/"), ("Deployment", "/")])
def test_half_a_version_is_filled_in(kind: str, version: str) -> None:
    """Where the group is the URL's, or there is none, the rest is taken from there."""
    body = orjson.dumps({"kind": kind, "apiVersion": version, "metadata": {"name": "a"}})
    assert decoded(body, kind).obj["metadata"]["name"] == "a"


def test_numbers_keep_their_spelling_where_it_matters() -> None:
    body = '{"spec":{"containers":[{"name":"c","resources":{"limits":{"a":1e3,"b":1.50,"c":2}}}]}}'
    assert decoded(body, "Pod").obj["spec"]["containers"][0]["resources"]["limits"] == {"a": "1e3", "b": "1500m", "c": "2"}
    custom = decode.read(
        b'{"a":9223372036854775808,"b":1.0,"c":1e400}'.replace(b',"c":1e400', b""), JSON, Node("object", builtin=False)
    )
    assert custom.obj == {"a": 9223372036854775808.0, "b": 1}


def test_depth_is_bounded() -> None:
    deep = '{"data":' + '{"a":' * 20_000 + "1" + "}" * 20_001
    assert "exceeded max depth" in complaint(deep)
    assert "exceeded max depth" in complaint("[" * 100_000)


def test_yaml() -> None:
    body = """
apiVersion: v1
kind: ConfigMap
metadata: {name: m, labels: &l {a: "1"}, annotations: *l}
data:
  octal: "010"
  text: |
    two
    lines
  time: 2026-01-01
  ratio: 12:30
immutable: yes
"""
    found = decoded(body, media=YAML)
    assert found.warnings == []
    assert found.obj["data"] == {"octal": "010", "text": "two\nlines\n", "time": "2026-01-01", "ratio": "12:30"}
    assert found.obj["immutable"] is True
    assert found.obj["metadata"]["annotations"] == {"a": "1"}


def test_yaml_complaints() -> None:
    start = "the object provided is unrecognized (must be of type ConfigMap): yaml: "
    assert complaint("a: b: c", media=YAML).startswith(start + "mapping values are not allowed in this context")
    assert complaint("a: 1\nb: [\n", media=YAML).startswith(start + "line ")
    twice = "kind: ConfigMap\ndata:\n  k: a\n  k: b\n"
    repeated = 'line 4: key "k" already set in map'
    assert decoded(twice, media=YAML).warnings == [repeated]
    assert decoded(twice, media=YAML).obj["data"] == {"k": "b"}
    assert complaint(twice, media=YAML, validation=STRICT).endswith(
        f"strict decoding error: yaml: unmarshal errors:\n  {repeated}"
    )
    assert complaint("data: {k: 5}", media=YAML).endswith(
        "cannot unmarshal number into Go struct field ConfigMap.data of type string"
    )
    assert "unsupported map key" in complaint("data: {~: a}", media=YAML)


def test_yaml_aliases_are_bounded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    assert "excessive aliasing" in complaint("\n".join(lines), media=YAML)
    assert "contains itself" in complaint("a: &a [*a]", media=YAML)


@pytest.mark.parametrize("body", ["<<: 5", "a: \x00", "- " * 50_000, "[" * 50_000, "? [a]\n: b", "a: .inf"])
def test_yaml_that_becomes_no_json(body: str) -> None:
    assert "unrecognized" in complaint(body, media=YAML)
    with pytest.raises(decode.DecodeError, match="error converting YAML to JSON: "):
        decode.read(body.encode(), YAML, None)


def test_yaml_of_a_patch_that_is_no_object() -> None:
    with pytest.raises(decode.DecodeError) as caught:
        decode.read(b"[1, 2]", YAML, None)
    why = (
        "error unmarshaling JSON: while decoding JSON: json: cannot unmarshal array into Go value of type map[string]interface {}"
    )
    assert str(caught.value) == why


def test_a_patched_object_is_judged_like_a_body() -> None:
    node = trees.load().tree("io.k8s.api.core.v1.ConfigMap")
    assert decode.check({"data": {"k": None}, "immutable": None}, node).obj == {"data": {"k": ""}, "metadata": {}}
    assert decode.check({"nosuch": 1, "metadata": {"b": 1, "a": 1}}, node).warnings == [
        'unknown field "metadata.a"',
        'unknown field "metadata.b"',
        'unknown field "nosuch"',
    ]
    with pytest.raises(decode.DecodeError, match=r"cannot unmarshal number into Go struct field ConfigMap\.data of type string"):
        decode.check({"data": {"k": 5}}, node)


def test_an_empty_list_of_policies_is_not_an_absent_one() -> None:
    """Absent policies have a default, none at all are refused."""
    node = trees.load().tree("io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler")
    rules = {"policies": [], "selectPolicy": "Max"}
    sent = {"spec": {"maxReplicas": 1, "behavior": {"scaleUp": rules}, "metrics": []}}
    spec = decode.check(sent, node, empties=True).obj["spec"]
    assert spec["behavior"]["scaleUp"]["policies"] == []
    assert "metrics" not in spec


def test_a_body_of_a_former_version_is_read_as_such_before_it_is_refused() -> None:
    def read(spec: dict[str, Any], validation: str = WARN) -> StatusError:
        body = orjson.dumps({"apiVersion": "networking.k8s.io/v1beta1", "kind": "Ingress", "spec": spec})
        node = trees.load().tree("io.k8s.api.networking.v1.Ingress")
        with pytest.raises(StatusError) as caught:
            decode.decode(
                body, "application/json", node, kind="Ingress", api_version="networking.k8s.io/v1", validation=validation
            )
        return caught.value

    older = {"backend": {"serviceName": "s", "servicePort": "web"}}
    assert list(read(older).warnings) == []
    newer = read({"rules": [{"http": {"paths": [{"backend": {"service": {}}}]}}]})
    assert "does not match the expected API version" in newer.message
    assert list(newer.warnings) == ['unknown field "spec.rules[0].http.paths[0].backend.service"']
    assert "strict decoding error" in read({"defaultBackend": {}}, STRICT).message
