from __future__ import annotations

import pytest
from redact_samples import redactor

from tachograph.redact.finders import calls
from tachograph.redact.rules.examples import mixed

WORD = mixed(14)


def masked(text: str) -> list[str]:
    return [text[found.start : found.end] for found in sorted(calls.find(text))]


@pytest.mark.parametrize(
    "text",
    [
        'sender.Credentials = new NetworkCredential("me@example.com", "{}");',
        'new-object System.Net.NetworkCredential("me", "{}");',
        "requests.get(url, auth=HTTPBasicAuth('me', '{}'))",
        "requests.get(url, auth=('me', '{}'))",
        "HTTPBasicAuth(user, '{}')",
        'new DirectoryEntry("LDAP://10.0.0.1",\n    "domain\\me", "{}")',
        '$db = mysqli_connect("localhost", "me", "{}", "db");',
        'DriverManager.getConnection(url, "me", "{}")',
        'new BasicAWSCredentials("AKID", "{}")',
        'req.SetBasicAuth("me", "{}")',
        'smtp.PlainAuth("", "me", "{}", "host")',
        'server.login("me@example.com", "{}")',
        'AzureKeyCredential("{}")',
        'easy_setopt(curl, CURLOPT_PASSWORD, "{}");',
        'curl_setopt($c, CURLOPT_XOAUTH2_BEARER, "{}");',
        "[CURLOPT_PASSWORD => '{}']",
    ],
)
def test_what_is_masked(text: str) -> None:
    assert masked(text.format(WORD)) == [WORD]
    assert WORD not in redactor().text(text.format(WORD))


def test_a_pair_goes_whole() -> None:
    assert masked(f'easy_setopt(curl, CURLOPT_USERPWD, "me:{WORD}");') == [f"me:{WORD}"]
    assert masked(f'easy_setopt(curl, CURLOPT_PROXYUSERPWD, "me:{WORD}");') == [f"me:{WORD}"]


@pytest.mark.parametrize(
    "text",
    [
        "HTTPBasicAuth(user, password)",
        "HTTPBasicAuth('user', 'pass')",
        'requests.get(url, auth=("user", "password"))',
        'NetworkCredential("me", Environment.GetEnvironmentVariable("PW"))',
        'class NetworkCredential(Base, "a"):',
        'easy_setopt(curl, CURLOPT_PASSWORD, "<password>");',
        'easy_setopt(curl, CURLOPT_USERPWD, "user:password");',
        'easy_setopt(curl, CURLOPT_URL, "https://example.com/abcdef12");',
        'page.login("me", "the dashboard")',
        'mysqli_connect("localhost", "me")',
        'AzureKeyCredential("<key>")',
    ],
)
def test_what_is_kept(text: str) -> None:
    assert masked(text) == []
