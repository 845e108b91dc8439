"""An option of the command line is declared once, at the field of the record that holds it.

    class Etcd(Struct, frozen=True):
        prefix: Annotated[str, Flag("Store", "--etcd-prefix", "What keys in etcd begin with.")] = "/registry"

The type, the default and the place of the value are the field's; `setpoint up --foo` is one more such field. The command, its
help, the reader of plain starts (`cli.quick`) and the record all follow from that line. A `str`, `int`, `float` or `Path` takes a
value; a `bool` is `--foo`, with `--no-foo` too unless it is False by default; a tuple is an option that may be repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_args, get_origin

from msgspec import Struct

_Record = TypeVar("_Record", bound=Struct)


class Flag(Struct, frozen=True):
    """How a field is set from the command line: the part of the help it stands in, its name there (without dashes: by its
    position) and its help.

    `read` makes the field's value of the one word given. `least` and `most` bound a number. `environment` names a variable that
    sets it, too.
    """

    panel: str
    name: str
    help: str
    read: Callable[[Any], Any] | None = None
    least: int | None = None
    most: int | None = None
    environment: str = ""

    @property
    def key(self) -> str:
        return self.name.removeprefix("--").replace("-", "_")


class Parameter(Struct, frozen=True):
    """A flag with what its field says: the type of its word (list[str]: of each), its default, whether it must be given."""

    flag: Flag
    kind: Any
    default: Any
    required: bool


def parameters(record: type[Struct]) -> dict[str, Parameter]:
    """The flags of a record and of the records in it, in their order, by their keys."""
    found: dict[str, Parameter] = {}
    defaults = dict(zip(reversed(record.__struct_fields__), reversed(record.__struct_defaults__), strict=False))
    for name, annotation in record.__annotations__.items():
        kind, flag = _field(annotation)
        if flag is not None:
            default = defaults.get(name)
            plain = default if isinstance(default, (str, int, float, tuple)) else None
            found[flag.key] = Parameter(flag, _word(kind, flag), plain, name not in defaults)
        elif _is_record(kind):
            found |= parameters(kind)
    return found


def fill(record: type[_Record], given: Mapping[str, Any]) -> _Record:
    """The record with the given values, by the keys of its flags; what is not given, or None, has the record's default."""
    values = {}
    for name, annotation in record.__annotations__.items():
        kind, flag = _field(annotation)
        if flag is not None:
            value = given.get(flag.key)
            if value is not None:
                values[name] = tuple(value) if isinstance(value, list) else flag.read(value) if flag.read else value
        elif _is_record(kind):
            values[name] = fill(kind, given)
    return record(**values)


def absolute(path: str) -> str:
    """The path of a file from the root on; empty stays empty."""
    return str(Path(path).absolute()) if path else ""


def commas(text: str) -> tuple[str, ...]:
    """The words between commas; none of nothing."""
    return tuple(word for word in text.split(",") if word)


def _field(annotation: Any) -> tuple[Any, Flag | None]:
    """The type of a field without None, and its flag."""
    kind, flag = get_args(annotation)[:2] if get_origin(annotation) is Annotated else (annotation, None)
    choices = get_args(kind)
    if type(None) in choices:
        kind = next(each for each in choices if each is not type(None))
    return kind, flag


def _word(kind: Any, flag: Flag) -> Any:
    """What a word of the command line is read as: several words, or one that `read` takes apart, for a tuple."""
    if get_origin(kind) is tuple:
        return str if flag.read else list[str]
    return kind


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Struct)
