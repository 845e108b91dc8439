"""The file that sets admission plugins up."""

from __future__ import annotations

from pathlib import Path

import pytest

from setpoint.app.admission import configured
from setpoint.app.options import StartError

_FILE = """
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodSecurity
  path: pods.yaml
"""
_PODS = """
apiVersion: pod-security.admission.config.k8s.io/v1
kind: PodSecurityConfiguration
defaults: {enforce: baseline}
exemptions: {namespaces: [kube-system]}
"""


def test_in_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "pods.yaml").write_text(_PODS)
    (tmp_path / "a.yaml").write_text(_FILE)
    assert configured("").pod_security.defaults.does_nothing
    settings = configured(str(tmp_path / "a.yaml")).pod_security
    assert settings.defaults.enforce.name == "baseline"
    assert settings.exempt.namespaces == {"kube-system"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "a.yaml is no object"),
        ("{kind: X}", "AdmissionConfiguration"),
        (_FILE.replace("PodSecurity", "Priority"), 'plugin "Priority" has nothing to configure'),
        (_FILE, "No such file"),
    ],
)
def test_what_cannot_be_used(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(StartError, match=why):
        configured(str(tmp_path / "a.yaml"))


_WEBHOOKS = """
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: ValidatingAdmissionWebhook
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: WebhookAdmissionConfiguration
    kubeConfigFile: FILE
- name: MutatingAdmissionWebhook
  configuration:
    apiVersion: apiserver.config.k8s.io/v1alpha1
    kind: WebhookAdmission
    kubeConfigFile: FILE
"""


def test_who_the_server_is_towards_webhooks(tmp_path: Path) -> None:
    (tmp_path / "users").write_text('{"users": [{"name": "*", "user": {"token": "t"}}]}')
    (tmp_path / "a.yaml").write_text(_WEBHOOKS.replace("FILE", str(tmp_path / "users")))
    users = configured(str(tmp_path / "a.yaml")).webhook_users
    assert {name: each.find("a:443").shown() for name, each in users.items()} == {
        "ValidatingAdmissionWebhook": [("Authorization", "Bearer t")],
        "MutatingAdmissionWebhook": [("Authorization", "Bearer t")],
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (_WEBHOOKS, 'kubeConfigFile: Invalid value: "FILE": must be an absolute file path'),
        (_WEBHOOKS.replace("FILE", "/no/such/file"), "No such file"),
        (_WEBHOOKS.replace("kubeConfigFile", "kubeconfig"), 'unknown field "kubeconfig"'),
        (_WEBHOOKS.replace("WebhookAdmission\n", "Other\n"), "is no apiserver.config.k8s.io/v1 WebhookAdmissionConfiguration"),
    ],
)
def test_webhook_settings_that_cannot_be_used(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(StartError, match=why):
        configured(str(tmp_path / "a.yaml"))
