"""Columns of tables whose header is the name of a secret."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redact_samples import PASSWORD, redactor

from tachograph.redact.engine import Redactor
from tachograph.redact.finders import tables
from tachograph.redact.policy import Policy
from tachograph.redact.rules.examples import mixed

REDACTOR = redactor()
WORD = "sun" + "flower42"
TOKEN = mixed(24)


def masked(text: str) -> list[str]:
    return [text[span.start : span.end] for span in REDACTOR.spans(text)]


def box(*rows: tuple[str, ...]) -> str:
    """As ``mysql`` prints it."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+\n"
    lines = ["|" + "|".join(f" {cell:<{width}} " for cell, width in zip(row, widths, strict=True)) + "|\n" for row in rows]
    return rule + lines[0] + rule + "".join(lines[1:]) + rule


TABLES = {
    "psql": f" id | login |   password   \n----+-------+--------------\n  1 | ann   | {PASSWORD}\n  2 | bob   | {WORD}\n(2 rows)\n\n",
    "mysql": box(("id", "login", "password"), ("1", "ann", PASSWORD), ("2", "bob", WORD)) + "2 rows in set (0.00 sec)\n",
    "mysql with crlf": box(("id", "login", "password"), ("1", "ann", PASSWORD), ("2", "bob", WORD)).replace("\n", "\r\n"),
    "sqlite3 list": f"id|login|password\n1|ann|{PASSWORD}\n2|bob|{WORD}\n",
    "sqlite3 column": f"id  login  password     \n--  -----  -------------\n1   ann    {PASSWORD}\n2   bob    {WORD}\n",
    "sqlite3 box": f"┌────┬───────────────┐\n│ id │   password    │\n├────┼───────────────┤\n│ 1  │ {PASSWORD} │\n│ 2  │ {WORD}   │\n└────┴───────────────┘\n",
    "csv": f"id,login,password\n1,ann,{PASSWORD}\n2,bob,{WORD}\n",
    "csv in quotes": f'"id","login","password"\n"1","Smith, Ann","{PASSWORD}"\n"2","bob","{WORD}"\n',
    "csv, first column": f"api_token,login\n{PASSWORD}x9,ann\n{WORD}x7Kq2Lm,bob\n".replace("api_token", "admin_password"),
    "semicolons": f"id;login;password\n1;ann;{PASSWORD}\n2;bob;{WORD}\n",
    "csv with blanks": f"id, login, password\n1, ann, {PASSWORD}\n2, bob, {WORD}\n",
    "tsv": f"id\tlogin\tpassword\n1\tann\t{PASSWORD}\n2\tbob\t{WORD}\n",
    "markdown": f"| user | Password |\n|------|:--------:|\n| ann | `{PASSWORD}` |\n| bob | {WORD} |\n",
    "markdown without outer bars": f"user | password\n--- | ---\nann | {PASSWORD}\nbob | {WORD}\n",
    "html": f"<table class='x'><tr><th>user</th><th><b>Password</b></th></tr>\n<tr><td>ann</td><td>{PASSWORD}</td></tr>\n"
    f"<tr><td>bob</td><td> <code>{WORD}</code> </td></tr></table>",
    "html by rows": f"<table><tr><th>user</th><td>ann</td></tr><tr><th>Password</th><td>{PASSWORD}</td></tr><tr><th>Password</th><td>{WORD}</td></tr></table>",
    "psql expanded": f"-[ RECORD 1 ]-----------\nid       | 1\npassword | {PASSWORD}\n-[ RECORD 2 ]-----------\nid       | 2\npassword | {WORD}\n",
    "kubectl": f"NAME    PASSWORD        AGE\nfirst   {PASSWORD}   3d\nsecond  {WORD}     4d\n",
    "another script in capitals": f"id;ПАРОЛЬ\n1;{PASSWORD}\n2;{WORD}\n",
    "another script": f"名前,密码\nann,{PASSWORD}\nbob,{WORD}\n",
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_column_of_passwords(kind: str) -> None:
    found = masked("before\n\n" + TABLES[kind] + "\nafter\n")
    assert [value.removesuffix("x9").removesuffix("x7Kq2Lm") for value in found] == [PASSWORD, WORD]


@pytest.mark.parametrize("kind", TABLES)
def test_the_table_alone_and_without_its_last_line_break(kind: str) -> None:
    assert len(masked(TABLES[kind].rstrip("\n"))) == 2


@pytest.mark.parametrize("name", ["api_key", "API Key", "secret_access_key", "authToken", "client_secret", "session_token", "Private Key"])
def test_other_names(name: str) -> None:
    assert masked(f"id,{name.replace(' ', '_')}\n1,{TOKEN}\n") == [TOKEN]
    assert masked(box(("id", name), ("1", TOKEN))) == [TOKEN]


def test_a_bar_inside_of_a_value() -> None:
    value = "aB3|dE6" + "|gH9"
    assert masked(box(("id", "password"), ("1", value), ("2", WORD))) == [value, WORD]


def test_a_word_in_a_column_of_passwords() -> None:
    assert masked(box(("id", "password"), ("1", "tangerine"), ("2", "NULL"))) == ["tangerine"]
    assert masked("id,password\n1,tangerine\n2,null\n") == ["tangerine"]


def test_several_columns_and_tables() -> None:
    text = f"id,password,api_key\n1,{WORD},{TOKEN}\n\n" + box(("pin", "password"), ("1", PASSWORD))
    assert masked(text) == [WORD, TOKEN, PASSWORD]


@pytest.mark.parametrize(
    "text",
    [
        "| Option | Password | Default |\n|---|---|---|\n| minimum | required, 8 characters | none |\n| x | see below | secret |\n",
        "| Token | Meaning |\n|---|---|\n| IDENTIFIER | a name |\n| STRING_LITERAL | text |\n",
        "| Key | Description |\n| --- | --- |\n| Ctrl+Shift+P | opens the palette |\n",
        "id,password_hash_algorithm,password_id\n1,bcrypt2,a81bc81b\n",
        "max_tokens,next_token_id\n4096,129387465\n",
        "from acme import (\n    AuthToken,\n    Password, Secret,\n    Foo2, Bar2,\n)\n",
        "def login(user, password, token):\n    return session2(user, password, token)\n",
        "for user, password in accounts:\n    check2(user, password)\n",
        "the user, the password, and the token\nare kept, if needed, in a file\n",
        "password, token\n\nuser17, words42\n",
        "<table><tr><th>Token</th><th>Password rules</th></tr><tr><td>word</td><td>at least 8 characters</td></tr></table>",
        "key,value\nregion,eu-central-1\n",
        "name | type | password\n---- | ---- | ----\nx | str | optional\n",
        "NAME   SECRET   AGE\nweb    db-tls   3d\n",
        "token\n-----\nA token is a word2 of the language.\n",
        "Passwords\n=========\n\nWords2go\n",
    ],
)
def test_what_is_no_secret(text: str) -> None:
    assert masked(text) == []


def test_names_of_the_user() -> None:
    red = Redactor(Policy.of({"secret_names": ["membership"]}), key=b"k" * 32)
    text = f"id,membership\n1,{WORD}\n"
    assert [text[span.start : span.end] for span in red.spans(text)] == [WORD]


def test_lines_are_read_once() -> None:
    """Rows that could be headers of the rows below them."""
    assert tables.find("password,token\n" * 50_000) == []
    assert tables.find("| password |\n|---|\n" * 50_000) == []
    assert len(tables.find("id,password\n" + "1,aB3dE6gH\n" * 50_000)) == 50_000
    assert tables.marked("<th>password</th>" * 50_000) == []


@given(
    st.lists(
        st.sampled_from(
            ["password", ",", "|", "\t", "\n", "-", "+", " ", '"', "aB3dE6gH", "<th>", "</th>", "<td>", "<tr>", "\r", "-[ RECORD "]
        ),
        max_size=40,
    ).map("".join)
)
def test_any_text(text: str) -> None:
    for found in (*tables.find(text), *tables.marked(text)):
        assert 0 <= found.start < found.end <= len(text)
        assert "\n" not in text[found.start : found.end]
