from __future__ import annotations

import base64
import hashlib
import html
import json
import quopri
import random
import re
import textwrap
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from redact_samples import ANTHROPIC, AWS, GITHUB, HEX_KEY, PASSWORD, SHAPED, redactor

from tachograph.redact.finders import decode
from tachograph.redact.placeholder import PLACEHOLDER
from tachograph.redact.prefilter.trigger import ANYWHERE

ENV_FILE = f"# settings\nDEBUG=1\nDB_PASSWORD={PASSWORD}\nNAME=app\n"


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def escaped(text: str, form: str) -> str:
    return "".join(form.format(ord(c)) for c in text)


ENCODINGS = {
    "base64": b64,
    "base64 of a configuration": lambda s: b64(f"[default]\ntoken = {s}\n"),
    "url-safe base64": lambda s: base64.urlsafe_b64encode(f"??>>{s}~~".encode()).decode().rstrip("="),
    "base64 after a prefix": lambda s: "data-" + b64(s),
    "base64 in a path": lambda s: "/v1/blobs/" + b64(s) + "/raw",
    "utf-16 base64": lambda s: base64.b64encode(f"$t = '{s}'".encode("utf-16-le")).decode(),
    "base64 with other letters": lambda s: b64(f"пароль и ключ: {s}"),
    "wrapped at 76": lambda s: base64.encodebytes(f"{'x ' * 60}{s}{' y' * 90}".encode()).decode(),
    "wrapped at 64, indented": lambda s: textwrap.indent("\n".join(textwrap.wrap(b64(f"{'x ' * 60}{s} end"), 64)), "    "),
    "wrapped with escapes": lambda s: "\\n".join(textwrap.wrap(b64(f"{'x ' * 60}{s} end of it"), 60)),
    "base64 twice": lambda s: b64("x: " + b64(s)),
    "percent in base64": lambda s: b64("q=" + "".join(f"%{ord(c):02X}" for c in s)),
    "hexadecimal": lambda s: s.encode().hex(),
    "upper-case hexadecimal": lambda s: "0x" + s.encode().hex().upper(),
    "percent": lambda s: escaped(s, "%{:02X}"),
    "percent twice": lambda s: escaped(s, "%25{:02x}"),
    "backslash u": lambda s: escaped(s, "\\u{:04x}"),
    "backslash x": lambda s: escaped(s, "\\x{:02x}"),
    "entities": lambda s: escaped(s, "&#{};"),
    "hexadecimal entities": lambda s: escaped(s, "&#x{:x};"),
    "quoted-printable": lambda s: quopri.encodestring(f"a=b {'z' * 50} {s} and so on".encode()).decode(),
}


@pytest.mark.parametrize("secret", [GITHUB, ANTHROPIC, AWS], ids=["github", "anthropic", "aws"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_token_inside_an_encoding(encoding: str, secret: str) -> None:
    red = redactor()
    written = ENCODINGS[encoding](secret)
    out = red.text(f"first {written} last")
    assert PLACEHOLDER.search(out), out
    assert out.startswith("first ")
    assert out.endswith(" last")
    kept = "".join(PLACEHOLDER.split(out)).replace("first", "").replace("last", "").split()
    if "quoted" not in encoding:
        # Nothing of the encoded token stays: what does is around it.
        assert all(len(piece) < 12 or piece not in written for piece in kept) or "prefix" in encoding or "path" in encoding
    assert secret not in out
    assert red.text(out) == out


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_named_password_inside_an_encoding(encoding: str) -> None:
    written = ENCODINGS[encoding](ENV_FILE)
    out = redactor().text(f"first {written} last")
    assert PLACEHOLDER.search(out), out


def test_the_kind_is_that_of_what_is_inside() -> None:
    (span,) = redactor().spans(f"x {b64(GITHUB)} y")
    assert (span.kind, span.rule) == (redactor().spans(GITHUB)[0].kind, redactor().spans(GITHUB)[0].rule)
    assert (span.start, span.end) == (2, 2 + len(b64(GITHUB)))


def test_escapes_are_masked_where_they_stand() -> None:
    out = redactor().text(f"<a title=&quot;x&quot; data=&#39;password=&quot;{PASSWORD}&quot;&#39; id=3>")
    assert out.startswith("<a title=&quot;x&quot; data=&#39;password=&quot;[REDACTED:")
    assert out.endswith("&quot;&#39; id=3>")
    out = redactor().text(f"GET /cb?next=%2Fhome%3Ftoken%3D{GITHUB}%26page%3D2 HTTP/1.1")
    assert out.startswith("GET /cb?next=%2Fhome%3Ftoken%3D[REDACTED:")
    assert out.endswith("]%26page%3D2 HTTP/1.1")


def test_json_with_escapes_stays_json() -> None:
    inner = json.dumps({"a": 1, "token": GITHUB}).replace('"', "\\u0022")
    text = '{"log": "' + inner + '", "n": 1.50}'
    out = redactor().text(text)
    assert GITHUB not in json.loads(out)["log"]
    assert json.loads(json.loads(out)["log"])["a"] == 1
    assert out.endswith('", "n": 1.50}')


@pytest.mark.parametrize(
    "text",
    [
        "data:image/png;base64," + base64.b64encode(random.Random(1).randbytes(3000)).decode(),
        base64.encodebytes(random.Random(2).randbytes(3000)).decode(),
        hashlib.sha512(b"x").hexdigest(),
        "sha512-" + base64.b64encode(hashlib.sha512(b"x").digest()).decode(),
        b64("An ordinary text about passwords and tokens, with nothing in it. " * 10),
        b64(json.dumps({"cursor": {"page": 3, "sort": "name", "max_tokens": 4096}})),
        b"The quick brown fox jumps over the lazy dog".hex(),
        quote("https://example.com/a b?x=ü&y=1", safe=""),
        html.escape('<a href="/x?a=1&b=2">it\'s</a>'),
        "AVeryLongIdentifierThatIsNoEncodingOfAnythingAtAll / another_long_identifier_of_many_words_in_snake_case",
        "\\u4f60\\u597d \\x1b[31mred\\x1b[0m",
    ],
)
def test_what_holds_no_secret_stays(text: str) -> None:
    assert redactor().text(text) is text


@given(st.binary(min_size=24, max_size=400))
def test_random_bytes_are_left_alone_or_text(data: bytes) -> None:
    """What is decoded is text, all of it."""
    seen: list[str] = []
    decode.find(base64.b64encode(data).decode(), lambda text: seen.append(text) or [])  # type: ignore[func-returns-value]
    for text in seen:
        assert sum(c.isprintable() or c.isspace() for c in text[:4096]) >= 0.75 * len(text[:4096])


def woken(written: str) -> bool:
    return any(re.search(trigger.pattern, written) for trigger in decode.TRIGGERS[: decode._FIRST_ESCAPE])


def began(data: bytes) -> bool:
    written = base64.b64encode(data).decode()
    return next(decode._encoded(written, [ANYWHERE], []), None) is not None


@given(st.text(min_size=12, max_size=40) | st.text("aZ 0\n=äßжЖ€語🔑", min_size=12, max_size=40))
@example("Passwörter und anderes, was nicht jeder wissen soll")
@example("пароль: hunter2hunter2")
@example("密码是 hunter2hunter2hunter2")
@example("🔑🔑🔑 hunter2hunter2")
@example("00\U0001f300 hunter2hunter2hunter2")
@example("0\U0001f300 hunter2hunter2hunter2")
def test_what_is_decoded_is_what_wakes(text: str) -> None:
    for data in (
        text.encode("utf-8", "replace"),
        text.encode("utf-16-le", "replace"),
        text.encode("latin-1", "replace"),
        b"\xff" + text.encode(),
    ):
        if len(data) >= 18 and began(data):
            assert woken(base64.b64encode(data).decode()), data
    data = text.encode("utf-8", "replace")
    if len(data) >= 18 and text.isprintable():
        assert began(data), data


def test_names_and_paths_and_random_bytes_wake_nothing() -> None:
    for written in (
        "a_very_long_identifier_of_many_words", "AVeryLongIdentifierThatIsNoEncoding", "src/tachograph/redact/prefilter/superset",
        "DESCRIPTION_OF_MANY_THINGS_AT_ONCE", "d41d8cd98f00b204e9800998ecf8427e", base64.b64encode(hashlib.sha512(b"1").digest()).decode(),
    ):  # fmt: skip
        assert not woken(written), written


@given(st.text(max_size=300))
def test_any_text_is_scanned(text: str) -> None:
    red = redactor()
    for written in (text, b64(text.encode("utf-8", "replace").decode()), quote(text.encode("utf-8", "surrogatepass")), text * 3):
        assert red.text(red.text(written)) == red.text(written)


@given(
    st.sampled_from(SHAPED[:5]),
    st.text(alphabet="abc %\\&=;u0041x3D\n", max_size=40),
    st.text(alphabet="abc %\\&=;u0041x3D\n", max_size=40),
    st.sampled_from(["%{:02X}", "\\u{:04x}", "&#{};", "\\x{:02X}"]),
)
def test_places_are_mapped_back(secret: str, before: str, after: str, form: str) -> None:
    """Whatever stands around it, the escaped token goes, and the text that is left is what stood around it."""
    out = redactor().text(f"{before} {escaped(secret, form)} {after}")
    assert escaped(secret[-8:], form) not in out
    assert escaped(secret[:8], form) not in out


def test_the_layers_are_bounded() -> None:
    written = GITHUB
    for _ in range(decode.LAYERS):
        written = b64(f"x: {written}")
    assert PLACEHOLDER.search(redactor().text(written))
    beyond = b64(f"x: {written}")
    assert redactor().text(beyond) is beyond


@pytest.mark.parametrize(
    ("text", "is_one"), [("user:pass", True), ("_token:abc", True), ("no colon here", False), ("a b:c", False), (":", False)]
)
def test_credentials(text: str, is_one: bool) -> None:
    assert decode.credentials(b64(text)) == (text if is_one else "")


def test_a_registrys_auth_is_credentials() -> None:
    red = redactor()
    value = {"auths": {"ghcr.io": {"auth": b64("bob:hunter2")}}, "auth": "none", "method": {"auth": "oauth2"}}
    out = red.document(value)
    assert PLACEHOLDER.fullmatch(out["auths"]["ghcr.io"]["auth"])
    assert (out["auth"], out["method"]) == ("none", {"auth": "oauth2"})
    text = f"Authorization: Basic {b64('bob:hunter2')}"
    assert b64("bob:hunter2") not in red.text(text)


def test_a_form_is_read_as_one() -> None:
    # As a server echoes it: blanks are written as a plus, which joins what a blank would part.
    text = f"Cookie: a=b; sessionid={HEX_KEY}\nAuthorization: Bearer {HEX_KEY[::-1]}\n$ mysql -u root -p{PASSWORD} orders"
    out = redactor().text(f"note={quote_plus(text)}&more=1")
    for secret in (HEX_KEY, HEX_KEY[::-1], quote_plus(PASSWORD)):
        assert secret not in out
    assert out.startswith("note=Cookie")
    assert out.endswith("&more=1")


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[1mDB_PASSWORD\x1b[0m=\x1b[32m@@\x1b[0m",
        "config.env:\x1b[01;31m\x1b[Kpassword\x1b[m\x1b[K=@@",
        '\x1b[1;39m{\n  \x1b[0m\x1b[34;1m"client_secret"\x1b[0m\x1b[1;39m: \x1b[0m\x1b[0;32m"@@"\x1b[0m\x1b[1;39m\n}',
    ],
)
def test_colours_do_not_part_a_name_from_its_value(text: str) -> None:
    out = redactor().text(text.replace("@@", PASSWORD))
    assert PASSWORD not in out
    assert out.startswith(text[:8])
    assert redactor().text(out) == out


def test_credentials_may_be_short() -> None:
    for text in ("a:\u00fcb", "\u00fcser:p", "us:pa\u00df", "\U0001f511:x"):
        assert decode.credentials(base64.b64encode(text.encode()).decode()) == text


@given(
    st.text(alphabet="aZ09+/_-=.? \n\xe9\u212a", max_size=80)
    | st.lists(st.sampled_from(["a" * 19, "b", " ", "é", "+/", "="]), max_size=12).map("".join)
)
def test_long_runs_are_all_there_are(text: str) -> None:
    expected = [match.span() for match in re.finditer(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{20,}", text)]
    assert list(decode._long_runs(text)) == expected
