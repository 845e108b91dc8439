"""Build hook: makes the schema packs that the wheel holds (design, decision 1).

The published definitions of Kubernetes 1.25 to 1.37 come from the build dependency `kubernetes-validate`; what Go's types
decide comes from our own `presence.txt`. One pack per minor holds kinds, fields, list kinds and patch tags;
`descriptions.pack` holds the texts of all minors, read only when somebody asks for them. `python hatch_build.py` makes the
packs by hand.

A pack is zlib over JSON: `{"minor": "1.36", "definitions": {name: definition}}`. A definition is
`{"f": {field: row}, "gvk": [[group, version, kind], …], "map": map type, "as": type}`, all optional (`as`: the definition is
no struct but another name for a type). A row is `[type, flags, more]`; `more` holds list type (`lt`) and keys (`lk`), patch
strategy (`ps`) and merge key (`mk`), map type (`mt`) and Go type (`go`). Types are one character, as in `_SCALARS` and
`_MARSHALLED` below, or `[type`, `{type`, `@definition`. Flags are those of presence.txt, made absolute: `r` required,
`a` always written, `*` pointer, `0` omitzero.
"""

from __future__ import annotations

import compileall
import json
import lzma
import os
import re
import zlib
from pathlib import Path
from typing import Any

from hatchling.builders.config import BuilderConfig
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
SCHEMA = Path("src/setpoint/api/machinery/schema")
MINORS = range(25, 38)
#: the minor that presence.txt was written of
_WRITTEN_OF = 36
#: struct fields that hold a value in every kind
_BY_VALUE = ("metadata", "spec", "status")

#: what the type characters of a pack stand for
_SCALARS = {
    ("string", None): "s",
    ("string", "byte"): "y",
    ("string", "date-time"): "t",
    ("integer", "int32"): "i",
    ("integer", "int64"): "l",
    ("integer", None): "l",
    ("boolean", None): "b",
    ("number", "double"): "d",
    ("number", None): "d",
}
#: structs whose JSON form Go code decides: free JSON (`a`), and schemas that may be a boolean, a list or names
_MARSHALLED = {
    "JSONSchemaPropsOrBool": "B",
    "JSONSchemaPropsOrArray": "A",
    "JSONSchemaPropsOrStringArray": "S",
    "JSON": "a",
    "FieldsV1": "a",
    "RawExtension": "a",
    "MicroTime": "T",
    "Patch": "a",
}
_FLAGGED = re.compile(r"(?P<field>[^*+0:\-]+(?:-[a-z][^*+0:\-]*)*)(?P<flags>[*+\-0]*)(?::(?P<go>.+))?")


def read_presence(path: Path) -> dict[str, dict[str, tuple[str, str]]]:
    """presence.txt as `{definition: {field: (flags, Go type)}}`."""
    facts: dict[str, dict[str, tuple[str, str]]] = {}
    package = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("["):
            package = line[1:-1]
            continue
        name, *fields = line.split()
        matches = [_FLAGGED.fullmatch(field) for field in fields]
        facts[f"{package}.{name}"] = {m["field"]: (m["flags"], m["go"] or "") for m in matches if m}
    return facts


def _json_type(schema: dict[str, Any]) -> str | None:
    kind = schema.get("type")
    first: str | None = kind[0] if isinstance(kind, list) else kind
    return first


def type_of(schema: dict[str, Any]) -> str:
    """The type characters of a schema. int-or-string and quantities are recognised by the shape of their `oneOf`."""
    if "$ref" in schema:
        return "@" + str(schema["$ref"]).rsplit("/", 1)[1]
    if "oneOf" in schema:
        return "I" if {_json_type(choice) for choice in schema["oneOf"]} == {"string", "integer"} else "q"
    kind = _json_type(schema)
    if kind == "array":
        return "[" + type_of(schema["items"])
    if kind == "object" and "additionalProperties" in schema:
        return "{" + type_of(schema["additionalProperties"])
    if kind is None or kind == "object":
        return "a"
    return _SCALARS[kind, schema.get("format")]


def _more(schema: dict[str, Any], go: str) -> dict[str, Any]:
    found = {
        "lt": schema.get("x-kubernetes-list-type"),
        "lk": schema.get("x-kubernetes-list-map-keys"),
        "ps": schema.get("x-kubernetes-patch-strategy"),
        "mk": schema.get("x-kubernetes-patch-merge-key"),
        "mt": schema.get("x-kubernetes-map-type"),
        "go": go,
    }
    return {key: value for key, value in found.items() if value}


def _row(schema: dict[str, Any], required: bool, flags: str, go: str) -> list[Any]:
    always = "+" in flags or (required and "-" not in flags)
    text = ("r" if required else "") + ("a" if always else "") + ("*" if "*" in flags else "") + ("0" if "0" in flags else "")
    more = _more(schema, go)
    return [type_of(schema), text, more] if more else [type_of(schema), text] if text else [type_of(schema)]


def pack_definition(name: str, schema: dict[str, Any], presence: dict[str, tuple[str, str]]) -> dict[str, Any]:
    short = name.rsplit(".", 1)[1]
    out: dict[str, Any] = {}
    if short in _MARSHALLED:
        out["as"] = _MARSHALLED[short]
    elif "oneOf" in schema or (_json_type(schema) not in {"object", None}):
        out["as"] = type_of(schema)
    else:
        required = set(schema.get("required", ()))
        properties = schema.get("properties", {})
        out["f"] = {field: _row(sub, field in required, *presence.get(field, ("", ""))) for field, sub in properties.items()}
    if kinds := schema.get("x-kubernetes-group-version-kind"):
        out["gvk"] = [[kind["group"], kind["version"], kind["kind"]] for kind in kinds]
    if map_type := schema.get("x-kubernetes-map-type"):
        out["map"] = map_type
    return out


class Presence:
    """What presence.txt says of any minor's definitions, though it was written of one.

    An older version of a package is as the newest one that the file knows, unless it is there itself. Of a field that the
    minor of the file does not have nothing is known; if it is optional and holds a struct it is taken for a pointer, since that
    is what a new field is.
    """

    def __init__(self, facts: dict[str, dict[str, tuple[str, str]]], known: dict[str, dict[str, Any]]) -> None:
        self._facts = facts
        self._known = known

    def of(self, name: str, schema: dict[str, Any]) -> dict[str, tuple[str, str]]:
        """`{field: (flags, Go type)}` of a definition."""
        name = self._kin(name)
        facts = dict(self._facts.get(name, {}))
        known = self._known.get(name, {}).get("properties", {})
        required = schema.get("required", ())
        for field, sub in schema.get("properties", {}).items():
            if field not in known and field not in required and field not in _BY_VALUE and "$ref" in sub:
                facts.setdefault(field, ("*", ""))
        return facts

    def _kin(self, name: str) -> str:
        """The definition that the file knows in the place of this one."""
        package, version, short = name.rsplit(".", 2)
        if name in self._known or not re.search(r"\d+(alpha|beta)\d+$", version):
            return name
        stable = re.sub(r"(alpha|beta)\d+$", "", version)
        return f"{package}.{stable}.{short}"


def definitions_of(minor: int) -> dict[str, dict[str, Any]]:
    """The published definitions of 1.`minor`, from the build dependency."""
    import kubernetes_validate

    folder = Path(kubernetes_validate.__file__).parent / "kubernetes-json-schema" / f"v1.{minor}.0-local"
    text = json.loads((folder / "_definitions.json").read_text(encoding="utf-8"))
    definitions: dict[str, dict[str, Any]] = text["$defs"] if "$defs" in text else text["definitions"]
    return definitions


def make_packs(root: Path) -> list[Path]:
    """Writes every pack under `root` and returns them; does nothing when they are newer than what they are made from."""
    schema = root / SCHEMA
    folder = schema / "packs"
    sources = [schema / "presence.txt", root / "hatch_build.py"]
    wanted = [folder / f"1.{minor}.pack" for minor in MINORS] + [folder / "descriptions.pack"]
    newest = max(source.stat().st_mtime for source in sources if source.exists())
    if all(pack.exists() and pack.stat().st_mtime >= newest for pack in wanted):
        return wanted
    folder.mkdir(exist_ok=True)
    presence = Presence(read_presence(schema / "presence.txt"), definitions_of(_WRITTEN_OF))
    texts: dict[str, int] = {}
    described: dict[str, dict[str, list[Any]]] = {}
    for minor in MINORS:
        definitions = definitions_of(minor)
        packed = {name: pack_definition(name, body, presence.of(name, body)) for name, body in definitions.items()}
        whole = json.dumps({"minor": f"1.{minor}", "definitions": packed}, separators=(",", ":"), sort_keys=True)
        _replace(folder / f"1.{minor}.pack", zlib.compress(whole.encode(), 9))
        described[f"1.{minor}"] = {name: _described(body, texts) for name, body in definitions.items()}
    whole = json.dumps({"texts": list(texts), "minors": described}, separators=(",", ":"))
    _replace(folder / "descriptions.pack", lzma.compress(whole.encode(), preset=6))
    return wanted


def _replace(path: Path, data: bytes) -> None:
    """Writes a pack at once, since others may be reading the old one."""
    new = path.with_suffix(f".{os.getpid()}")
    new.write_bytes(data)
    new.replace(path)


def _described(schema: dict[str, Any], texts: dict[str, int]) -> list[Any]:
    """`[own text, {field: text}]`, each text by its number in `texts`, which grows."""
    own = texts.setdefault(schema.get("description", ""), len(texts))
    fields = {
        name: texts.setdefault(field["description"], len(texts))
        for name, field in schema.get("properties", {}).items()
        if field.get("description")
    }
    return [own, fields]


def compile_sources(root: Path) -> None:
    """Writes the byte code beside the sources, as installing a wheel does: without it every start compiles 400 modules anew."""
    compileall.compile_dir(root / "src", quiet=1)


class CustomBuildHook(BuildHookInterface[BuilderConfig]):
    """What hatchling runs before it builds a wheel, an sdist or an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        make_packs(Path(self.root))
        if version == "editable":
            compile_sources(Path(self.root))


if __name__ == "__main__":
    for made in make_packs(ROOT):
        print(made, made.stat().st_size)  # noqa: T201 - run by hand, it says what it made
