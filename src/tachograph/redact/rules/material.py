"""Key material that belongs to no vendor: encoded private keys, JSON web tokens, password hashes.

Whole PEM blocks are not a rule but an algorithm: see ``tachograph.redact.finders.pem``.
"""

from __future__ import annotations

import base64
import re

from tachograph.redact.rules.examples import digits, hexa, letters, mixed, upper
from tachograph.redact.rules.rule import LEFT, LEFT_WORD, RIGHT, Expression, Rule, token

_SEGMENT = r"[A-Za-z0-9_-]"

#: A quote in JSON, in a string in JSON, or in a Python literal.
_QUOTE = r"\\{0,3}[\"']"


def _encoded(text: bytes, offset: int) -> str:
    """The characters that ``text`` always contributes to a base64 string in which it begins at ``offset`` modulo 3."""
    encoded = base64.b64encode(b"\0" * offset + text).decode()
    head = -(-offset * 8 // 6)
    return encoded[head : (offset + len(text)) * 8 // 6]


_PRIVATE_KEY = "|".join(_encoded(b"PRIVATE", offset) for offset in range(3))
_PEM_HEAD = _encoded(b"-----BEGIN ", 0)

RULES: tuple[Rule, ...] = (
    Rule(
        id="pem-base64",
        kind="private-key",
        keywords=(_PEM_HEAD,),
        pattern=Expression(rf"{_PEM_HEAD}[A-Za-z0-9+/]{{0,24}}(?:{_PRIVATE_KEY})(?:[A-Za-z0-9+/=_-]|\\[nr]|\s(?=[A-Za-z0-9+/=]{{40}}))*"),
        positive=("TLS_KEY=" + base64.b64encode(b"-----BEGIN " + b"EC PRIVATE KEY-----\nMHcCAQEEIA==\n").decode(),),
        negative=(base64.b64encode(b"-----BEGIN CERTIFICATE-----\nMHcCAQEEIA==\n").decode(),),
    ),
    Rule(
        id="jwt-base64",  # a token that was encoded once more
        kind="jwt",
        keywords=("ZXlK",),
        pattern=Expression(
            rf"{LEFT}ZXlK[A-Za-z0-9+/_-]{{8,700}}?(?:{'|'.join(_encoded(b'.eyJ', n) for n in range(3))})[A-Za-z0-9+/_-]{{20,8192}}={{0,2}}"
        ),
        positive=(base64.b64encode(("ey" + "JhbGciOiJIUzI1NiJ9" + ".ey" + "JzdWIiOiIxMjM0In0." + mixed(43)).encode()).decode(),),
        negative=("ZXlKhbGciOiJIUzI1NiJ9" + "A" * 20,),
        entropy=3.0,
    ),
    Rule(
        id="putty-key",
        kind="private-key",
        keywords=("Private-Lines: ",),
        pattern=Expression(r"Private-Lines: \d{1,4}(?:\r?\n|\\n|\\r)+((?:[A-Za-z0-9+/=]{1,80}(?:\r?\n|\\n|\\r|$)){1,400})"),
        group=1,
        positive=("Private-Lines: 2\n" + mixed(64) + "\n" + mixed(20) + "==\nPrivate-MAC: " + hexa(40),),
        negative=("Private-Lines: many",),
        inside=False,
    ),
    token(
        "jwt",  # the last part is empty when nothing is signed; the first says so
        rf"ey[JIA]{_SEGMENT}{{10,4096}}\.ey{_SEGMENT}{{8,8192}}(?:\.{_SEGMENT}{{6,4096}}={{0,2}}|\.(?![\w.]))?",
        "eyJ",
        "eyI",
        "eyA",
        positive=(
            "ey" + "JhbGciOiJIUzI1NiJ9" + ".ey" + "JzdWIiOiIxMjM0In0." + mixed(43),
            "ey" + "JhbGciOiJub25lIn0" + ".ey" + "JzdWIiOiIxMjM0In0.",
        ),
        negative=("eyJhbGciOiJIUzI1NiJ9", "eyJ.eyJ.x"),
        entropy=3.0,
        unless="",
    ),
    token(
        "jws",  # signed, of something else than JSON
        rf"eyJ(?:hbGciOiJ|0eXAiOiJK){_SEGMENT}{{6,2048}}\.{_SEGMENT}{{16,8192}}\.{_SEGMENT}{{20,4096}}",
        "eyJhbGciOiJ",
        "eyJ0eXAiOiJK",
        kind="jwt",
        positive=("ey" + "JhbGciOiJIUzI1NiJ9" + "." + mixed(40) + "." + mixed(43),),
        negative=("eyJhbGciOiJIUzI1NiJ9.short.x",),
        entropy=3.0,
        unless="",
    ),
    token(
        "jwe",
        rf"eyJ{_SEGMENT}{{10,4096}}\.{_SEGMENT}{{0,8192}}\.{_SEGMENT}{{10,64}}\.{_SEGMENT}{{2,8192}}\.{_SEGMENT}{{16,64}}",
        "eyJ",
        kind="jwt",
        positive=("ey" + "JhbGciOiJSU0EifQ." + mixed(60) + "." + mixed(16) + "." + mixed(40) + "." + mixed(22),),
        negative=("eyJhbGciOiJSU0EifQ.a.b",),
        entropy=3.0,
    ),
    token(
        "age-key",
        r"AGE-SECRET-KEY-(?:PQ-)?1[02-9AC-HJ-NP-Zac-hj-np-z]{50,120}",
        "AGE-SECRET-KEY-",
        kind="private-key",
        positive=(
            "AGE-" + "SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" + "QPZRY9X8GF2TVDW0S3JN54KHCE",
            "AGE-" + "SECRET-KEY-1" + "Q" * 58,
        ),
        negative=("AGE-SECRET-KEY-1",),
        entropy=0.0,
    ),
    token(
        "nkey-seed",
        r"S[ACNOUX][A-Z2-7]{56}" + RIGHT,
        *(f"S{c}" for c in "ACNOUX"),
        kind="private-key",
        positive=("S" + "UA" + upper(55),),
        negative=("SUPERSEDED", "SUA" + "B" * 60),
        left=LEFT_WORD,
        entropy=3.8,
    ),
    Rule(
        id="crypt-hash",
        kind="password-hash",
        keywords=("$",),
        pattern=Expression(
            r"\$(?:2[aby]\$\d\d\$[./A-Za-z0-9]{53}"
            r"|(?:1|apr1)\$[^\s$:\"']{1,8}\$[./A-Za-z0-9]{22}"
            r"|[56]\$(?:rounds=\d{1,9}\$)?[^\s$:\"']{1,16}\$[./A-Za-z0-9]{43,86}"
            r"|[89]\$[./A-Za-z0-9]{14}\$[./A-Za-z0-9]{43}"
            r"|krb5(?:asrep|tgs)\$\d{2}\$[^\s\"']{60,8192}"
            r"|y\$[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}"
            r"|argon2(?:id|i|d)\$v=\d{1,3}\$m=\d{1,9},t=\d{1,4},p=\d{1,3}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,180}"
            r"|pbkdf2[\w-]{0,10}\$\d{1,8}\$[./A-Za-z0-9+]{4,64}\$[./A-Za-z0-9+=]{16,120}"
            r"|scrypt\$ln=\d{1,3},r=\d{1,3},p=\d{1,3}\$[A-Za-z0-9+/]{8,90}\$[A-Za-z0-9+/]{16,180}"
            r"|sha1\$\d{1,8}\$[./A-Za-z0-9]{1,64}\$[./A-Za-z0-9]{28})"
        ),
        positive=("$2" + "b$12$" + mixed(53), "root:$6" + "$" + mixed(8) + "$" + mixed(86) + ":19000::"),
        negative=("echo $1$2", "$2b$12$short"),
        inside=False,
    ),
    Rule(
        id="bearer",
        kind="authorization",
        keywords=("earer ",),
        pattern=Expression(r"(?<=[Bb])earer ((?=[A-Za-z0-9_.~+/-]*\d)[A-Za-z0-9_.~+/-]{16,4096}={0,2})"),
        group=1,
        positive=("Authorization: Bearer " + mixed(40),),
        negative=("The bearer of this ticket may enter", "Bearer " + letters(10), "Bearer <token>", "bearer-" + digits(20)),
        inside=False,
        entropy=3.0,
    ),
    Rule(
        id="basic",
        kind="authorization",
        keywords=("Basic ",),
        pattern=Expression(r"(?<![A-Za-z])Basic ((?=[A-Za-z]*(?:[0-9+/=]|[a-z][A-Z]))[A-Za-z0-9+/]{8,1024}={0,2})(?![A-Za-z0-9+/=])"),
        group=1,
        positive=("authorization: Basic " + base64.b64encode(b"svc:" + b"pa55-w0rd-x").decode(),),
        negative=("Basic understanding of networks", "Basic Authentication"),
        inside=False,
        entropy=2.8,
    ),
    token(
        "ntlm-answer",  # the third message of NTLM, which holds the answer to the challenge
        r"TlRMTVNTUAADAAAA[A-Za-z0-9+/]{40,4096}={0,2}",
        "TlRMTVNTUAADAAAA",
        kind="authorization",
        positive=("TlRMTVNTUAAD" + "AAAAGAAYAFYAAAAYABgAbgAAAA" + mixed(120) + "=",),
        negative=("TlRMTVNTUAABAAAAl4II4gAAAAAAAAAAAAAAAAAAAAAKAGFKAAAADw==",),
        entropy=2.0,
        unless="",
    ),
    Rule(
        id="jwk",  # the private members of a JSON web key; its public ones are e, n, x and y
        kind="private-key",
        keywords=tuple(quoted % name for name in ("d", "dp", "dq", "qi", "p", "q") for quoted in ('"%s"', "'%s'", '"%s\\"')),
        pattern=Expression(
            r"[\"'](?:d|d[pq]|qi|p|q)" + _QUOTE + r"\s{0,8}:\s{0,8}" + _QUOTE + r"([\w-]{42,1400})(?=" + _QUOTE + ")", re.ASCII
        ),
        group=1,
        positive=(
            '{"kty":"EC","d":"' + mixed(43) + '"}',
            "{'kty': 'RSA', 'qi': '" + mixed(170) + "'}",
            '{\\"p\\":\\"' + mixed(171) + '\\"}',
        ),
        negative=('{"d":"' + hexa(64) + '"}', '{"q":"what-is-a-web-key-and-why-should-anyone-have-one"}', '{"id":"' + mixed(43) + '"}'),
        inside=False,
        entropy=4.2,
    ),
    Rule(
        id="jwk-oct",  # a symmetric key: short, so its type must stand beside it
        kind="private-key",
        keywords=('"oct"', "'oct'", '"oct\\"'),
        pattern=Expression(
            r"[\"']oct" + _QUOTE + r"[^{}]{0,400}?[\"']k" + _QUOTE + r"\s{0,8}:\s{0,8}" + _QUOTE + r"([\w-]{16,1400})", re.ASCII
        ),
        group=1,
        positive=('{"kty":"oct","k":"' + mixed(22) + '"}', '{"kty": "oct", "alg": "A128KW", "k": "' + mixed(43) + '"}'),
        negative=('{"kty":"oct","kid":"' + mixed(22) + '"}', '{"kty":"oct"}, {"k":"' + mixed(22) + '"}'),
        inside=False,
        entropy=2.5,
    ),
)
