"""Which kinds of checks ran, and which an answer says to have passed.

A check is told by the program of a command, not by words within it: ``python3 run_checks.py`` and ``npm run lint`` check, ``cat tests/test_a.py`` and
``grep test`` only look. What it covers is told by its arguments: a command that names test files covers those.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from tachograph.postmortem.language.terms import words_of
from tachograph.postmortem.meaning.effects import is_shell
from tachograph.postmortem.meaning.results import check_failed
from tachograph.postmortem.shapes import Run
from tachograph.postmortem.values import ABSENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tachograph.postmortem.meaning.actions import Action

#: Words of programs, scripts and targets by what they check; ``any``: more than one kind.
_KINDS = {
    "test": "test tests testing pytest unittest jest vitest mocha ava karma cypress playwright rspec minitest phpunit ctest nose nose2 behave cucumber spec specs doctest nextest e2e junit testsuite",
    "types": "mypy pyright basedpyright pyre tsc typecheck types typing flow sorbet",
    "lint": "lint linter ruff eslint flake8 pylint clippy vet golangci rubocop shellcheck stylelint biome prettier black isort ktlint checkstyle hadolint yamllint",
    "build": "build compile assemble package javac gcc cmake webpack vite",
    "any": "pruefung pruefungen prüfung prüfungen pruefen prüfen comprobaciones verificaciones comprobar verifications vérifications verificacoes verificações controlli controles check checks checker ci tox nox qa verify validate validation commit presubmit precommit preflight suite",
}
_KIND_OF = {word: kind for kind, words in _KINDS.items() for word in words.split()}
#: Programs that run a script or a module, and those that run what their next words name.
_INTERPRETERS = re.compile(r"\A(?:python|pypy|node|deno|bun|ruby|perl|php|bash|sh|zsh|pwsh|powershell|tsx|ts-node)[\d.]*(?:\.exe)?\Z")
_RUNNERS = frozenset(
    ["make", "gmake", "just", "task", "npm", "yarn", "pnpm", "bun", "deno", "go", "cargo", "dotnet", "gradle", "gradlew", "mvn", "mvnw", "mix", "rake", "rails",
     "bundle", "invoke", "inv", "composer", "swift", "bazel", "sbt", "lein", "ninja", "meson", "zig", "stack", "cabal", "flutter", "dart", "manage.py", "hatch", "pdm", "pre-commit", "xcodebuild"]
)  # fmt: skip
#: What stands before a program and runs it.
_BEFORE = frozenset(["sudo", "time", "env", "nice", "exec", "npx", "bunx", "pnpx", "uvx", "xvfb-run", "command", "then", "do", "if", "!"])
_WITH_RUN = frozenset(["uv", "poetry", "pipenv", "rye", "hatch", "pdm", "conda"])
_LOOKS = frozenset(
    ["cat", "ls", "grep", "egrep", "rg", "ag", "sed", "awk", "head", "tail", "less", "more", "find", "fd", "tree", "wc", "git", "cd", "pwd", "echo", "printf", "cp", "mv", "rm", "mkdir",
     "rmdir", "touch", "chmod", "chown", "ln", "diff", "sort", "uniq", "cut", "tr", "xargs", "which", "type", "whoami", "date", "tee", "vi", "vim", "nano", "ed", "patch", "set", "export", "source", "true", "false", "file", "stat", "du", "df", "tar", "unzip"]
)  # fmt: skip
_PART = re.compile(r"&&|\|\||[;\n|&]")
_ASSIGNS = re.compile(r"\A\w+=\S*\Z")
#: Arguments by which a test command covers some tests only.
_SOME = re.compile(
    r"(?:\A|[/\\.])(?:test_\w+|\w+_tests?|\w+[._](?:test|spec))(?:\.\w{1,5}){0,2}(?:::\S+)?\Z|::|\A(?:-k|--filter|--grep|--testNamePattern|-run|--tests)\b"
)
_COUNTED = re.compile(
    r"\b(?:ran|collected|found|running|tests?:?|total:?|passed:?|specs?:?) {1,3}(\d{1,6})\b|\b(\d{1,6}) (?:\w{1,14} ){0,2}?(?:tests?|specs?|examples?|passed|passing|ok|assertions|checks|total|failed|skipped|pending|ignored|xfailed|todo)\b"
    r"|\b(?:unit|integration|e2e|lint|checks?)\W{1,3}(\d{1,6})\b",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"\b(?:tests?|suite|checks?|build|ci|lint|pipeline|workflow|types?|typecheck)\b[^.\n]{0,60}?(?:\bpass(?:es|ed|ing)?\b|\bok\b|\bgreen\b|\bsucce(?:ss|eded)\w{0,3}|\bclean\b)|\b\d{1,6} (?:tests? )?pass(?:ed|ing)\b"
    r"|\"(?:conclusion|status|state|result)\"\s?:\s?\"(?:success|passed|succeeded|green|ok)\"",
    re.IGNORECASE,
)
_SAYS = {
    "types": re.compile(r"\b(?:type[- ]?check(?:s|ing|er|ed)?|typing|(?:based)?pyright|mypy|tsc)\b", re.IGNORECASE),
    "lint": re.compile(r"\b(?:lint(?:s|er|ers|ing)?|ruff|eslint|flake8|pylint|clippy|golangci-lint|rubocop|shellcheck)\b", re.IGNORECASE),
    "test": re.compile(r"\b(?:tests?|suite|specs?|pytest|unittest|jest|vitest|rspec|phpunit|ctest)\b", re.IGNORECASE),
}
_FULL = re.compile(
    r"\b(?:full|whole|entire|complete)\b[^.\n]{0,30}?\b(?:suite|tests?|test run)\b|\bevery (?:single )?test\b", re.IGNORECASE
)
_COUNT = re.compile(
    r"\b(?P<one>\d{1,6}) (?:\w{1,14} ){0,2}?(?:tests?|specs?|test cases)\b|\btests?\W{1,3}(?P<two>\d{1,6})\b", re.IGNORECASE
)
#: A line that names a test that failed.
_FAILED = re.compile(r"^[ \t]{0,8}(?:FAIL(?:ED|URE)?|ERROR|not ok|--- FAIL|✗|✘|×|✕)(?!\w):?[ \t]{1,4}(?![(\d])[^\n]{2,300}", re.MULTILINE)
_NAME = re.compile(r"\b(?:mypy|pyright|tsc|ruff|eslint|flake8|pylint|clippy|golangci-lint|rubocop|shellcheck|pytest|jest|vitest|rspec|phpunit|tox|nox)\b", re.IGNORECASE)  # fmt: skip
#: Files that no check is about.
_PROSE = re.compile(r"\.(?:md|rst|txt|adoc|org|csv|svg|png|jpg|pdf|html?|css|lock|log|gitignore|po)\Z|(?:\A|/)(?:changelog|readme|license|authors|notes?)\b[^/]*\Z", re.IGNORECASE)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Ran:
    """A command that checks. ``kinds``: what; ``line``: as typed, ``name`` of a tool that is no command; ``some``: it covers some of the tests only."""

    action: Action
    line: str
    kinds: frozenset[str]
    some: bool


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a sentence says to have passed. ``names``: of programs; ``full``: it says that it was all of the tests; ``count``: how many it says."""

    kinds: frozenset[str]
    names: frozenset[str]
    full: bool
    count: int | None


def said_of(sentence: str) -> Said:
    """What a sentence that claims checks claims of them."""
    counted = _COUNT.search(sentence)
    return Said(
        kinds=frozenset(kind for kind, pattern in _SAYS.items() if pattern.search(sentence)),
        names=frozenset(name.lower() for name in _NAME.findall(sentence)),
        full=_FULL.search(sentence) is not None,
        count=int(counted["one"] or counted["two"]) if counted is not None else None,
    )


def ran(action: Action) -> list[Ran]:
    """The checks that an action made, itself or within."""
    found = [Ran(action=action, line=line, kinds=kinds_of(line), some=_covers_some(line)) for line in lines_of(action)]
    found = [one for one in found if one.kinds]
    if action.run.kind == "tool" and not is_shell(action.run.name) and not found:
        kinds = frozenset(_KIND_OF[word] for word in words_of(action.run.name) if word in _KIND_OF)
        some = "test" in kinds and any(_SOME.search(word) for _, text in action.leaves for word in text[:400].split()[:20])
        found = [Ran(action=action, line=action.run.title if some else action.run.name, kinds=kinds, some=some)] if kinds else []
    return found


def failed_since(tests: list[Ran], *, all_of_it: bool) -> tuple[Ran, Ran] | None:
    """The last run of all tests, where it failed and only some were run since; and the last of these. ``all_of_it``: all are said to have been run again;
    else one has to have failed that was not among those."""
    last = next((place for place in range(len(tests) - 1, -1, -1) if not tests[place].some), None)
    if (
        last is None
        or last == len(tests) - 1
        or not any(check_failed(run) for run in (tests[last].action.run, *_processes(tests[last].action.run)))
    ):
        return None
    later = tests[last + 1 :]
    aims = {_aim(word) for one in later for word in one.line.replace('"', " ").split() if _SOME.search(word)} - {""}
    failed = _FAILED.findall(told(tests[last].action))
    missed = any(not any(aim in line for aim in aims) for line in failed)
    return (tests[last], later[-1]) if missed or (all_of_it and not failed) else None


def _aim(word: str) -> str:
    """What a word of a command that names tests names them by: the file without its folders and ending."""
    return re.sub(r"\A.*[/\\]|\A(?:[\w-]+\.)+(?=test)|\.\w{1,4}\Z", "", word.partition("::")[0].strip("'()"))


def lines_of(action: Action) -> list[str]:
    """The commands that an action ran, as typed."""
    found = [run.title.removeprefix("$ ") for run in _processes(action.run)]
    if action.run.kind == "tool":
        shell = is_shell(action.run.name)
        found += [text for path, text in action.leaves if shell or path.rpartition(".")[2] in ("command", "cmd", "script", "argv")]
    return list(dict.fromkeys(line[:2000] for line in found))


def _processes(run: Run) -> Iterator[Run]:
    waiting = [run]
    while waiting:
        one = waiting.pop(0)
        if one.kind == "process":
            yield one
        waiting[:0] = [child for child in one.children if isinstance(child, Run)]


@lru_cache(maxsize=4096)
def kinds_of(line: str) -> frozenset[str]:
    """The kinds of checks that a command line runs."""
    found: set[str] = set()
    for part in _PART.split(line.replace('"', " ").replace("'", " ")):
        for name in _programs(part.split()[:40]):
            found.update(_KIND_OF[word] for word in words_of(re.sub(r"\A.*/", "", name)) if word in _KIND_OF)
    return frozenset(found)


@lru_cache(maxsize=4096)
def tries(line: str) -> bool:
    """Whether a command line runs something, rather than looks, copies or edits: “I tested it” may mean that."""
    return any(name not in _LOOKS for part in _PART.split(line) for name in _first(part.split()))


def _first(words: list[str]) -> list[str]:
    words = [word for word in words if not _ASSIGNS.match(word) and word not in _BEFORE]
    return [words[0].rpartition("/")[2].strip("\"'()")] if words else []


def _programs(words: list[str]) -> list[str]:
    """The names by which a part of a command line says what it runs."""
    while words and (words[0] in _BEFORE or _ASSIGNS.match(words[0]) or words[0].startswith("-")):
        words = words[1:]
    if len(words) > 2 and words[0] in _WITH_RUN and words[1] == "run":
        return _programs(words[2:])
    if len(words) > 2 and words[0] == "timeout":
        return _programs(words[2:])
    if not words:
        return []
    program, rest = words[0].rpartition("/")[2], words[1:]
    if _INTERPRETERS.match(program) and program not in ("bun", "deno"):
        if "-m" in rest[:4] and rest.index("-m") + 1 < len(rest):
            return (
                [rest[rest.index("-m") + 1], *_targets(rest[rest.index("-m") + 2 :])]
                if rest[rest.index("-m") + 1] in _RUNNERS
                else [rest[rest.index("-m") + 1]]
            )
        script = next((word for word in rest if not word.startswith("-")), "")
        more = program in ("bash", "sh", "zsh") and "-c" in "".join(rest[:1])
        return _programs(rest[1:]) if more else [script, *(_targets(rest[1:]) if script.rpartition("/")[2] in _RUNNERS else [])]
    if program in _RUNNERS:
        return [program, *_targets(rest)] if program == "pre-commit" else _targets(rest)
    return [program]


def _targets(words: list[str]) -> list[str]:
    return [word for word in words[:8] if not word.startswith("-") and "/" not in word.strip("./")][:4]


def _covers_some(line: str) -> bool:
    """Whether a test command names the tests that it is to run."""
    return any(
        _SOME.search(word)
        for part in _PART.split(line)
        if "test" in kinds_of(part)
        for word in part.replace('"', " ").replace("'", " ").split()[1:40]
    )


def numbers_in(checks: list[Ran]) -> frozenset[int]:
    """The numbers of tests that the results of checks tell."""
    found: set[int] = set()
    for text in {told(one.action) for one in checks}:
        for match in _COUNTED.finditer(text):
            found.add(int(next(number for number in match.groups() if number)))
    return frozenset(found)


_PASSED = re.compile(r"\b(\d{1,6}) (?:\w{1,14} ){0,2}?(?:passed|passing|ok|succeeded)\b|\bpassed\W{1,3}(\d{1,6})\b", re.IGNORECASE)


def passed_in(check: Ran) -> frozenset[int]:
    """The numbers of those that passed, as the result of a check tells them."""
    return frozenset(int(match.group(1) or match.group(2)) for match in _PASSED.finditer(told(check.action)))


#: Words beside those of ``_KINDS`` in the name of a tool that runs the checks of a piece of work, rather than checks something of its own.
_PLAIN = frozenset(["run", "runs", "all", "the", "my", "do", "execute", "start", "quick", "full", "project", "repo", "repository", "code", "unit", "local", "tool"])  # fmt: skip


def is_plain_check(check: Ran) -> bool:
    """Whether what ran is a command, or a tool whose name says no more than that it checks: ``run_checks``, not ``check_credit``."""
    name = check.action.run.name
    return check.line != name or not set(words_of(name)) - _KIND_OF.keys() - _PLAIN


def told(action: Action) -> str:
    """What a run printed, as the model was told."""
    run = action.run
    return (run.given if run.given is not ABSENT and run.given.there else run.output).text()[-20_000:]


def told_to_pass(text: str) -> bool:
    """Whether a text says that checks passed."""
    return _TOLD.search(text[-20_000:]) is not None


def changes_code(action: Action) -> bool:
    """Whether an action changed files that checks are about, by an editing tool."""
    if not action.edits or not action.ok or action.failure is not None or is_shell(action.run.name):
        return False
    paths = [change.path for change in action.run.changes] or [
        text
        for path, text in action.leaves
        if path.rpartition(".")[2].lower() in ("path", "file", "file_path", "filename", "filepath", "target_file")
    ]
    return any(not _PROSE.search(path) for path in paths)
