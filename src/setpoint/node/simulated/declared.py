"""`--stages FILE`: a file of SimulatedPods rules, or of KWOK's Stage objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from setpoint.kit.clock import Clock
from setpoint.node.simulated import kwok, rules
from setpoint.node.simulated.chance import Chance
from setpoint.node.simulated.durations import StageError
from setpoint.node.simulated.lifecycle import BuiltIn, Lifecycle


def load(file: Path, chance: Chance, clock: Clock) -> Lifecycle:
    """Read a file; StageError, with the file's name, for what cannot be used."""
    import yaml

    try:
        documents = [each for each in yaml.safe_load_all(file.read_text(encoding="utf-8")) if each]
        return lifecycle(documents, chance, clock)
    except (OSError, yaml.YAMLError, StageError) as error:
        raise StageError(f"{file}: {error}") from error


def lifecycle(documents: Iterable[Any], chance: Chance, clock: Clock) -> Lifecycle:
    """The life of pods as documents declare it."""
    found: list[rules.Rule] = []
    stages: list[kwok.Stage] = []
    scope = kwok.Scope()
    for document in _unfolded(documents):
        if document.get("apiVersion") == kwok.API_VERSION and document.get("kind") == "Stage":
            stages.append(kwok.read(document, scope))
        elif document.get("kind") == rules.KIND:
            found += rules.read(document)
        else:
            raise StageError(f"{document.get('apiVersion')} {document.get('kind')}: neither {rules.KIND} nor a Stage of KWOK")
    if stages and found:
        raise StageError(f"a file holds either {rules.KIND} or Stages, not both")
    if not stages and not found:
        raise StageError("nothing is declared")
    return kwok.Stages(stages, chance, clock, scope) if stages else BuiltIn(rules.Rules(found, chance))


def _unfolded(documents: Iterable[Any]) -> Iterable[Mapping[str, Any]]:
    for document in documents:
        if not isinstance(document, Mapping):
            raise StageError(f"{document!r} is no object")
        if document.get("kind") == "List":
            yield from _unfolded(document.get("items") or ())
        else:
            yield document
