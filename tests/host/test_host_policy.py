"""``tachograph.toml``: where it is found, what it does to a recording, that a replay does without it, and what is refused."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from cli_helpers import Tacho
from redact.redact_samples import AWS, PASSWORD
from tachograph.core.errors import UsageError
from tachograph.host import policy
from tachograph.host.policy import Chosen
from tachograph.redact.policy import Policy, digest

PLAIN = "blue-green-canary-7"
RULE = """
[[redact.rules.add]]
id = "acme-key"
pattern = 'acme_[a-z0-9]{24}'
positive = ["acme_%s"]
"""


def put(folder: Path, text: str) -> Path:
    path = folder / policy.NAME
    path.write_text(text)
    return path


def test_the_nearest_file_up_to_the_top_of_the_repository(tmp_path: Path) -> None:
    inside = tmp_path / "repo" / "a" / "b"
    inside.mkdir(parents=True)
    outer = put(tmp_path, "[redact]\n")
    assert policy.find(str(inside)) is None
    assert policy.find(str(tmp_path)) == str(outer)
    (tmp_path / "repo" / ".git").mkdir()
    assert policy.find(str(inside)) is None
    top = put(tmp_path / "repo", "[redact]\n")
    assert policy.find(str(inside)) == str(top)
    near = put(tmp_path / "repo" / "a", "[redact]\n")
    assert policy.find(str(inside)) == str(near)


def test_what_is_named_comes_first(tmp_path: Path) -> None:
    put(tmp_path, '[redact]\nsecret_names = ["nonce"]\n')
    other = tmp_path / "other.toml"
    other.write_text('[redact]\nsecret_names = ["seed"]\n')
    assert policy.choose(None, str(tmp_path)).policy.secret_names == {"nonce"}
    assert policy.choose(str(other), str(tmp_path)).policy.secret_names == {"seed"}
    assert policy.choose(None, str(tmp_path / "none")) == Chosen()


def test_files_of_secret_values_lie_beside_it(tmp_path: Path) -> None:
    chosen = policy.read(str(put(tmp_path, '[redact]\nsecret_from = ["values", "~/more"]\n')))
    assert chosen.secret_from == (str(tmp_path / "values"), os.path.expanduser("~/more"))
    assert chosen.policy == Policy.default()


def test_the_environment_under_a_policy() -> None:
    chosen = Chosen(policy=Policy.of({"secret_names": ["colour"], "plain_names": ["db_password"], "allow": [digest(AWS)]}))
    assert chosen.known({"COLOUR": PLAIN, "DB_PASSWORD": PASSWORD, "AWS_ACCESS_KEY_ID": AWS}) == {PLAIN: "env"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[redact", "no TOML"),
        ("[redacted]\n", "no key 'redacted'; did you mean 'redact'?"),
        ("redact = 1\n", "redact is a table"),
        ('[redact]\nsecret_name = ["a"]\n', "redact: there is no key 'secret_name'; did you mean 'secret_names'?"),
        ('[redact]\nrules.remove = ["jwtt"]\n', "there is no rule 'jwtt'; did you mean 'jwt'?"),
        ("[redact]\nsecret_from = 3\n", "secret_from is a list of texts"),
        (RULE.replace("%s", "short"), "rules.add acme-key: positive example 1 is not found"),
    ],
)
def test_a_mistake_is_named_with_its_file(tmp_path: Path, text: str, says: str) -> None:
    path = put(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        policy.read(str(path))
    assert says in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


AGENT = """
import subprocess, sys, tachograph

@tachograph.tool(effect="read")
def look(text):
    return open("data.txt").read()

tachograph.note("seen", said=look(open("data.txt").read()))
print(subprocess.run(["cat", "data.txt"], capture_output=True, text=True).stdout)
"""


def test_a_recording_and_its_replay_under_a_policy(tmp_path: Path) -> None:
    acme = "acme" + "_" + "k3v9q2xz7m1c8b4w6h5t0ydn"
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (tmp_path / "values").write_text(PLAIN + "\n")
    (workspace / "agent.py").write_text(AGENT)
    (workspace / "data.txt").write_text(f"{acme} and {PLAIN} and {AWS}, mail ann@example.com; password: {PASSWORD}\n")
    toml = tmp_path / policy.NAME
    toml.write_text(f'[redact]\nsecret_from = ["values"]\npii = ["email"]\nallow = ["{digest(AWS)}"]\n' + RULE.replace("%s", acme[5:]))
    tacho = Tacho(tmp_path)
    recorded = tacho("record", "--policy", str(toml), "--", sys.executable, "agent.py", cwd=workspace)
    assert recorded.returncode == 0, recorded.stderr
    said = tacho("cat", "@last").stdout
    for hidden in (acme, PLAIN, "ann@example.com", PASSWORD):
        assert hidden not in said.replace(json.dumps(AGENT), "")
    for kind in ("acme-key", "user", "email"):
        assert f"[REDACTED:{kind}:" in said
    assert AWS in said
    toml.unlink()
    (tmp_path / "values").unlink()
    replayed = tacho("replay", "@last", "--json", cwd=tmp_path)
    assert replayed.json()["verdict"] == "identical", replayed.stdout
    assert replayed.json()["notes"] == []
    start = next(event for event in tacho("cat", "@last").lines() if event["type"] == "session_start")
    assert start["policy"] == policy.recorded(start["facts"]).fingerprint
    assert start["policy"] != Policy.default().fingerprint


def test_nothing_is_recorded_under_half_a_policy(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    put(workspace, '[redact]\nrules.remove = ["no-such-rule"]\n')
    tacho = Tacho(tmp_path)
    for verb in (["record", "--", sys.executable, "-c", "open('ran', 'w')"], ["redact"]):
        done = tacho(*verb, cwd=workspace, stdin=b"a\n")
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""
    assert not (workspace / "ran").exists()
    assert not tacho.store.exists()
    done = tacho("redact", cwd=workspace, stdin=b"a\n", env={**os.environ, "TACHO_POLICY": str(tmp_path / "none.toml")})
    assert done.returncode == 2
    assert "none.toml" in done.stderr
