"""What may be asked of a pod's log, and how a flag of a URL reads."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest

from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.kubelet_proxy import options
from setpoint.apiserver.request import Request


def asked(query: str) -> Request:
    return Request("GET", "/", query=parse_qs(query, keep_blank_values=True))


@pytest.mark.parametrize(
    ("query", "code", "message"),
    [
        ("sinceTime=zz", 400, 'parsing time "zz" as "2006-01-02T15:04:05Z07:00": cannot parse "zz" as "2006"'),
        ("tailLines=1_0", 400, 'strconv.ParseInt: parsing "1_0": invalid syntax'),
        ("tailLines=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        ("stream=Stdout", 422, 'PodLogOptions "p" is invalid: stream: Forbidden: may not be specified'),
        ("limitBytes=0", 422, 'PodLogOptions "p" is invalid: limitBytes: Invalid value: 0: must be greater than 0'),
    ],
)
def test_options_that_are_refused(query: str, code: int, message: str) -> None:
    with pytest.raises(StatusError) as refused:
        options.log_query(asked(query), "p")
    assert (refused.value.code, refused.value.message) == (code, message)


def test_options_that_are_passed_on() -> None:
    wanted = {"follow": "true", "previous": "true", "tailLines": "3", "sinceTime": "2020-01-01T00:00:00Z"}
    query = "follow&previous=x&timestamps=False&tailLines=3&sinceTime=2020-01-01T00:00:00Z"
    assert options.log_query(asked(query), "p") == wanted


def test_who_names_no_container_is_told_of_all() -> None:
    spec = {
        key: [{"name": name} for name in names]
        for key, names in (("containers", "ab"), ("initContainers", "i"), ("ephemeralContainers", "e"))
    }
    with pytest.raises(StatusError) as refused:
        options.container_of({"metadata": {"name": "p"}, "spec": spec}, "")
    assert refused.value.message == "a container name must be specified for pod p, choose one of: [i a b e]"
