from __future__ import annotations

from collections.abc import Sequence

import pytest

from setpoint.node.runtime import Image, ImageError
from setpoint.node.runtimes.process.aliases import repository
from setpoint.node.runtimes.process.runtime import ProcessRuntime


@pytest.mark.parametrize(
    ("image", "name"),
    [
        ("nginx", "nginx"),
        ("nginx:1.27", "nginx"),
        ("docker.io/library/nginx:1.27@sha256:00", "nginx"),
        ("localhost:5000/team/app", "app"),
        ("registry.k8s.io/pause:3.10", "pause"),
    ],
)
def test_the_last_word_of_the_repository(image: str, name: str) -> None:
    assert repository(image) == name


@pytest.mark.parametrize(
    ("command", "args", "argv"),
    [((), (), "e a"), ((), ("x",), "e x"), (("c",), (), "c"), (("c",), ("x",), "c x")],
)
def test_a_containers_command_and_args_replace_the_images(command: Sequence[str], args: Sequence[str], argv: str) -> None:
    assert " ".join(Image("i", ("e",), ("a",)).argv(command, args)) == argv


def test_an_alias_runs_what_its_image_would() -> None:
    runtime = ProcessRuntime(host_address="127.0.0.1")
    shell = runtime.resolve_image("docker.io/library/busybox:1.36", (), ())
    assert shell.argv((), ()) == ("sh",)
    assert shell.id.endswith("/sh")
    assert runtime.resolve_image("busybox", (), ("sleep", "5")).argv((), ("sleep", "5")) == ("sleep", "5")
    assert runtime.resolve_image("registry.k8s.io/pause:3.10", (), ()).argv((), ()) == ("sleep", "infinity")


def test_what_is_not_there_is_said_with_what_to_do() -> None:
    runtime = ProcessRuntime(host_address="127.0.0.1")
    with pytest.raises(ImageError, match="give the container a command"):
        runtime.resolve_image("example.org/app:1", (), ("--flag",))
    with pytest.raises(ImageError, match="stands for no-such-program, which is not on this host"):
        runtime.resolve_image("alpine", (), ("no-such-program",))
