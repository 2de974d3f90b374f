"""Keys beside the names of services, without an assignment."""

from __future__ import annotations

import pytest
from redact_samples import redactor

from tachograph.redact.finders import services
from tachograph.redact.letters import cost, unlikely
from tachograph.redact.prefilter.index import Index
from tachograph.redact.rules.examples import hexa, lower, mixed, upper, uuid
from tachograph.redact.shapes import machine_made

REDACTOR = redactor()
GROUPS = "-".join((upper(6), hexa(6).upper(), upper(6), hexa(6).upper()))

MASKED = [
    (f"acme PRIVATE {lower(40)}", lower(40)),
    (f"acme SECRET key {mixed(24)}", mixed(24)),
    (f"acmeSECRETkey-{hexa(40)}", hexa(40)),
    (f"acme-secret-{uuid()}", uuid()),
    (f"acmeTOKEN {uuid()}", uuid()),
    (f"acme ACCESS {hexa(32)}", hexa(32)),
    (f"acme ACCESS {GROUPS}", GROUPS),
    (f"acme KEY {mixed(30)}==", mixed(30) + "=="),
    (f"deepgram {hexa(40)}", hexa(40)),
    (f"deepgram = {hexa(40)}", hexa(40)),
    (f'"deepgram": "{hexa(40)}"', hexa(40)),
    (f"deepgram-{uuid()}", uuid()),
    (f"deepgram token 1 == {hexa(40)}", hexa(40)),
    (f"pagerduty: Token token=u+{mixed(9)}_{mixed(10)}", "u+" + mixed(9) + "_" + mixed(10)),
    (f"telegram: 1234567890:{mixed(35)}", "1234567890:" + mixed(35)),
    (f"eventbrite private access key\n{upper(20)}", upper(20)),
    (f"deepgram.access.{mixed(40)}", mixed(40)),
    (f"acmeapiKEY-{uuid()}", uuid()),
    (f"acme access token {mixed(16)}", mixed(16)),
    (f"acme Access {mixed(26)}", mixed(26)),
]

KEPT = [
    f"commit {hexa(40)} adds access",
    f"the last access: {hexa(40)}",
    f"cache-key-{hexa(40)}",
    f"auth-service-{hexa(10)}-abcde",
    f"https://github.com/org/repo/blob/{hexa(40)}/src/auth/token.py#L3",
    f"https://discovery.googleapis.com/v1/projects/{hexa(32)}",
    f"sha256:{hexa(64)}",
    f'rev = "{hexa(40)}"',
    f"public key {mixed(44)}",
    f"next token {mixed(44)}",
    f"stripe client id {mixed(24)}",
    f"id: {uuid()}",
    f"github access denied for {hexa(40)}",
    "github api documentation_for_everybody",
    "datadog 2026-01-01T00:00:00",
    "openai gpt-4o-mini-2024-07-18",
    "twilio <your-account-token-here>",
    f"/{mixed(20)}/vj7UrBQxxFJ4API=\n{mixed(43)}=",
]


@pytest.mark.parametrize(("text", "secret"), MASKED, ids=range(len(MASKED)))
def test_masked(text: str, secret: str) -> None:
    out = REDACTOR.text(text)
    assert secret not in out
    assert REDACTOR.text(out) == out
    begin = text.index(secret)
    assert any(span.start <= begin and begin + len(secret) <= span.end for span in REDACTOR.spans(text))


@pytest.mark.parametrize("text", KEPT, ids=range(len(KEPT)))
def test_kept(text: str) -> None:
    assert services.find(text) == []


def test_letters() -> None:
    assert cost("x") == 0
    assert unlikely("vzihlaquknriqlht")
    assert not unlikely("xkqz")
    for words in ("authenticationrequired", "cloudfrontoriginaccess", "contrasenasegura", "antarktisbahnhofstrasse"):
        assert not unlikely(words)


@pytest.mark.parametrize("value", [uuid(), hexa(32), lower(24), upper(20), mixed(12), GROUPS, "u+" + mixed(9) + "_" + mixed(9)])
def test_machine_made(value: str) -> None:
    assert machine_made(value)


@pytest.mark.parametrize(
    "value",
    [
        "us-east-1",
        "authentication",
        "2026-01-01T00:00:00",
        "www.example.com",
        "aaaaaaaaaaaaaaaaaaaa",
        "my-application-name-in-words",
        "v1.2.3",
    ],
)
def test_not_machine_made(value: str) -> None:
    assert not machine_made(value)


@pytest.fixture(scope="module")
def compiled() -> Index:
    """The index of ``services`` alone."""
    index = Index(services.TRIGGERS)
    index.compile()
    return index


@pytest.mark.parametrize("far", [0, 40, 5000])
@pytest.mark.parametrize("text", [text for text, _ in MASKED])
def test_what_is_read_around_a_hit_is_enough(compiled: Index, text: str, far: int) -> None:
    """Only a window before each hit is looked at: the same is found there as in the whole text."""
    text = "word " * far + text + " word" * far
    assert services.find(text, compiled.engine(None).scan(text)) == services.find(text) != []
