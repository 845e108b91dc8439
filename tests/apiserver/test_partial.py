"""Metadata cut out of an object's JSON is what decoding it and writing it again would give."""

from __future__ import annotations

import orjson
import pytest

from setpoint.apiserver import partial

METADATA = {"name": "m", "labels": {"a": 'b"}'}, "managedFields": [{"fieldsV1": {'k:{"type":"Ready"}': {}}}], "uid": "\u00fc"}


@pytest.mark.parametrize("beside", [{"spec": {"metadata": {"name": "other"}}}, {"data": {"metadata": "x"}}, {}])
def test_metadata_is_cut_out(beside: dict[str, object]) -> None:
    value = orjson.dumps({"kind": "Thing", "apiVersion": "v1", "metadata": METADATA, **beside})
    assert partial.of_json(value, "v1") == orjson.dumps(partial.one(METADATA, "v1"))
