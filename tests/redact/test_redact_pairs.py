"""A member that names the value of another one; a change in a plan."""

from __future__ import annotations

import json

import pytest
from redact_samples import PASSWORD, redactor

from tachograph.redact.rules.examples import mixed

WORD = "sun" + "flower42"
TOKEN = mixed(24)


def masked(text: str) -> list[str]:
    return [text[span.start : span.end] for span in redactor().spans(text)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ParameterKey", "ParameterValue"),
        ("Name", "Value"),
        ("key", "value"),
        ("option_name", "option_value"),
        ("OptionName", "Value"),
        ("name", "value"),
    ],
)
def test_json_in_either_order(one: str, other: str) -> None:
    for pair in ({one: "DbPassword", other: WORD}, {other: WORD, one: "DbPassword"}):
        text = json.dumps(pair)
        assert masked(text) == [WORD]
        assert masked("> " + text + " <") == [WORD]
        assert masked(json.dumps({"Parameters": [pair, {one: "Region", other: "eu-central-1"}]}, indent=2)) == [WORD]
        assert masked("> " + json.dumps(text)) == [WORD]


@pytest.mark.parametrize(
    "text",
    [
        f'<add key="ApiPassword" value="{WORD}"/>',
        f'<add value="{WORD}" key="ApiPassword"/>',
        f"<property>\n  <name>javax.jdo.option.ConnectionPassword</name>\n  <value>{WORD}</value>\n</property>",
        f"<dict>\n\t<key>ApiPassword</key>\n\t<string>{WORD}</string>\n</dict>",
        f'<setting name="DbPassword" serializeAs="String">\n  <value>{WORD}</value>\n</setting>',
        f'<entry key="db.password">{WORD}</entry>',
        f'<string name="api_password" translatable="false">{WORD}</string>',
        f"- name: DB_PASSWORD\n  value: {WORD}\n",
    ],
)
def test_elements_and_attributes(text: str) -> None:
    assert masked(text) == [WORD]


def test_a_plan_of_terraform() -> None:
    text = f"""\
  # aws_db_instance.main will be updated in-place
  ~ resource "aws_db_instance" "main" {{
        id             = "db-1"
      ~ engine_version = "14.7" -> "15.2"
      ~ password       = "{PASSWORD}" -> "{WORD}"
      ~ api_key        = (sensitive value)
      ~ master_secret  = (known after apply) -> "{TOKEN}"
      - old_password   = "{WORD}9" -> null
      ~ "auth_token"   = "{TOKEN[::-1]}" -> (known after apply)
    }}
"""
    assert masked(text) == [PASSWORD, WORD, TOKEN, WORD + "9", TOKEN[::-1]]


@pytest.mark.parametrize(
    "text",
    [
        '{"ParameterKey": "PasswordLength", "ParameterValue": "sixteen16"}',
        '> {"Value": "eu-central-1", "Key": "region"}',
        '{"value": "user", "name": "password"}',
        "<name>password</name>\n<value>${db.password}</value>",
        '<label id="password">Password</label>',
        '<label name="password">Your password, 8 characters</label>',
        '<string name="password_hint">sunflower42</string>',
        '  ~ password_version = "abc1def2" -> "abc1def3"',
        "  ~ password = (sensitive value)",
    ],
)
def test_what_is_no_secret(text: str) -> None:
    assert masked(text) == []
