"""Secrets beside their names: the ways in which a name and a value are joined, and where a value ends."""

from __future__ import annotations

import re
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from redact_samples import PASSWORD, redactor

from tachograph.redact.finders import assignments
from tachograph.redact.rules.examples import hexa, mixed

REDACTOR = redactor()

#: Braces, brackets and no digit: neither code nor a template.
BRACES = "q{{w" + "}e)r${t]yui" + "(op[asd>-_$#fgh}}"
SYMBOLS = "A,.:" + "-¨@*¿?!"

MASKED = [
    *[
        (form % BRACES, BRACES)
        for form in (
            'password = "%s"',
            "passwd: %s",
            "api_key = '%s',",
            "private_key := %s",
            "db_pass := %s,",
            "secret = %s`",
            'if (db_pass !== "%s") {',
            'if ("%s" == password) {',
            'if ("%s" !== my_private_key) {',
            'char secret[25] = "%s";',
            'secret[] = "%s";',
            'std::string secret("%s");',
            'secret.assign("%s",17);',
            'secret "%s";',
            "os.environ.get('APP_SECRET_KEY', '%s')",
            "password_super_secure = '%s'",
        )
    ],
    (f"secret = {SYMBOLS}", SYMBOLS),
    (f'if SECRET := getenv("OTHER", "{PASSWORD}"):', PASSWORD),
    (f'PASSWORD = os.environ.get("PASSWORD") or "{PASSWORD}"', PASSWORD),
    (f"const password = process.env.PW || '{PASSWORD}'", PASSWORD),
    (f"$password = $_ENV['PW'] ?? '{PASSWORD}';", PASSWORD),
    (f'variable "acme_api_token" {{\n  type = string\n  default = "{mixed(40)}"\n}}', mixed(40)),
    ("Server=db;Port=5432;User Id=app;Password=tangerine;Database=shop;", "tangerine"),
    ("Driver={x};Server=db,1433;Uid=sa;Pwd=secret;", "secret"),
    ("#define AESKEY {0x35, 0x34, 0x65, 0x9b, 0x1c, 0x2e, 0x01, 0x02}", "0x35, 0x34, 0x65, 0x9b, 0x1c, 0x2e, 0x01, 0x02"),
    ("Secret: []byte{33, 9, 100, 114, 245, 164, 134, 217}", "33, 9, 100, 114, 245, 164, 134, 217"),
    (f'token : "{mixed(50)}\n    {mixed(50)}\n    {mixed(20)}"', f"{mixed(50)}\n    {mixed(50)}\n    {mixed(20)}"),
    (f"Authorization: acmev1 {mixed(40)}", mixed(40)),
    ("acmeToken := `m0twbh8z" + "mkcdudku8`", "m0twbh8z" + "mkcdudku8"),
    ("acme_key = 'abcdef" + "abcdef" * 5 + "ab'", "abcdef" * 6 + "ab"),
    ('apikey_acme: "%s"' % BRACES, BRACES),
    ("password : tangerine!", "tangerine!"),
    (f'#define\\tpassword\\t\\"{PASSWORD}\\"', PASSWORD),
    (f"mvn -Dsonar.login={hexa(40)}", hexa(40)),
    ("ovh_applicationKey: 'm9gFCCLM-" + "slOQGRf'", "m9gFCCLM-" + "slOQGRf"),
    ("The default password is 'tangerine'", "tangerine"),
    ('make sure the password was "tangerine".', "tangerine"),
    (f"password for root:{PASSWORD}", PASSWORD),
    (f"DB_password,default:{PASSWORD}", PASSWORD),
    (f"Key(DBSecret):{PASSWORD}", PASSWORD),
    (f"비밀번호: {PASSWORD}", PASSWORD),
    (f"пароль = {PASSWORD}", PASSWORD),
    (f"密码：{PASSWORD}", PASSWORD),
    (f"contraseña: {PASSWORD}", PASSWORD),
    (f"SENHA={PASSWORD}", PASSWORD),
    (f"todo_secret_do_not_commit = {mixed(30)}", mixed(30)),
    *[
        (f"{name}={PASSWORD}", PASSWORD)
        for name in ("PSWD", "PSSWD", "PSWRD", "PSWORD", "PSSWRD", "PSSWORD", "PASWD", "pasword", "paasword")
    ],
]

KEPT = [
    'if (password == "${PASSWORD}") {',
    'if ("password" == name) {',
    'if ("keyboard" === device_key) {',
    'getenv("API_TOKEN", "")',
    'headers = ["x-amz-date", "x-amz-security-token", "x-amz-content-sha256"]',
    "[REDACTED:password:0011aabb] a=b",
    'variable "api_token" {\n  type = string\n}',
    "the password is 'required'",
    "password_reset_url = /accounts/reset/4f9a8b7c6d5e4f3a2b1c",
    f"passwordless = {hexa(8)}",
    "api_key=abcd1234",
    "AUTH_KEY: AbCeFG123",
    "ACME_API_KEY=v2_pt_short",
    "password = 'somefakekey'",
    "access_key = '[the shared access key goes here]'",
    "gcp_secret = your_private_key_id_placeholder_here1234",
    "TOKEN=XXXX_PUT_YOUR_TOKEN_HERE_XXXX",
    "put '/forgot-password' => 'cms/passwords#update'",
    'MONGO_NO_AUTH = "mongodb://localhost:27017/database"',
    "ACCESS_KEY=`etcdctl get /acme/secret`",
    "export DATABASE_PASSWORD=\"'$OTHER_PASSWORD'\"",
    "Server=db;User Id=app;Password=<password>;",
    "Server=db;User Id=app;Password=********;",
    'if(l&&(l.op="fetch",l.key=t,b&&(l.forceRefresh=!0),l.cache=this),!this.#U)return',
    "Add new upstream signing key " + hexa(40).upper(),
    "man/readpassphrase.3 => readpassphrase.3bsd",
    f"ROOT_API_KEY=acme_{'0' * 40}",
    "API_TOKEN=ops_eyJzaWduSW5BZGRyZXNzIjoiaHR0..",
    "f(token=next(it), key=lambda x: x)",
    'api_token = "api_token: "',
    "export KEY=${TOKEN:-${DEFAULT_TOKEN}}",
]


@pytest.mark.parametrize(("text", "secret"), MASKED, ids=range(len(MASKED)))
def test_masked(text: str, secret: str) -> None:
    begin = text.index(secret)
    assert any(span.start <= begin and begin + len(secret) <= span.end for span in REDACTOR.spans(text))
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once


@pytest.mark.parametrize("text", KEPT, ids=range(len(KEPT)))
def test_kept(text: str) -> None:
    assert REDACTOR.spans(text) == []


PIECES = st.sampled_from(
    [
        BRACES,
        SYMBOLS,
        PASSWORD,
        mixed(24),
        hexa(40),
        "password",
        "secret[25]",
        "api_key",
        "비번",
        "acme SECRET ",
        "acme-key-",
        "deepgram ",
        " = ",
        ": ",
        ' == "',
        '" != ',
        "(",
        ")",
        "{0x35, 0x34, 0x65, 0x9b, 0x1c, 0x2e, 0x01, 0x02}",
        "getenv('X', '",
        ' or "',
        "'",
        '"',
        "\n",
        "\\n",
        ";",
        "Server=a;Uid=b;Pwd=",
        ", ",
        " is ",
        "${",
        "}}",
        "..",
        "é",
        "Authorization: acme ",
    ]
)


@given(st.lists(PIECES | st.text(max_size=6), max_size=10).map("".join))
@settings(max_examples=400, deadline=None)
def test_any_text_is_redacted_once_and_for_all(text: str) -> None:
    once = REDACTOR.text(text)
    assert REDACTOR.text(once) == once


@pytest.mark.parametrize(
    "piece",
    ["acme secret ", "password(", 'secret = "', "=password", "Uid=a;", "0x35, ", "api-", "key_", "{[(", 'x == "', "deepgram ", "1a", "${"],
)
def test_what_repeats_is_read_in_linear_time(piece: str) -> None:
    """Twice the text costs about twice the time: counted in steps of the interpreter, for no clock is exact."""
    _steps(piece * 100)  # patterns are compiled when they are first tried
    assert _steps(piece * 400) < 3 * _steps(piece * 200) + 20_000


def _steps(text: str) -> int:
    steps = 0

    def count(*_: object) -> None:
        nonlocal steps
        steps += 1

    sys.setprofile(count)
    try:
        REDACTOR.spans(text)
    finally:
        sys.setprofile(None)
    return steps


def test_one_of_the_arguments_of_a_printed_object() -> None:
    text = f"ConnectionPool(<redis.connection.Connection(db=0,username=None,password={mixed(43)}=,host=cache.example.net,port=6380)>)"
    out = redactor().text(text)
    assert mixed(43) not in out
    assert out.endswith(",host=cache.example.net,port=6380)>)")


BEFORE_VALUES = (
    "key", "PASSWORD", "token", "x", "my_", "-", "--", "\\n", "\n", " ", "  ", "=", ":", ":=", "]", "[", "[0]", ")", "(", ",", ".", ">", "<", '"', "'", "%3D", "|", "?",
    "{", "value", " is ", " for x", ", default", " string ", "[]byte{1,2,3,4,5,6,7,8,9}", "word", "const", "hunter2hunter2", "aB3dE6gH9jK2mN5qR8", "qwxzkvjpbtrmhdlc", "K7!x",
)  # fmt: skip


@given(st.lists(st.sampled_from(BEFORE_VALUES), max_size=14).map("".join))
@example('config[api_key] = "aB3dE6gH9jK2mN5qR8"')
@example("config[api_key]=aB3dE6gH9jK2mN5qR8")
@example("x\\n--password qwxzkvjpbtrmhdlc")
@example("password (prod)] = aB3dE6gH9jK2mN5qR8")
def test_nothing_is_found_where_it_is_told_at_once(text: str) -> None:
    places = sorted((m.start(), m.group()) for m in re.finditer("key|pass|token", text.lower()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(assignments, "_NOTHING", re.compile(r"(?!)"))
        expected = assignments.find(text, places)
    assert assignments.find(text, places) == expected


def test_a_long_word_of_names_and_what_is_far_behind_them() -> None:
    """What is judged is the beginning of a value; what goes is all of it."""
    value = mixed(700)
    text = "password=" * 100 + value
    assert value not in REDACTOR.text(text)
    assert value[-100:] not in REDACTOR.text("secret-token:" * 50 + value)
    assert REDACTOR.text(f"token={value}, x").endswith(", x")


@pytest.mark.parametrize(
    "joint",
    [
        ",default:",
        ", default:",
        "[0] = ",
        "] = ",
        "):",
        " (x): ",
        "+= ",
        '("',
        ", '",
        '\n, "value": "',
        '\n{ default = "',
        ' is "',
        "=",
        "%3D",
        "\\u003d",
        "-",
    ],
)
def test_what_joins_a_name_and_a_value_is_no_nothing(joint: str) -> None:
    """``_NOTHING`` only saves time: whatever ``_JOINT`` takes for a joint, it must let through."""
    assert assignments._NOTHING.match(joint + "x") is None
    assert assignments._JOINT.match(joint + PASSWORD) is not None
