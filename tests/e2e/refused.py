"""Requests that are refused, each with what exactly the server says."""

from __future__ import annotations

import json
from typing import Any

CONFIGMAPS = "/api/v1/namespaces/default/configmaps"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"
SECRETS = "/api/v1/namespaces/default/secrets"
LIMIT = 3 * 1024 * 1024


def deployment(**spec: Any) -> bytes:
    labels = {"a": "b"}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    body = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template, **spec},
    }
    return json.dumps(body).encode()


def number(text: bytes) -> bytes:
    return deployment(replicas=12345).replace(b"12345", text)


UNRECOGNIZED = "the object provided is unrecognized (must be of type ConfigMap): "
NOT_A_DEPLOYMENT = 'Deployment in version "v1" cannot be handled as a Deployment: '
REPLICAS = "into Go struct field DeploymentSpec.spec.replicas of type int32"
DEPTH = "exceeded max depth"
YAML = "application/yaml"
MERGE = "application/merge-patch+json"
JSON = "application/json"

#: name → (line, type, body, code, reason, what the message begins with)
REFUSED: dict[str, tuple[str, str, bytes, int, str, str]] = {
    "broken YAML": (
        f"POST {CONFIGMAPS}",
        YAML,
        b'a: [b\n c: "',
        400,
        "BadRequest",
        f"{UNRECOGNIZED}yaml: line 1: did not find expected ',' or ']' (",
    ),
    "a tab in YAML": (
        f"POST {CONFIGMAPS}",
        YAML,
        b"metadata:\n\tname: x",
        400,
        "BadRequest",
        f"{UNRECOGNIZED}yaml: line 2: found character that cannot start any token (",
    ),
    "aliases that explode": (
        f"POST {CONFIGMAPS}",
        YAML,
        b"a: &a [x,x,x,x,x,x,x,x,x]\n"
        + b"".join(b"%c: &%c [%s]\n" % (i, i, b",".join([b"*%c" % (i - 1)] * 9)) for i in range(98, 106)),
        400,
        "BadRequest",
        f"{UNRECOGNIZED}yaml: document contains excessive aliasing (",
    ),
    "broken JSON": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"x"',
        400,
        "BadRequest",
        f"{UNRECOGNIZED}couldn't get version/kind; json parse error: unexpected end of JSON input (",
    ),
    "two objects": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"x"}} {}',
        400,
        "BadRequest",
        f"{UNRECOGNIZED}couldn't get version/kind; json parse error: invalid character '{{' after top-level value (",
    ),
    "no body": (
        f"POST {CONFIGMAPS}",
        JSON,
        b"",
        400,
        "BadRequest",
        f"{UNRECOGNIZED}couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)",
    ),
    "an array": (
        f"POST {CONFIGMAPS}",
        JSON,
        b"[]",
        400,
        "BadRequest",
        f"{UNRECOGNIZED}couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct",
    ),
    "the wrong kind": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}',
        400,
        "BadRequest",
        'Pod in version "v1" cannot be handled as a ConfigMap: converting (v1.Pod) to (core.ConfigMap): unknown conversion',
    ),
    "an unknown kind": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"apiVersion":"v1","kind":"Nonesuch","metadata":{"name":"x"}}',
        400,
        "BadRequest",
        'Nonesuch in version "v1" cannot be handled as a ConfigMap: no kind "Nonesuch" is registered for version "v1" in scheme',
    ),
    "an unknown resource": (
        "POST /api/v1/namespaces/default/nones",
        JSON,
        b"{}",
        404,
        "NotFound",
        "the server could not find the requested resource",
    ),
    "an unknown field": (
        f"POST {CONFIGMAPS}?fieldValidation=Strict",
        JSON,
        b'{"metadata":{"name":"x"},"dater":{}}',
        400,
        "BadRequest",
        'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "dater"',
    ),
    "a number for a string": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"x"},"data":{"k":1}}',
        400,
        "BadRequest",
        (
            'ConfigMap in version "v1" cannot be handled as a ConfigMap: '
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string"
        ),
    ),
    "a string for a number": (
        f"POST {DEPLOYMENTS}",
        JSON,
        deployment(replicas="three"),
        400,
        "BadRequest",
        f"{NOT_A_DEPLOYMENT}json: cannot unmarshal string {REPLICAS}",
    ),
    "what is no base64": (
        f"POST {SECRETS}",
        JSON,
        b'{"metadata":{"name":"x"},"data":{"k":"!"}}',
        400,
        "BadRequest",
        'Secret in version "v1" cannot be handled as a Secret: illegal base64 data at input byte 0',
    ),
    "a bad name": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"Bad_Name"}}',
        422,
        "Invalid",
        'ConfigMap "Bad_Name" is invalid: metadata.name: Invalid value: "Bad_Name": a lowercase RFC 1123 subdomain must',
    ),
    "a name that is too long": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"%s"}}' % (b"a" * 254),
        422,
        "Invalid",
        f'ConfigMap "{"a" * 254}" is invalid: metadata.name: Invalid value: "{"a" * 254}": must be no more than 253 characters',
    ),
    "no name": (
        f"POST {CONFIGMAPS}",
        JSON,
        b"{}",
        422,
        "Invalid",
        'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    ),
    "another namespace": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"x","namespace":"other"}}',
        400,
        "BadRequest",
        "the namespace of the provided object does not match the namespace sent on the request",
    ),
    "a namespace that is not there": (
        "POST /api/v1/namespaces/none/configmaps",
        JSON,
        b'{"metadata":{"name":"x"}}',
        404,
        "NotFound",
        'namespaces "none" not found',
    ),
    "a selector that does not match": (
        f"POST {DEPLOYMENTS}",
        JSON,
        deployment(selector={"matchLabels": {"a": "c"}}),
        422,
        "Invalid",
        (
            'Deployment.apps "d" is invalid: spec.template.metadata.labels: Invalid value: {"a":"b"}: '
            "`selector` does not match template `labels`"
        ),
    ),
    "negative replicas": (
        f"POST {DEPLOYMENTS}",
        JSON,
        deployment(replicas=-1),
        422,
        "Invalid",
        'Deployment.apps "d" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0',
    ),
    "a huge number": (
        f"POST {DEPLOYMENTS}",
        JSON,
        number(b"1" + b"0" * 30),
        400,
        "BadRequest",
        f"{NOT_A_DEPLOYMENT}json: cannot unmarshal number 1{'0' * 30} {REPLICAS}",
    ),
    "a huge exponent": (
        f"POST {DEPLOYMENTS}",
        JSON,
        number(b"1e400"),
        400,
        "BadRequest",
        f"{NOT_A_DEPLOYMENT}json: cannot unmarshal number 1e400 {REPLICAS}",
    ),
    "a hundred thousand digits": (
        f"POST {DEPLOYMENTS}",
        JSON,
        number(b"9" * 100_000),
        400,
        "BadRequest",
        f"{NOT_A_DEPLOYMENT}json: cannot unmarshal number 99999",
    ),
    "a fraction of a replica": (
        f"POST {DEPLOYMENTS}",
        JSON,
        number(b"1.5"),
        400,
        "BadRequest",
        f"{NOT_A_DEPLOYMENT}json: cannot unmarshal number 1.5 {REPLICAS}",
    ),
    "10,000 maps in each other": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"x"},"data":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_001,
        400,
        "BadRequest",
        f"{UNRECOGNIZED}couldn't get version/kind; json parse error: {DEPTH} (",
    ),
    "a million brackets": (
        f"POST {CONFIGMAPS}",
        JSON,
        b"[" * 1_000_000,
        400,
        "BadRequest",
        f"{UNRECOGNIZED}couldn't get version/kind; json parse error: {DEPTH} (",
    ),
    "10,000 lists in YAML": (
        f"POST {CONFIGMAPS}",
        YAML,
        b"data: " + b"[" * 10_001 + b"]" * 10_001,
        400,
        "BadRequest",
        f"{UNRECOGNIZED}yaml: ",
    ),
    "a deep patch": (
        f"PATCH {CONFIGMAPS}/kube-root-ca.crt",
        MERGE,
        b'{"data":' + b'{"a":' * 10_000 + b"1" + b"}" * 10_001,
        400,
        "BadRequest",
        f"error decoding patch: {DEPTH}",
    ),
    "a patch of the wrong type": (
        f"PATCH {CONFIGMAPS}/kube-root-ca.crt",
        "text/plain",
        b"{}",
        415,
        "UnsupportedMediaType",
        "415: Unsupported Media Type",
    ),
    "more than 3 MiB": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"x"},"data":{"k":"' + b"a" * LIMIT + b'"}}',
        413,
        "RequestEntityTooLarge",
        "Request entity too large: limit is 3145728",
    ),
    "a config map of more than 1 MiB": (
        f"POST {CONFIGMAPS}",
        JSON,
        b'{"metadata":{"name":"x"},"data":{"k":"' + b"a" * 1024 * 1024 + b'a"}}',
        422,
        "Invalid",
        'ConfigMap "x" is invalid: []: Too long: may not be more than 1048576 bytes',
    ),
    "a type that it does not read": (
        f"POST {CONFIGMAPS}",
        "text/plain",
        b"x",
        415,
        "UnsupportedMediaType",
        (
            "the body of the request was in an unknown format - accepted media types include: "
            "application/json, application/yaml, application/vnd.kubernetes.protobuf"
        ),
    ),
    "a dry run of some": (
        f"POST {CONFIGMAPS}?dryRun=Some",
        JSON,
        b'{"metadata":{"name":"x"}}',
        422,
        "Invalid",
        'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
    ),
    "a limit that is none": (f"GET {CONFIGMAPS}?limit=abc", JSON, b"", 400, "BadRequest", "strconv.ParseInt: parsing"),
    "a broken selector": (
        f"DELETE {CONFIGMAPS}?labelSelector=a===",
        JSON,
        b"",
        400,
        "BadRequest",
        "unable to parse requirement: ",
    ),
    "a method that is not there": (
        f"PUT {CONFIGMAPS}",
        JSON,
        b"{}",
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
    ),
}
