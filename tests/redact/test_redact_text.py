from __future__ import annotations

import base64
import json
import time
from collections import Counter
from urllib.parse import quote

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from redact_samples import AWS, AWS_SECRET, GITHUB, HEX_KEY, JWT, KEY, PASSWORD, PEM, SHAPED, SLACK, redactor, trace

from tachograph.redact.engine import Redactor, Span
from tachograph.redact.placeholder import PLACEHOLDER, neutral, placeholder, split_url
from tachograph.redact.policy import Policy
from tachograph.redact.rules.examples import hexa, lower, mixed, uuid

REDACTOR = redactor()

MASKED = [
    # assignments
    (f"export DB_PASSWORD={PASSWORD}", PASSWORD),
    (f"DB_PASSWORD='{PASSWORD}' ./run", PASSWORD),
    (f"  password: {PASSWORD}\n  host: db", PASSWORD),
    (f"password = {PASSWORD}\n", PASSWORD),
    (f'client_secret := "{mixed(32)}"', mixed(32)),
    (f"apiKey: '{HEX_KEY}',", HEX_KEY),
    (f"STRIPE_KEY={mixed(30)}", mixed(30)),
    (f'password: str = "{PASSWORD}"', PASSWORD),
    (f'if token == "{mixed(30)}":', mixed(30)),
    (f':password       => "{PASSWORD}",', PASSWORD),
    ("SECRET_KEY=i@3z" + "3w0(km2!k4#@piy#yue!k0j88sr1r#j@jfh6*fwb", "i@3z" + "3w0(km2!k4#@piy#yue!k0j88sr1r#j@jfh6*fwb"),
    (f"PGPASSWORD={PASSWORD} psql -h db", PASSWORD),
    (f"API key (prod): {HEX_KEY}", HEX_KEY),
    (f"Secret Key: {mixed(32)}", mixed(32)),
    (f"aws_secret_access_key = {AWS_SECRET}", AWS_SECRET),
    (f"Server=db;User Id=sa;Password={PASSWORD};Encrypt=true", PASSWORD),
    (f"DefaultEndpointsProtocol=https;AccountName=a;AccountKey={mixed(86)}==;EndpointSuffix=x", mixed(86) + "=="),
    (f"<password>{PASSWORD}</password>", PASSWORD),
    (f'<add key="DbPassword" value="{PASSWORD}" />', PASSWORD),
    (f'config.set("api_key", "{HEX_KEY}")', HEX_KEY),
    (f"machine api.example.com login me password {mixed(20)}", mixed(20)),
    (f"//registry.example.com/:_authToken={mixed(36)}", mixed(36)),
    # JSON that is not whole, escaped JSON, other escapes
    (f'{{"user": "me", "password": "{PASSWORD}", "cut', PASSWORD),
    (f'log: {{\\"password\\":\\"{PASSWORD}\\"}}', PASSWORD),
    (f"out: API_KEY=\\u0022{GITHUB}\\u0022", GITHUB),
    (f"a line\\n{GITHUB}\\n", GITHUB),
    (f"next=%2Fx%3Ftoken%3D{GITHUB}", GITHUB),
    # headers and cookies
    (f"Authorization: Bearer {mixed(40)}", mixed(40)),
    (
        f"> authorization: Basic {base64.b64encode(b'me:' + PASSWORD.encode()).decode()}",
        base64.b64encode(b"me:" + PASSWORD.encode()).decode(),
    ),
    (f"curl -H 'X-Api-Key: {HEX_KEY}' https://x", HEX_KEY),
    (f"Set-Cookie: sessionid={lower(32)}; HttpOnly; Path=/", lower(32)),
    (f"cookie: theme=dark; session={mixed(40)}", mixed(40)),
    # addresses
    (f"postgresql://app:{quote(PASSWORD)}@db:5432/prod", quote(PASSWORD)),
    (f"redis://:{mixed(24)}@cache-1:6379/0", mixed(24)),
    (f"git clone https://oauth2:{mixed(20)}@git.example.com/a.git", mixed(20)),
    (f"GET /v1/maps?api_key={HEX_KEY}&q=berlin HTTP/1.1", HEX_KEY),
    (f"https://a.blob.core.windows.net/c?sv=2024&sig={mixed(43)}%3D", mixed(43) + "%3D"),
    (f"https://s3/x?X-Amz-Credential={AWS}%2F20260101&X-Amz-Signature={hexa(64)}&X-Amz-Date=20260101", hexa(64)),
    (f"https://hooks.slack.com/services/T0{mixed(8)}/B0{mixed(8)}/{mixed(24)}", mixed(24)),
    # commands
    (f"mysql -u root -p{mixed(16)} -h db prod", mixed(16)),
    (f"sshpass -p {mixed(16)} ssh host", mixed(16)),
    (f"docker login -u ci --password {mixed(24)} registry.example.com", mixed(24)),
    (f"docker login -u ci -p {mixed(24)} registry.example.com", mixed(24)),
    (f"curl -u me:{mixed(16)} https://x", mixed(16)),
    (f"curl --user 'me:{mixed(16)}' https://x", mixed(16)),
    (f"redis-cli -h x -a {mixed(16)} ping", mixed(16)),
    (f"tool --token={mixed(24)} --verbose", mixed(24)),
    # key material
    (f"$ cat key\n{PEM}\n$ ", PEM),
    ("$ cat key\n" + PEM[:200] + "\n[output truncated]", PEM[:200]),
    (json.dumps({"out": PEM})[1:-1], json.dumps(PEM)[1:-1]),
    ("TLS=" + base64.b64encode(PEM.encode()).decode(), base64.b64encode(PEM.encode()).decode()),
    (f"jwt {JWT} end", JWT),
    *[(f"see {secret}, then", secret) for secret in SHAPED],
    (f"令牌{GITHUB}。", GITHUB),
]

KEPT = [
    "API_KEY=get_key(name)",
    "TOKEN=settings.token",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "mysqldump db | ssh -p2222 backup",
    "docker run -p 8080:80 nginx",
    "curl -u $USER:$PASSWORD https://x",
    "pytest -p no:cacheprovider",
    "cp -p a b",
    # code
    'password = os.environ["DB_PASSWORD"]',
    "token = tokens[0]",
    "password: str",
    'key = "name"',
    "api_key=settings.api_key",
    "secret = get_secret(name)",
    "self.password = password",
    "token = next(iterator)",
    "password=getpass.getpass()",
    "const token: AuthToken = x;",
    "apiKey: process.env.API_KEY,",
    "token = await fetchToken(id)",
    'api_key = "<your-key>"',
    'API_KEY="your-api-key-here"',
    "password: ${DB_PASSWORD}",
    "password: {{ vault_password }}",
    "api_key: ${{ secrets.API_KEY }}",
    "PASSWORD=xxxxxxxx",
    "PASSWORD=********",
    'token: "..."',
    "key=lambda item: item.created_at",
    'f"Bearer {token}"',
    'headers["Authorization"] = f"Bearer {self._token()}"',
    "Authorization: Bearer <token>",
    "password VARCHAR(255)",
    "token_type: bearer",
    "max_tokens=4096",
    "max_tokens: 8192, temperature: 0",
    '"prompt_tokens": 123456789',
    "next_token=eyJsYXN0IjoiMTIzNDU2Nzg5MCJ9abcdef",
    "tokenizer = AutoTokenizer.from_pretrained('x')",
    "cache_key=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "public_key = AAAAC3NzaC1lZDI1NTE5AAAAIVLGBKj23FDAYklnyDAR",
    "primary_key=True",
    "sort_key: created2024at",
    "class TokenProvider(BaseTokenProvider):",
    "def verify_password(self, password: str) -> bool:",
    "from secrets import token_hex",
    "import password_strength as passwords",
    "tests/test_auth_token_secret_key_9.py::test_password_api_key PASSED",
    "HEAD is now at 05e75e97a0 Add password reset docs",
    "The bearer of this ticket may enter at gate 4.",
    "The password must be at least 12 characters long.",
    "Basic understanding of tokens and keys is assumed.",
    'if "-----BEGIN RSA PRIVATE ' + 'KEY-----" in text: raise',
    "ClientRequestToken=f4c94ed7-238d-4c46-93db-48cd62ec33b7",
    # ids, hashes, media
    f"commit {hexa(40)}",
    f"session_id={uuid()}",
    f"toolu_01{mixed(22)}",
    f"call_{mixed(24)}",
    f"msg_01{mixed(22)}",
    f"req_01{mixed(22)}",
    f"chatcmpl-{mixed(29)}",
    f"resp_{hexa(48)}",
    f'"integrity": "sha512-{mixed(86)}=="',
    f"sha256:{hexa(64)}",
    f'etag: W/"{hexa(40)}"',
    f"traceparent: 00-{hexa(32)}-{hexa(16)}-01",
    f'resolved "https://registry.example.test/a/-/a-1.0.0.tgz#{hexa(40)}"',
    f"/nix/store/{lower(32)}-python3-3.12.5",
    "git@github.com:org/repo.git",
    f"https://github.com/org/repo/blob/{hexa(40)}/src/auth/token.py#L3",
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{mixed(43)} dev@host",
    f"data:image/png;base64,{mixed(300)}",
    "claude-sonnet-4-20250514",
    "gpt-4o-mini-2024-07-18",
    "us-east-1",
    "arn:aws:secretsmanager:us-west-2:123456789012:secret:MyDbSecret-a1b2c3",
    "amqp://guest:guest@localhost/",
    "DATABASE_URL=postgres://user:password@localhost:5432/db",
    "https://${USER}:${PASSWORD}@host/",
    "/home/u/.cache/pip/http-v2/c/e/9/9/fe5569e16c2c6f8a03f95e6ac8d7283cf317c33adc001ad250678dea",
]


@pytest.mark.parametrize(("text", "secret"), MASKED, ids=range(len(MASKED)))
def test_masked(text: str, secret: str) -> None:
    out = REDACTOR.text(text)
    assert trace(secret, out) is None
    assert PLACEHOLDER.search(out)
    assert REDACTOR.text(out) == out


@pytest.mark.parametrize("text", KEPT, ids=range(len(KEPT)))
def test_kept(text: str) -> None:
    assert REDACTOR.text(text) is text
    document = {"content": text}
    assert REDACTOR.document(document) is document


def test_spans_are_what_text_masks() -> None:
    text = f"a {GITHUB} b password={PASSWORD}"
    spans = REDACTOR.spans(text)
    assert [text[s.start : s.end] for s in spans] == [GITHUB, PASSWORD]
    assert spans[0] == Span(2, 2 + len(GITHUB), "github-token", "github-token")


def test_equal_secrets_are_equal_and_others_are_not() -> None:
    out = REDACTOR.text(
        f"Authorization: Bearer {GITHUB}\nTOKEN={GITHUB}\n{GITHUB}\nurl=https://x:{GITHUB}@h/ Authorization: Bearer {SLACK}"
    )
    found = PLACEHOLDER.findall(out)
    assert len(found) == 5
    assert len(set(found[:4])) == 1
    assert found[4] != found[0]


def test_another_key_gives_other_fingerprints() -> None:
    other = Redactor(Policy.default(), key=b"another")
    assert neutral(other.text(GITHUB)) != neutral(REDACTOR.text(GITHUB))


def test_tally_counts_by_kind() -> None:
    tally: Counter[str] = Counter()
    redactor().text(f"{GITHUB} {GITHUB} {AWS}", tally)
    assert tally == {"github-token": 2, "aws-access-key": 1}


def test_a_placeholder_is_never_touched() -> None:
    mark = placeholder("password", KEY, "x")
    for text in (
        mark,
        f"password={mark}",
        f'{{"password":"{mark}"}}',
        f"Authorization: Bearer {mark}",
        f"https://u:{mark}@h/?token={mark}",
        f"--password {mark}",
        neutral(f"password={mark}"),
        f"Cookie: a={mark}; b=1",
    ):
        assert REDACTOR.text(text) == text
    value = {"password": mark, "headers": [["authorization", f"Bearer {mark}"]], "env": [{"name": "TOKEN", "value": mark}]}
    assert REDACTOR.document(value) is value
    assert REDACTOR.headers([["Authorization", f"Bearer {mark}"], ["Cookie", f"a={mark}"], ["x-api-key", mark]]) == [
        ["Authorization", f"Bearer {mark}"],
        ["Cookie", f"a={mark}"],
        ["x-api-key", mark],
    ]
    assert REDACTOR.environment({"DB_PASSWORD": mark}) == {"DB_PASSWORD": mark}
    assert REDACTOR.arguments(["x", "--password", mark]) == ["x", "--password", mark]


def test_a_json_text_keeps_every_other_character() -> None:
    text = (
        (
            '{ "password" : "PASSWORD",\n'
            '  "n": 1.0, "e": 1E5, "u": "\\u00e9\\ud83d\\ude00 token=GITHUB \\/", "list":[1,2 ],  "pin": 12345678 }'
        )
        .replace("PASSWORD", PASSWORD)
        .replace("GITHUB", GITHUB)
    )
    out = redactor().text(text)
    expected = text.replace(PASSWORD, placeholder("password", KEY, PASSWORD)).replace(GITHUB, placeholder("github-token", KEY, GITHUB))
    assert out == expected.replace("12345678", f'"{placeholder("pin", KEY, "12345678")}"')
    assert json.loads(out)["n"] == 1.0


def test_json_escapes_hide_nothing() -> None:
    hidden = "".join(f"\\u{ord(c):04x}" for c in GITHUB)
    assert redactor().text(f'{{"a":"{hidden}"}}') == f'{{"a":"{placeholder("github-token", KEY, GITHUB)}"}}'


def test_json_in_json_in_json() -> None:
    text = json.dumps({"result": json.dumps({"inner": json.dumps({"password": "hunter2!"})})})
    out = REDACTOR.text(text)
    assert json.loads(json.loads(json.loads(out)["result"])["inner"])["password"] == placeholder("password", KEY, "hunter2!")


def test_json_lines() -> None:
    text = f'{{"password":"hunter2!"}}\n{{"text":"fine"}}\nnot json password={PASSWORD}\n'
    out = REDACTOR.text(text)
    assert json.loads(out.splitlines()[0])["password"].startswith("[REDACTED:password:")
    assert out.splitlines()[1] == '{"text":"fine"}'
    assert trace(PASSWORD, out) is None


def test_a_key_twice_is_scanned_as_text() -> None:
    text = '{"password":"hunter2!x","password":"none"}'
    assert "hunter2!x" not in REDACTOR.text(text)


@pytest.mark.parametrize("depth", [148, 149, 150, 151, 199, 200, 201, 400])
def test_nesting_at_the_limits(depth: int) -> None:
    deep = "[" * depth + f'"{GITHUB}"' + "]" * depth
    assert neutral(REDACTOR.text(deep)) == neutral(deep.replace(GITHUB, placeholder("github-token", KEY, GITHUB)))
    assert GITHUB not in str(REDACTOR.body(deep.encode(), content_type="application/json"))
    event = b'data: {"a":' + deep.encode() + b"}\n\n"
    assert GITHUB.encode() not in REDACTOR.answer([["content-type", "text/event-stream"]], [event])[1][0]


def test_deep_nesting_ends() -> None:
    deep = "[" * 100_000 + f'"{GITHUB}"' + "]" * 100_000
    assert GITHUB not in REDACTOR.text(deep)


PIECES = st.sampled_from(
    [
        GITHUB,
        PASSWORD,
        PEM,
        PEM[:150],
        JWT,
        AWS,
        "password=",
        "token: ",
        '"api_key": "',
        '"',
        "'",
        "\n",
        " ",
        ";",
        "&",
        "?sig=",
        "https://u:",
        "@host/",
        "Bearer ",
        "{",
        "}",
        '{"password":"',
        '"}',
        "[REDACTED:x:00000000]",
        "[REDACTED:00000000]",
        "x" * 20,
        mixed(30),
        "=",
        ":",
        ",",
        "Cookie: a=",
        "é",
        "\\n",
        "\\",
        "curl -u a:",
        "mysql -p",
        "<password>",
        "</password>",
        "-----BEGIN ",
        "$",
        "%3D",
        "Secret Key:",
        "is ",
        "login a password ",
    ]
)


@given(st.lists(PIECES, max_size=14).map("".join))
@settings(max_examples=600, deadline=None)
@example(f"{GITHUB}{GITHUB}")
@example(f"password={PASSWORD};token={GITHUB}")
@example(f"curl -u a:Cookie: a={PASSWORD}")
def test_redaction_is_idempotent(text: str) -> None:
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once
    kept = [m.group() for m in PLACEHOLDER.finditer(text)]
    assert [m for m in kept if m not in once] == []


@given(st.lists(PIECES, max_size=10).map("".join))
@settings(max_examples=300, deadline=None)
def test_what_has_a_shape_is_found_wherever_it_stands_alone(text: str) -> None:
    out = REDACTOR.text(f"{text}\n\n{GITHUB}\n\n")
    assert f"\n{GITHUB}\n" not in out


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | PIECES | st.text(max_size=8),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(st.sampled_from(["password", "a", "token", "name", "value", "text", "pin", GITHUB]), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
@settings(max_examples=300, deadline=None)
def test_json_texts_and_values_agree(value: object) -> None:
    """A JSON text is masked as its value is, and stays JSON."""
    if not isinstance(value, (dict, list)):
        return
    text = json.dumps(value)
    assert json.loads(REDACTOR.text(text)) == REDACTOR.document(value)


@pytest.mark.parametrize(
    "text",
    [
        "a" * 200_000,
        "key=" * 50_000,
        '"' * 100_000,
        "password: " * 20_000,
        "-----BEGIN RSA PRIVATE " + "KEY-----" * 5_000,
        "https://" * 30_000,
        "\\" * 100_000,
        "eyJ" * 60_000,
        "=" * 100_000,
        "curl -u " * 20_000,
        "$1$" * 60_000,
        "Cookie: a=b;" * 10_000,
        "?a=" * 60_000,
        "-" * 100_000,
        "mysql -p" * 20_000,
        "[REDACTED:" * 20_000,
        "sk-" * 60_000,
        "1:A" * 50_000,
    ],
    ids=range(18),
)
def test_time_is_linear_enough(text: str) -> None:
    began = time.process_time()
    redactor().text(text)
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    ("url", "netloc", "path"),
    [
        ("http://bob:[REDACTED:password:0123abcd]@h.example:8/a?x=1", "bob:[REDACTED:password:0123abcd]@h.example:8", "/a"),
        ("http://[REDACTED:github-token:0123abcd].h.example/a", "[REDACTED:github-token:0123abcd].h.example", "/a"),
        ("http://[::1]:8080/a", "[::1]:8080", "/a"),
        ("http://h/[x]", "h", "/[x]"),
        ("//\u2100[", "", "//\u2100["),
        ("no url", "", "no url"),
    ],
)
def test_a_url_with_placeholders_is_still_a_url(url: str, netloc: str, path: str) -> None:
    # Brackets in its host made urllib raise, which ended the recording.
    parts = split_url(url)
    assert (parts.netloc, parts.path) == (netloc, path)


@given(st.text())
def test_whatever_an_agent_asks_for_can_be_split(text: str) -> None:
    split_url(text)
    split_url("http://" + text)
