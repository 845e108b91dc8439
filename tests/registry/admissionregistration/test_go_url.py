from __future__ import annotations

import pytest

from setpoint.registry.admissionregistration import go_url
from setpoint.registry.admissionregistration.go_url import GoURL


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("https://h/x", GoURL("https", None, "h")),
        ("http://u:p@h:80/x?y#z", GoURL("http", "u:p", "h:80", "y", "z")),
        ("https://[::1]:8443", GoURL("https", None, "[::1]:8443")),
        ("https://@h", GoURL("https", "", "h")),
        ("h:80", GoURL("h")),
        ("https:///x", GoURL("https")),
        ("", GoURL()),
    ],
)
def test_parts(url: str, parts: GoURL) -> None:
    assert go_url.parse(url) == parts


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("ht!tp://x", "first path segment in URL cannot contain colon"),
        ("://x", "missing protocol scheme"),
        ("https://h:bad/", 'invalid port ":bad" after host'),
        ("https://[::1", "missing ']' in host"),
        ("https://h/%zz", 'invalid URL escape "%zz"'),
        ("https://a b/", 'invalid character " " in host name'),
    ],
)
def test_what_is_no_url(url: str, why: str) -> None:
    with pytest.raises(go_url.Malformed) as told:
        go_url.parse(url)
    assert str(told.value) == f'parse "{url}": {why}'
