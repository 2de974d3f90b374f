from __future__ import annotations

import pytest
from redact_samples import redactor, trace

from tachograph.redact.finders import headers
from tachograph.redact.rules.examples import hexa, mixed

REDACTOR = redactor()
TOKEN = mixed(32)
DIGEST = f'username="me", realm="x", nonce="{hexa(32)}", uri="/", response="{hexa(32)}"'
SIGV4 = f"Credential={mixed(20)}/20260101/us-east-1/s3/aws4_request, SignedHeaders=host;x-amz-date, Signature={hexa(64)}"


def masked(text: str) -> list[str]:
    return [text[found.start : found.end] for found in sorted(headers.find(text))]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"Authorization: vendorv1 {TOKEN}", TOKEN),
        (f"authorization: ApiKey-v1 {TOKEN}\r\nHost: x", TOKEN),
        (f"AUTHORIZATION: Custom {TOKEN}", TOKEN),
        (f'"Authorization": "ApiKey-v1 {TOKEN}"', TOKEN),
        (f"curl -H 'Authorization: Vendor {TOKEN}' https://x", TOKEN),
        (f"Proxy-Authorization: Vendor {TOKEN}", TOKEN),
        (f"Authorization: Digest {DIGEST}\nHost: x", DIGEST),
        (f"curl -H 'Authorization: Digest {DIGEST}' https://x", DIGEST),
        (f"Authorization: AWS4-HMAC-SHA256 {SIGV4}", SIGV4),
        (f'{{"Authorization": "AWS4-HMAC-SHA256 {SIGV4}", "x": 1', SIGV4),
        (f"Authorization: Token token={TOKEN}", f"token={TOKEN}"),
        (f'git config http.extraheader "AUTHORIZATION: vendor {TOKEN}"', TOKEN),
        (f'x = /oauth_signature="{TOKEN}%3D"/', TOKEN + "%3D"),
    ],
)
def test_in_a_text(text: str, secret: str) -> None:
    assert masked(text) == [secret]
    out = REDACTOR.text(text)
    assert trace(secret, out) is None
    assert REDACTOR.text(out) == out


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer ${TOKEN}",
        "Authorization: Bearer <your token here>",
        "Authorization: the process of deciding who may do what",
        'headers["Authorization"] = f"Custom {token}"',
        "authorization: required for all of these operations",
        'oauth_signature="<signature>"',
        "oauth_signature_method=HMAC-SHA1",
    ],
)
def test_nothing_secret(text: str) -> None:
    assert masked(text) == []


@pytest.mark.parametrize("name", ["Authorization", "proxy-authorization", "PROXY_AUTHORIZATION", "X-Authorization"])
@pytest.mark.parametrize("scheme", ["Bearer", "Basic", "Digest", "AWS4-HMAC-SHA256", "Token", "ApiKey-v1", "aivenv1"])
def test_a_header_keeps_its_scheme(name: str, scheme: str) -> None:
    for secret in (TOKEN, DIGEST, f"token={TOKEN}"):
        out = REDACTOR.header(name, f"{scheme} {secret}")
        assert trace(secret, out) is None
        assert out.startswith(f"{scheme} [REDACTED:authorization:")
        assert out.endswith("]")


@pytest.mark.parametrize("name", ["X-Vendor-Key", "x-acme-token", "X-Api-Token", "X-My-Secret", "Proxy-Auth-Token", "X-Acme-Signing-Key"])
def test_headers_of_ones_own(name: str) -> None:
    assert trace(TOKEN, REDACTOR.header(name, TOKEN)) is None


def test_all_cookies() -> None:
    out = REDACTOR.header("Cookie", f"a={TOKEN}; b=wordy-value; c={hexa(16)}")
    assert out.startswith("a=[REDACTED:")
    assert out.count("[REDACTED:") == 3
    assert "wordy-value" not in out
    assert hexa(16) not in out
