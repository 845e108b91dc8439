"""The order of admission's steps, who is asked at all, and what is measured of it."""

from __future__ import annotations

import pytest
from tests.apiserver.conftest import Api

from setpoint.api.machinery.status import StatusError, bad_request
from setpoint.api.machinery.user import UserInfo
from setpoint.kit import metrics
from setpoint.registry.admission.chain import BaseStep, Chain, Step
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.strategy import Context
from setpoint.registry.table import minors


class Changing(BaseStep):
    def __init__(self, name: str, seen: list[str], *, again: bool = False) -> None:
        self._name = name
        self._seen = seen
        self._again = again

    async def admit(self, request: AdmissionRequest) -> None:
        self._seen.append(self._name)
        request.reinvoke |= self._again


class Refusing(BaseStep):
    async def validate(self, request: AdmissionRequest) -> None:
        raise bad_request("no")


def request() -> AdmissionRequest:
    served = next(each for each in minors.of_minor(minors.DEFAULT).resources if each.plural == "configmaps")
    return AdmissionRequest("CREATE", served, "v1", Context(UserInfo("admin"), 0.0))


async def test_a_step_that_asks_for_it_brings_all_back_once() -> None:
    seen: list[str] = []
    steps: dict[str, Step] = {"One": Changing("one", seen), "Two": Changing("two", seen, again=True), "Three": Refusing()}
    await Chain(steps, (Changing("last", seen),)).admit(request())
    assert seen == ["one", "two", "last"] * 2


async def test_whoever_does_nothing_is_not_asked() -> None:
    assert not Chain({"Idle": BaseStep()}).concerned("CREATE", "configmaps", "")
    assert Chain({"No": Refusing()}).concerned("CREATE", "configmaps", "")


async def test_what_is_measured() -> None:
    chain = Chain({"TestChanging": Changing("one", [], again=True), "TestRefusing": Refusing()})
    asked = request()
    await chain.admit(asked)
    with pytest.raises(StatusError, match="no"):
        await chain.validate(asked)
    name = "apiserver_admission_controller_admission_duration_seconds_count"
    text = metrics.exposition().decode()
    assert f'{name}{{name="TestChanging",operation="CREATE",rejected="false",type="admit"}} 2.0' in text
    assert f'{name}{{name="TestRefusing",operation="CREATE",rejected="true",type="validate"}} 1.0' in text
    assert 'name="TestRefusing",operation="CREATE",rejected="false",type="admit"' not in text


async def test_whole_phases_are_measured(api: Api) -> None:
    name = 'apiserver_admission_step_admission_duration_seconds_count{operation="UPDATE",rejected="false",type="'

    def counts() -> list[float]:
        lines = metrics.exposition().decode().splitlines()
        return [float(line.split()[-1]) for line in lines if line.startswith(name)]

    url = "/api/v1/namespaces/default/configmaps"
    made = await api(f"POST {url}", {"metadata": {"name": "a"}})
    await api(f"PUT {url}/a", made)
    before = counts()
    await api(f"PUT {url}/a", {**made, "data": {"k": "v"}})
    assert counts() == [each + 1 for each in before]
    assert len(before) == 2
