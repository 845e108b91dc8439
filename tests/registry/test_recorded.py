"""Refusals that a real Kubernetes gave, word for word: every recorded conversation is held again without a server.

Compared is what the registry decides: the status code of each write, and the whole Status of the refused ones. What needs
controllers, nodes or another's clock is left to the replays against a running server.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.apiserver.conftest import Api

GOLDEN = Path(os.environ.get("GOLDEN", Path(__file__).parents[3] / "shared" / "golden"))
FILES = ("core-pod", "groups-workloads", "core", "groups-other")
NAMESPACE, WORD = "g-recorded", "uword"
REFUSED = frozenset({403, 422})
WRITES = frozenset({"POST", "PUT", "PATCH"})
#: what these cases wait for is done by controllers, or asks for what is decided elsewhere
ELSEWHERE = re.compile(
    r"controller\b|quota: what exceeds|claim and volume|hpa: replica bounds|scheduling fields|nothing to spare|logs of|token"
    r"|exempt level|which ranges|system classes|a user cannot grant"
    # expressions
    r"|match conditions|validatingadmissionpolicy: expression|mutation errors|resourceclaim: request|deviceclass"
    # what was given empty, which protobuf forgets
    r"|the spec is immutable; an"
)


@cache
def recorded(name: str) -> dict[str, Any]:
    answers: dict[str, Any] = json.loads((GOLDEN / f"{name}.golden.json").read_text())
    return answers


def cases() -> Iterator[Any]:
    for name in FILES:
        file = GOLDEN / f"{name}.cases.yaml"
        if file.exists():
            for case in yaml.safe_load(file.read_text()):
                if not ELSEWHERE.search(case["case"]):
                    yield pytest.param(name, case, id=f"{name}: {case['case']}")


ALL = list(cases())


@pytest.mark.skipif(ALL != [], reason="recordings are at hand")
def test_recordings_are_missing() -> None:
    pytest.skip(f"no recordings in {GOLDEN}; set $GOLDEN")


@pytest.mark.parametrize(("name", "case"), ALL)
async def test_refusals(api: Api, name: str, case: dict[str, Any]) -> None:
    talk = Talk(api)
    await talk.prepare()
    for number, (step, wanted) in enumerate(zip(case["steps"], recorded(name)[case["case"]], strict=True)):
        if "watch" in step:
            continue
        status, body = await talk.say(step)
        method = step["do"].partition(" ")[0]
        if method in WRITES and not step.get("wait"):
            assert (number, status) == (number, wanted["status"]), body
        if wanted["status"] in REFUSED and "token" not in step:
            assert body == wanted["body"], number


class Talk:
    """One conversation: fills variables in, keeps others, and puts placeholders where the recordings have them."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._known = {"ns": NAMESPACE, "u": WORD}

    async def prepare(self) -> None:
        await self._api("POST /api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        await self._api(f"POST /api/v1/namespaces/{NAMESPACE}/serviceaccounts", {"metadata": {"name": "default"}})

    async def say(self, step: dict[str, Any]) -> tuple[int, Any]:
        body = self._fill(step["raw"]).encode() if "raw" in step else self._fill(step["body"]) if "body" in step else None
        headers = {"content_type": step.get("type", "application/json"), "accept": step.get("accept", "application/json")}
        response = await self._api.respond(self._fill(step["do"]), body, **headers)
        try:
            value = json.loads(response.body or b"null")
        except ValueError:
            value = None
        for name, where in step.get("keep", {}).items():
            self._known[name] = _lookup(value, where)
        for path in step.get("ignore", ()):
            value = _without(value, path)
        return response.status, self._plain(value)

    def _fill(self, value: Any) -> Any:
        if isinstance(value, str):
            return re.sub(r"\{(\w+)\}", lambda found: str(self._known.get(found[1], found[0])), value)
        if isinstance(value, list):
            return [self._fill(item) for item in value]
        if isinstance(value, dict):
            return {self._fill(key): self._fill(item) for key, item in value.items()}
        return value

    def _plain(self, value: Any) -> Any:
        if isinstance(value, dict):
            return {self._plain(key): "<uid>" if key == "uid" else self._plain(item) for key, item in value.items()}
        if isinstance(value, list):
            return [self._plain(item) for item in value]
        if isinstance(value, str):
            value = re.sub(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "<uid>", value)
            value = re.sub(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", "<time>", value)
            return value.replace(NAMESPACE, "<ns>").replace(WORD, "<u>")
        return value


def _without(value: Any, path: str) -> Any:
    head, _, rest = path.partition(".")
    if not isinstance(value, dict) or head not in value:
        return value
    others = {key: item for key, item in value.items() if key != head}
    return others | {head: _without(value[head], rest)} if rest else others


def _lookup(value: Any, path: str) -> Any:
    for part in path.split("."):
        value = value[int(part)] if isinstance(value, list) else (value or {}).get(part)
    return value
