from __future__ import annotations

import base64
import json

import pytest
from redact_samples import redactor

from tachograph.redact.finders import manifests

REDACTOR = redactor()


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


FIRST, SECOND = b64("a user"), b64("open sesame 9")


def masked(text: str) -> list[str]:
    return [text[found.start : found.end] for found in sorted(manifests.find(text))]


@pytest.mark.parametrize(
    "text",
    [
        f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  user: {FIRST}\n  extra: {SECOND}\n",
        f"apiVersion: v1\ndata:\n  user: {FIRST}\n  extra: {SECOND}\nkind: Secret\nmetadata:\n  name: x\n",
        f"apiVersion: 'v1'\nkind: 'Secret'\ndata:\n\tuser: '{FIRST}'\n\textra: '{SECOND}'\n",
        f'apiVersion: "v1"\ndata:\n\tuser: "{FIRST}"\n\textra: "{SECOND}"\nkind: "Secret"\n',
        f'"kind": "Secret"\n"data":\n  "user": "{FIRST}"\n  "extra": "{SECOND}"\n',
        f"kind: Secret # of the app\ntype: Opaque\nstringData:\n  # comment\n  user: {FIRST} # mine\n\n  extra: {SECOND}\n",
        f"items:\n- apiVersion: v1\n  data:\n    user: {FIRST}\n    extra: {SECOND}\n  kind: Secret\n- kind: ConfigMap\n  data:\n    a: {b64('plain')}\n",
        f"items:\n  - kind: Secret\n    data:\n      user: {FIRST}\n      extra: {SECOND}\nkind: List\n",
        f"kind: ConfigMap\ndata:\n  a: plain text\n---\nkind: Secret\ndata:\n  user: {FIRST}\n  extra: {SECOND}\n---\nkind: ConfigMap\ndata:\n  a: b c d\n",
        f"$ kubectl get secret x -o yaml\nkind: Secret\r\ndata:\r\n  user: {FIRST}\r\n  extra: {SECOND}\r\n",
        f"type: kubernetes.io/basic-auth\ndata:\n  user: {FIRST}\n  extra: {SECOND}\n",
        f"kind: Secret\ndata:\n  user: |\n    {FIRST}\n  extra: >-\n    {SECOND}\n",
        f"kind: Secret\ndata:\n  user:\n    {FIRST}\n  extra: {SECOND}\n",
    ],
)
def test_every_value_of_a_secret(text: str) -> None:
    assert masked(text) == [FIRST, SECOND]
    out = REDACTOR.text(text)
    assert "user" in out
    assert "extra" in out
    assert REDACTOR.text(out) == out


def test_a_block_of_lines_goes_whole() -> None:
    text = f"kind: Secret\ndata:\n  .dockercfg: |\n    {FIRST}\n    {SECOND}\n\n    {FIRST}\nmetadata:\n  name: x\n"
    assert masked(text) == [f"{FIRST}\n    {SECOND}\n\n    {FIRST}"]
    assert masked(f"kind: Secret\nstringData:\n  a: {FIRST}\n    {SECOND}\n") == [f"{FIRST}\n    {SECOND}"]


@pytest.mark.parametrize(
    "text",
    [
        "kind: ConfigMap\ndata:\n  greeting: hello to you\n",
        "kind: SecretStore\ndata:\n  a: hello to you\n",
        "kind: Secret\nmetadata:\n  name: some-name\n  namespace: default\n",
        "kind: Secret\ndata:\n  password: {{ .Values.password | b64enc }}\n  a: ''\n  b: \"\"\n  c:\n",
        "kind: Secret\nstringData:\n  password: ${DB_PASSWORD}\n  b: <your password>\n",
        "kind: Secret\ndata:\n  a: ENC[AES256_GCM,data:abcd1234,iv:ab,tag:cd,type:str]\n",
        "kind: ExternalSecret\nspec:\n  target:\n    kind: Secret\n  data:\n  - secretKey: some-key\n    remoteRef:\n      key: some/path\n",
        "the kind: Secret is documented\nin data: of the manual\n",
        "kind: Secret\n---\nkind: ConfigMap\ndata:\n  a: hello to you\n",
    ],
)
def test_nothing_secret(text: str) -> None:
    assert masked(text) == []


def test_json() -> None:
    secret = {"apiVersion": "v1", "data": {"user": FIRST, "extra": SECOND, "none": ""}, "kind": "Secret", "metadata": {"name": "x"}}
    plain = {"apiVersion": "v1", "data": {"greeting": "hello to you"}, "kind": "ConfigMap"}
    out = REDACTOR.document({"items": [plain, secret], "kind": "List"})
    assert out["items"][0] is plain
    assert [value.partition(":")[0] for value in out["items"][1]["data"].values()] == ["[REDACTED", "[REDACTED", ""]
    text = json.dumps({"items": [secret, plain]}, indent=2)
    assert json.loads(REDACTOR.text(text))["items"][1] == plain
    assert FIRST not in REDACTOR.text(text)
    assert SECOND not in REDACTOR.text(text)
    ordered = {"kind": "Secret", "metadata": {"name": "x", "labels": {"a": "b"}}, "data": {"extra": SECOND}}
    for each in (secret, ordered):
        for written in (json.dumps(each), json.dumps(json.dumps(each))):
            assert SECOND in masked("# kubectl apply\n" + written)
    assert masked("x " + json.dumps(plain)) == []
    assert masked("x " + json.dumps([secret, plain])) == [FIRST, SECOND]


def test_long_texts_of_kinds_are_read_once() -> None:
    """Reading the surroundings of each kind anew would take minutes here."""
    last = "---\nkind: Secret\ndata:\n  a: hijklmn\n"
    assert masked("kind: Secret\n" * 20_000 + last) == ["hijklmn"]
    assert masked(" kind: Secret\n  kind: Secret\n" * 10_000 + last) == ["hijklmn"]
    assert len(masked('"data":{"a":"bcde"},"kind":"Secret",' * 10_000)) == 10_000
