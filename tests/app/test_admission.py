"""The file that sets admission plugins up."""

from __future__ import annotations

from pathlib import Path

import pytest

from setpoint.app.admission import pod_security
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
    assert pod_security("").defaults.does_nothing
    settings = pod_security(str(tmp_path / "a.yaml"))
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
        pod_security(str(tmp_path / "a.yaml"))
