"""The rules that hold the picture in CONTRIBUTING.md together: layers, purity, the client's diet, sizes, and what no file may say."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src/tachograph"

#: Packages that take clock, entropy and the outside world from above. ``replay``: its modules, not those of its guard.
PURE = ("core", "format", "crypto", "redact", "providers", "replay")
FORBIDDEN_MODULES = frozenset(
    {"asyncio", "http", "io", "logging", "multiprocessing", "os", "pathlib", "random", "requests", "secrets", "select", "selectors", "shutil",
     "signal", "socket", "ssl", "subprocess", "sys", "tempfile", "threading", "time", "urllib.request"}
)  # fmt: skip
#: Also in ``log``, which writes files but through a store: (object, attribute) that read the clock or entropy.
FORBIDDEN_CALLS = frozenset(
    {("datetime", "now"), ("datetime", "utcnow"), ("datetime", "today"), ("date", "today"), ("uuid", "uuid1"), ("uuid", "uuid4"),
     ("os", "urandom"), ("os", "getrandom"), ("time", "time"), ("time", "time_ns"), ("time", "monotonic"), ("time", "sleep"),
     ("AESGCM", "generate_key"), ("Ed25519PrivateKey", "generate")}
)  # fmt: skip
FORBIDDEN_BUILTINS = frozenset({"open", "print", "input", "exec", "eval", "breakpoint"})

MOST_LINES = 600
MANY_LINES = 500


def sources(*packages: str) -> list[Path]:
    found = [path for package in packages for path in sorted((SOURCE / package).rglob("*.py"))]
    return [path for path in found if "guard" not in path.relative_to(SOURCE).parts[:-1]]


def name(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported(module: ast.Module) -> Iterator[tuple[str, int]]:
    """Absolute imports: (module, line)."""
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module, node.lineno
            yield from ((f"{node.module}.{alias.name}", node.lineno) for alias in node.names)


def within(module: str, forbidden: frozenset[str]) -> bool:
    parts = module.split(".")
    return any(".".join(parts[:count]) in forbidden for count in range(1, len(parts) + 1))


def impure_calls(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute):
            owner = node.value.attr if isinstance(node.value, ast.Attribute) else node.value.id if isinstance(node.value, ast.Name) else ""
            if (owner, node.attr) in FORBIDDEN_CALLS:
                yield f"{owner}.{node.attr} in line {node.lineno}"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_BUILTINS:
            yield f"{node.func.id}() in line {node.lineno}"


def test_imports_point_down() -> None:
    command = shutil.which("lint-imports", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    assert command is not None, "import-linter is not installed; uv sync installs it"
    done = subprocess.run(
        [command, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"}
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", sources(*PURE), ids=name)
def test_what_is_pure_reads_no_clock_no_entropy_and_does_no_io(path: Path) -> None:
    module = tree(path)
    assert [f"{found} in line {line}" for found, line in imported(module) if within(found, FORBIDDEN_MODULES)] == []
    assert list(impure_calls(module)) == []


@pytest.mark.parametrize("path", sources("log", "stores", "exchange", "signals", "postmortem"), ids=name)
def test_clock_and_entropy_are_handed_in(path: Path) -> None:
    module = tree(path)
    clocks = frozenset({"random", "secrets", "time", "socket"})
    assert [f"{found} in line {line}" for found, line in imported(module) if within(found, clocks)] == []
    assert [found for found in impure_calls(module) if "()" not in found] == []


def test_the_checks_above_would_notice() -> None:
    bad = ast.parse(
        "import socket\nfrom os import urandom\nimport urllib.request\nfrom datetime import datetime\nimport datetime as d\n"
        "datetime.now()\nd.datetime.now()\nuuid.uuid4()\nopen('x')\n"
    )
    assert {found for found, _ in imported(bad) if within(found, FORBIDDEN_MODULES)} == {
        "socket", "os", "os.urandom", "urllib.request",
    }  # fmt: skip
    assert len(list(impure_calls(bad))) == 4
    assert not within("urllib.parse", FORBIDDEN_MODULES)


# -- the client, which rides in an agent --------------------------------------------------------------------------------------

CLIENT = sorted((SOURCE / "client").rglob("*.py"))
#: Newer than Python 3.9.
TOO_NEW = frozenset({"tomllib"})


@pytest.mark.parametrize("path", CLIENT, ids=name)
def test_the_client_is_standard_library_alone(path: Path) -> None:
    """The agent's environment is not ours. The taps name other people's modules as strings, and touch them only where they are loaded."""
    for module, line in imported(tree(path)):
        top = module.split(".")[0]
        ours = module == "tachograph" or module.startswith("tachograph.client")
        assert ours or (top in sys.stdlib_module_names and top not in TOO_NEW), f"{module} in line {line}"


@pytest.mark.parametrize("path", CLIENT, ids=name)
def test_the_client_is_python_39(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    module = ast.parse(text, str(path), feature_version=(3, 9))
    annotated = any(isinstance(node, ast.AnnAssign) or (isinstance(node, ast.arg) and node.annotation) for node in ast.walk(module))
    assert not annotated or "from __future__ import annotations" in text, "annotations would be evaluated, in the agent"


def test_the_client_loads_on_an_old_python() -> None:
    old = shutil.which("python3.9")
    if old is None or subprocess.run([old, "-c", ""], capture_output=True, check=False).returncode != 0:
        pytest.skip("no python3.9 here")
    modules = [
        "tachograph." + name(path).removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        for path in CLIENT
        if path.name != "sitecustomize.py"
    ]
    code = "import importlib, sys\nsys.path.insert(0, sys.argv[1])\nfor name in sys.argv[2:]: importlib.import_module(name)"
    done = subprocess.run([old, "-I", "-c", code, str(SOURCE.parent), *modules], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# -- files --------------------------------------------------------------------------------------------------------------------

TEXTS = sorted(
    path
    for folder in ("src", "docs", "tests", "examples", "bench", "changelog.d")
    for path in (ROOT / folder).rglob("*")
    if path.is_file() and path.suffix in (".py", ".md", ".toml", ".json", ".jsonl", ".jinja", ".txt", ".html", ".sh", ".yml")
) + sorted(path for path in ROOT.glob("*") if path.is_file() and path.suffix in (".md", ".toml", "") and not path.name.startswith("."))


def test_files_have_one_idea_and_few_lines() -> None:
    lengths = {name(path): path.read_text(encoding="utf-8").count("\n") for path in SOURCE.rglob("*.py")}
    assert {path: count for path, count in lengths.items() if count > MOST_LINES} == {}, "which two ideas does it hold?"
    for path, count in sorted(lengths.items()):
        if count > MANY_LINES:
            warnings.warn(f"{path} has {count} lines; most files have fewer than {MANY_LINES}", stacklevel=1)


def test_tests_mirror_the_packages() -> None:
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert packages <= {path.name for path in (ROOT / "tests").iterdir()}


def test_test_files_have_names_of_their_own() -> None:
    """There are no packages in tests/: two files of one name would be one module."""
    names = [path.name for path in (ROOT / "tests").rglob("test_*.py")]
    assert sorted(set(names)) == sorted(names)


def test_every_module_says_what_it_is() -> None:
    silent = [name(path) for path in SOURCE.rglob("*.py") if path.stat().st_size and not ast.get_docstring(tree(path))]
    assert silent == []


def test_no_file_names_the_machine_it_was_written_on() -> None:
    places = [str(ROOT)]
    if not sys.base_prefix.startswith("/usr"):
        places.append(sys.base_prefix)
    found = [
        f"{path.relative_to(ROOT)}: {place}"
        for path in TEXTS
        if "__pycache__" not in path.parts
        for place in places
        if place in path.read_text(encoding="utf-8", errors="replace")
    ]
    assert found == []
