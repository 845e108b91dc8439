"""`make check`'s look at what Setpoint depends on.

Offline it holds that every dependency

- has a lower bound, so that nobody gets a release we have never run on;
- is installed at or above it;
- is imported somewhere in the package (and nothing is imported that is not declared);
- has a licence that may stand beside ours.

Where the advisories of the Python Packaging Authority can be reached, known vulnerabilities of what is installed are looked for
by pip-audit, too; where not, a notice says so and the check goes on.

    python scripts/dependency_audit.py [--offline]
"""

from __future__ import annotations

import ast
import importlib.metadata
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "setpoint"
#: what a distribution is imported as, where that is not its name
IMPORTED_AS = {
    "google-re2": "re2",
    "grpcio": "grpc",
    "prometheus-client": "prometheus_client",
    "pyjwt": "jwt",
    "pynacl": "nacl",
    "pyyaml": "yaml",
}
#: brought by another dependency, whose own it is
BROUGHT = {
    "aiohappyeyeballs": "aiohttp",
    "multidict": "aiohttp",
    "yarl": "aiohttp",
    "click": "typer",
    "google": "aetcd",
}
#: words of licences that ask for nothing but to be named
ALLOWED = re.compile(r"\b(MIT|BSD|Apache|ISC|PSF|Python Software Foundation|Unlicense|0BSD)\b", re.IGNORECASE)
_NAME = re.compile(r"[A-Za-z0-9_.-]+")
_BOUND = re.compile(r">=\s*([0-9][0-9.]*)")
#: seconds for pip-audit, whose questions go over the network
_PATIENCE = 60


def main() -> int:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    runtime = [*project["dependencies"], *(each for name in _EXTRAS for each in project["optional-dependencies"].get(name, ()))]
    imported = _imported(SOURCE)
    testing = {module_of(name_of(each)) for each in project["optional-dependencies"]["dev"]}
    for module, file in list(imported.items()):
        if module in testing and file.startswith("src/setpoint/testing/"):  # what tests use, tests bring
            del imported[module]
    complaints = [*bounds(runtime), *imports(runtime, imported), *licences(runtime)]
    for complaint in complaints:
        print(f"dependency audit: {complaint}")
    if "--offline" not in sys.argv[1:]:
        complaints += vulnerabilities()
    print(f"dependency audit: {len(runtime)} dependencies, {len(complaints)} complaints")
    return 1 if complaints else 0


_EXTRAS = ("etcd", "cri", "git", "kms", "secretbox")  # extras of users; the others are for those who work on it


def bounds(requirements: Iterable[str]) -> Iterator[str]:
    """What has no lower bound, or is installed below it."""
    for requirement in requirements:
        found = _BOUND.search(requirement)
        if found is None:
            yield f"{requirement} has no lower bound"
            continue
        installed = _version(name_of(requirement))
        if installed and _numbers(installed) < _numbers(found[1]):
            yield f"{requirement} is installed as {installed}"


def imports(requirements: Iterable[str], imported: Mapping[str, str]) -> Iterator[str]:
    """What is declared and never imported, and what is imported and never declared."""
    declared = {module_of(name_of(requirement)) for requirement in requirements}
    for module in sorted(declared - set(imported)):
        yield f"{module} is declared and nowhere imported"
    own = set(sys.stdlib_module_names) | {"setpoint"} | set(BROUGHT)
    for module in sorted(set(imported) - declared - own):
        yield f"{module} is imported in {imported[module]} and not declared"


def licences(requirements: Iterable[str]) -> Iterator[str]:
    """What has a licence that is not among those we take, as far as it is installed."""
    for requirement in requirements:
        name = name_of(requirement)
        words = _licence(name)
        if words and ALLOWED.search(words) is None:
            yield f"{name} has the licence {words.splitlines()[0][:80]}"


def vulnerabilities() -> list[str]:
    """What pip-audit says, if it is there and its database answers."""
    program = shutil.which("pip-audit", path=str(Path(sys.executable).parent)) or shutil.which("pip-audit")
    if program is None:
        print("dependency audit: pip-audit is not installed (extra `audit`): known vulnerabilities were not looked for")
        return []
    try:
        done = subprocess.run(
            [program, "--local", "--progress-spinner", "off", "--timeout", "5"],
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        done = None
    if done is None or (done.returncode and "Found" not in done.stderr):
        print("dependency audit: the advisories cannot be reached: known vulnerabilities were not looked for")
        return []
    return done.stdout.splitlines() if done.returncode else []


def name_of(requirement: str) -> str:
    """The distribution of a requirement, in lower case with dashes."""
    found = _NAME.match(requirement)
    return re.sub(r"[-_.]+", "-", found[0]).lower() if found else ""


def module_of(name: str) -> str:
    return IMPORTED_AS.get(name, name.replace("-", "_"))


def _imported(folder: Path) -> dict[str, str]:
    """Top-level modules that the package imports, each with one file that does."""
    found: dict[str, str] = {}
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            for name in names:
                found.setdefault(name.partition(".")[0], str(file.relative_to(ROOT)))
    return found


def _licence(name: str) -> str:
    """All that a distribution says of its licence; empty where it is not installed."""
    try:
        about = importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        return ""
    classifiers = [each for each in about.get_all("Classifier") or () if each.startswith("License")]
    said = [*(about[field] for field in ("License-Expression", "License") if field in about), *classifiers]
    return "\n".join(each for each in said if each) or "unknown"


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


if __name__ == "__main__":
    sys.exit(main())
