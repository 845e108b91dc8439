"""What is counted of validating policies, in Kubernetes' words."""

from __future__ import annotations

import pytest
from tests.apiserver.admission_policies.conftest import Api

from setpoint.kit import metrics


def counted(policy: str) -> list[str]:
    lines = metrics.exposition().decode().splitlines()
    prefix = "apiserver_validating_admission_policy_check_total{enforcement_action="
    return sorted(line.removeprefix(prefix) for line in lines if line.startswith(prefix) and f'"{policy}"' in line)


@pytest.mark.parametrize(
    ("policy", "expression", "actions", "failure_policy", "code", "expected"),
    [
        ("holds", "true", ("Deny",), "Fail", 201, []),
        ("denies", "false", ("Deny", "Audit"), "Fail", 422, [("audit", "invalid_error"), ("deny", "invalid_error")]),
        ("warns", "false", ("Warn",), "Fail", 201, [("warn", "invalid_error")]),
        ("fails", "object.data.nosuch == 'x'", ("Deny",), "Fail", 422, [("deny", "invalid_error")]),
        ("open", "object.data.nosuch == 'x'", ("Deny",), "Ignore", 201, [("allow", "invalid_error")]),
    ],
)
async def test_what_came_of_a_validation(
    api: Api,
    policy: str,
    expression: str,
    actions: tuple[str, ...],
    failure_policy: str,
    code: int,
    expected: list[tuple[str, str]],
) -> None:
    await api.validating(policy, expression, actions=actions, failurePolicy=failure_policy)
    await api.make(code=code)
    assert counted(policy) == [
        f'"{action}",error_type="{kind}",policy="{policy}",policy_binding="{policy}"}} 1.0' for action, kind in expected
    ]


async def test_a_budget_that_is_gone(api: Api) -> None:
    asks = " && ".join(f"authorizer.path('/{n}').check('get').allowed()" for n in range(2))
    await api.validating("dear", *[asks] * 15)
    await api.make(code=422)
    assert counted("dear") == ['"deny",error_type="out_of_budget",policy="dear",policy_binding="dear"} 1.0']
    name = "apiserver_validating_admission_policy_check_duration_seconds_count"
    assert f'{name}{{enforcement_action="deny",error_type="out_of_budget",policy="dear"' in metrics.exposition().decode()


async def test_what_match_conditions_keep_away(api: Api) -> None:
    conditions = [
        {"name": "a", "expression": "object.metadata.name != 'free'"},
        {"name": "b", "expression": "object.data.x == ''"},
    ]
    await api.validating("conditioned", "false", matchConditions=conditions)
    await api.make("free")
    await api.make("broken", code=422)
    wanted = 'kind="policy",name="conditioned",operation="CREATE",type="validate"} '
    counted = metrics.exposition().decode()
    for name, times in (("exclusions_total", 1), ("evaluation_errors_total", 1), ("evaluation_seconds_count", 2)):
        assert f"apiserver_admission_match_condition_{name}{{{wanted}{times}.0" in counted
