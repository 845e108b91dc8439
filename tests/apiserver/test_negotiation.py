"""Which form an Accept header asks for."""

from __future__ import annotations

import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.answers import OBJECT_FORMS
from setpoint.apiserver.negotiation import JSON, YAML, accepted
from setpoint.apiserver.request import Request

META = "g=meta.k8s.io;v=v1"


def form_of(accept: str) -> tuple[str, str]:
    form = accepted(Request("GET", "/", headers={"accept": accept}), OBJECT_FORMS)
    return form.media, form.kind


@pytest.mark.parametrize(
    ("accept", "media", "kind"),
    [
        ("application/yaml;q=0.5, application/json", JSON, ""),
        ("*/*, application/yaml", YAML, ""),
        ("*/*;q=0.9, application/yaml;q=0.1", YAML, ""),
        ("application/yaml;q=0.1, */*;q=0.9", JSON, ""),
        (f"application/json;as=Table;{META}", JSON, "Table"),
        (f"*/*;as=Table;{META}", JSON, "Table"),
        ("application/json;v=v1, application/yaml", YAML, ""),
        ("application/json;sv=v1", JSON, ""),
        ("application/json;sv=v2, application/yaml", YAML, ""),
    ],
)
def test_forms(accept: str, media: str, kind: str) -> None:
    assert form_of(accept) == (media, kind)


@pytest.mark.parametrize("accept", ["application/json;as=Table", "application/json;v=v1", "application/json;g=meta.k8s.io"])
def test_half_a_conversion_is_refused(accept: str) -> None:
    with pytest.raises(StatusError) as refused:
        form_of(accept)
    assert refused.value.code == 406
