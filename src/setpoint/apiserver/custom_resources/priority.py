"""The order of versions: which one clients prefer.

Source: apimachinery `pkg/version/helpers.go`, CompareKubeAwareVersionStrings.
"""

from __future__ import annotations

import re

_VERSION = re.compile(r"^v(\d+)(?:(alpha|beta)(\d+))?$")


def priority(version: str) -> tuple[int, int, int, str]:
    """A sort key: v2, v1, v2beta1, v1beta2, v1alpha1, and then other names by their letters."""
    match = _VERSION.match(version)
    if match is None:
        return (3, 0, 0, version)
    major, word, minor = match.groups()
    return ({None: 0, "beta": 1, "alpha": 2}[word], -int(major), -int(minor or 0), "")
