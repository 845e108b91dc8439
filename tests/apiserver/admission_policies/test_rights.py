"""Who may write policies must be able to read the parameters that they go by."""

from __future__ import annotations

import pytest
from tests.apiserver.admission_policies.conftest import CONFIG_MAPS, Api

from setpoint.api.machinery.user import UserInfo

GROUP = "/apis/admissionregistration.k8s.io/v1"
RIGHTS = [
    {"apiGroups": ["admissionregistration.k8s.io"], "resources": ["*"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["known"], "verbs": ["get"]},
]
WHO = "&{dev  [system:authenticated] map[]}"


@pytest.fixture
async def dev(api: Api) -> UserInfo:
    """Somebody who may write policies, and read one config map."""
    rbac = "/apis/rbac.authorization.k8s.io/v1"
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "dev"}
    await api(f"POST {rbac}/clusterroles", {"metadata": {"name": "dev"}, "rules": RIGHTS})
    bound = {"metadata": {"name": "dev"}, "roleRef": role, "subjects": [{"kind": "User", "name": "dev"}]}
    await api(f"POST {rbac}/clusterrolebindings", bound)
    await api.settle()
    return UserInfo("dev", groups=("system:authenticated",))


async def test_rights_of_policies_and_bindings(api: Api, dev: UserInfo) -> None:
    spec = {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [CONFIG_MAPS]},
        "validations": [{"expression": "params != null"}],
    }
    wanted = {"metadata": {"name": "p"}, "spec": spec}

    async def refused(plural: str, body: object) -> tuple[str, str]:
        status = await api(f"POST {GROUP}/{plural}", body, code=422, user=dev)
        (cause,) = status["details"]["causes"]
        return cause["field"], cause["message"].removeprefix("Forbidden: ")

    lacking = f'user {WHO} must have "get" permission on all objects of the referenced paramKind (kind=ConfigMap, apiVersion=v1)'
    assert await refused("validatingadmissionpolicies", wanted) == ("spec.paramKind", lacking)
    await api(f"POST {GROUP}/validatingadmissionpolicies", wanted)

    def binding(policy: str, **reference: object) -> object:
        given = {"namespace": "default", "parameterNotFoundAction": "Deny", **reference}
        bound = {"policyName": policy, "validationActions": ["Deny"], "paramRef": given}
        return {"metadata": {"name": "b"}, "spec": bound}

    bindings = "validatingadmissionpolicybindings"
    lacking = f'user {WHO} does not have "get" permission on the object referenced by paramRef'
    assert await refused(bindings, binding("p", name="other")) == ("spec.paramRef", lacking)
    lacking = f'user {WHO} does not have "list" permission for all groups, versions and resources'
    why = f"unable to get policy none to determine minimum required permissions and {lacking}"
    assert await refused(bindings, binding("none", selector={})) == ("spec.paramRef", why)
    await api(f"POST {GROUP}/{bindings}", binding("p", name="known"), user=dev)
