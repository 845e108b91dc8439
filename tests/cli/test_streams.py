from __future__ import annotations

import os
import subprocess
import sys

import pytest

from setpoint.app.options import StartError
from setpoint.cli.streams import _pod

SCRIPT = """
import asyncio
from setpoint.cli.streams import _read_input

async def main():
    print(await _read_input())
    try:
        async with asyncio.timeout(0.1):
            await _read_input()
    except TimeoutError:
        print("over")

asyncio.run(main())
"""


def test_nobody_waits_for_input_that_never_comes() -> None:
    reader, writer = os.pipe()
    os.write(writer, b"first")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], stdin=reader, capture_output=True, timeout=20, env=environment, check=True
        )
    finally:
        os.close(reader)
        os.close(writer)
    assert done.stdout == b"b'first'\nover\n"


@pytest.mark.parametrize("word", ["web", "pod/web", "pods/web"])
def test_a_pod_may_be_named_with_its_kind(word: str) -> None:
    assert _pod(word) == "web"


def test_other_kinds_have_no_log() -> None:
    with pytest.raises(StartError, match="deployment/web: name a pod"):
        _pod("deployment/web")
