"""Addresses that are secrets: whoever has one can post, call or read. All of the address is masked, its scheme included.

Keywords are a host or the path that tells the vendor, because nothing else about these addresses is fixed.
"""

from __future__ import annotations

import re

from tachograph.redact.rules.examples import digits, hexa, letters, lower, mixed, uuid
from tachograph.redact.rules.rule import LEFT, RIGHT_WORD, Expression, Rule

#: The scheme and the names before a host; ``_REACH`` is how far that can reach.
_SCHEME = rf"(?:(?:https?|wss?)://|{LEFT})"
_HOST = _SCHEME + r"(?:[\w-]{1,63}\.){0,3}"
_REACH = 72


def address(
    id: str,  # noqa: A002 -- it is the rule's name for what it is
    pattern: str,
    *keywords: str,
    positive: tuple[str, ...],
    negative: tuple[str, ...],
    kind: str = "webhook",
    gate: str = "",
    left: str = _HOST,
) -> Rule:
    """An address: ``pattern`` begins with the host behind its subdomains, or with what ``left`` leaves of it."""
    return Rule(
        id=id,
        kind=kind,
        keywords=keywords,
        pattern=Expression(left + pattern + RIGHT_WORD, re.ASCII),
        positive=positive,
        negative=negative,
        reach=_REACH,
        inside=False,
        gate=gate,
    )


RULES: tuple[Rule, ...] = (
    address(
        "slack-webhook",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/(?:[A-Za-z0-9]{2,24}/){0,3}[A-Za-z0-9]{16,64}",
        "hooks.slack.com/",
        "hooks.slack-gov.com/",
        positive=(
            "https://hooks." + "slack.com/services/T0" + mixed(8) + "/B0" + mixed(8) + "/" + mixed(24),
            "hooks." + "slack.com/triggers/T0" + mixed(8) + "/" + digits(13) + "/" + hexa(32),
        ),
        negative=("https://hooks.slack.com/services/", "https://hooks.slack.com/workflows/T0/A0/x"),
        gate="hook",
        left=_SCHEME,
    ),
    address(
        "discord-webhook",
        r"discord(?:app)?\.com/api/(?:v\d{1,2}/)?webhooks/\d{15,20}/[\w-]{40,100}",
        "discord.com/api/",
        "discordapp.com/api/",
        positive=("https://discord.com/api/webhooks/" + digits(18) + "/" + mixed(68),),
        negative=("https://discord.com/api/webhooks/list",),
        gate="discord",
    ),
    address(
        "teams-webhook",
        r"(?:webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook)/[A-Za-z0-9@-]{30,100}"
        r"/(?:IncomingWebhook|[A-Za-z]{3,40})/[A-Za-z0-9-]{20,100}(?:/[A-Za-z0-9-]{20,100}){0,2}",
        "webhook.office.com/webhookb2/",
        "outlook.office.com/webhook/",
        "outlook.office365.com/webhook/",
        positive=(
            "https://acme.webhook.office.com/webhookb2/" + uuid() + "@" + uuid() + "/IncomingWebhook/" + hexa(32) + "/" + uuid(),
            "https://outlook.office.com/webhook/" + uuid() + "@" + uuid() + "/IncomingWebhook/" + hexa(32) + "/" + uuid(),
        ),
        negative=("https://acme.webhook.office.com/webhookb2/", "https://outlook.office.com/webhook/create"),
        gate="hook",
    ),
    address(
        "zapier-hook",
        r"hooks\.zapier\.com/hooks/(?:catch|standard)/(?:\d{4,10}/[A-Za-z0-9]{5,24}|[A-Za-z0-9]{12,40})",
        "hooks.zapier.com/hooks/",
        positive=("https://hooks.zapier.com/hooks/catch/" + digits(7) + "/" + lower(7) + "/",),
        negative=("https://hooks.zapier.com/hooks/catch/",),
        gate="hook",
        left=_SCHEME,
    ),
    address(
        "make-hook",
        r"hook\.(?:[eu][us]\d\.make|integromat)\.com/[a-z0-9]{20,64}",
        "hook.eu",
        "hook.us",
        "hook.integromat.com/",
        positive=("https://hook.eu1.make.com/" + lower(32), "https://hook.integromat.com/" + lower(32)),
        negative=("https://hook.eu1.make.com/",),
        gate="hook",
        left=_SCHEME,
    ),
    address(
        "ifttt-hook",
        r"maker\.ifttt\.com/trigger/[\w{}-]{1,80}/(?:json/)?with/key/[\w-]{20,64}",
        "maker.ifttt.com/",
        positive=("https://maker.ifttt.com/trigger/door/with/key/" + mixed(43),),
        negative=("https://maker.ifttt.com/trigger/door/with/key/",),
        left=_SCHEME,
    ),
    address(
        "lark-hook",  # Feishu is the same service in China
        r"(?:feishu\.cn|larksuite\.com)/open-apis/bot/(?:v\d/)?hook/[0-9a-f-]{32,36}",
        "feishu.cn/open-apis/",
        "larksuite.com/open-apis/",
        positive=("https://open.feishu.cn/open-apis/bot/v2/hook/" + uuid(),),
        negative=("https://open.feishu.cn/open-apis/bot/v2/hook/",),
        gate="/open-apis/",
    ),
    address(
        "chat-hook",  # servers that people run themselves: Mattermost, Rocket.Chat
        r"[a-z]{2,24}(?::\d{2,5})?/hooks/(?:[a-z0-9]{26}|[A-Za-z0-9]{17,24}/[A-Za-z0-9]{32,64})",
        "/hooks/",
        positive=("https://chat.acme.dev/hooks/" + lower(26), "https://chat.acme.dev/hooks/" + mixed(17) + "/" + mixed(48)),
        negative=("https://a.dev/hooks/post-commit", "/hooks/" + lower(26), "https://a.dev/hooks/" + lower(12)),
        gate="hook",
    ),
    address(
        "webex-hook",
        r"webexapis\.com/v1/webhooks/incoming/[\w-]{60,160}",
        "webexapis.com/v1/webhooks/incoming/",
        positive=("https://webexapis.com/v1/webhooks/incoming/" + mixed(96),),
        negative=("https://webexapis.com/v1/webhooks/incoming/",),
        gate="hook",
        left=_SCHEME,
    ),
    address(
        "pipedream-hook",
        r"eo[a-z0-9]{10,20}\.m\.pipedream\.net",
        ".m.pipedream.net",
        positive=("https://eo" + lower(13) + ".m.pipedream.net",),
        negative=("https://docs.m.pipedream.net",),
        left=_SCHEME,
    ),
    address(
        "pagerduty-hook",
        r"events\.(?:eu\.)?pagerduty\.com/integration/[0-9a-f]{32}(?:/enqueue)?",
        "pagerduty.com/integration/",
        positive=("https://events.pagerduty.com/integration/" + hexa(32) + "/enqueue",),
        negative=("https://events.pagerduty.com/integration/x/enqueue",),
        left=_SCHEME,
    ),
    address(
        "ping-address",
        r"hc-ping\.com/[0-9a-f-]{36}",
        "hc-ping.com/",
        positive=("https://hc-ping.com/" + uuid(),),
        negative=("https://hc-ping.com/my-slug",),
        left=_SCHEME,
    ),
    address(
        "node-address",  # nodes of block chains, with the key as the last part of the path
        r"(?:(?:alchemyapi\.io|alchemy\.com)/(?:nft/)?v\d/[\w-]{28,40}|infura\.io/(?:ws/)?v3/[0-9a-f]{32}"
        r"|quiknode\.pro/[0-9a-f]{40}|ankr\.com/[a-z_]{2,32}/[0-9a-f]{64}|blastapi\.io/[0-9a-f-]{36})",
        "alchemyapi.io/",
        "alchemy.com/",
        "infura.io/",
        "quiknode.pro/",
        "rpc.ankr.com/",
        "blastapi.io/",
        kind="url-key",
        positive=(
            "https://eth-mainnet.g.alchemy.com/v2/" + mixed(32),
            "wss://mainnet.infura.io/ws/v3/" + hexa(32),
            "https://a-b-c.quiknode.pro/" + hexa(40) + "/",
        ),
        negative=("https://www.alchemy.com/docs/get-started", "https://docs.infura.io/api/networks"),
    ),
    address(
        "device-address",  # ThingsBoard: the device's token is a part of the path
        r"[a-z]{2,24}(?::\d{2,5})?/api/v1/(?=[A-Za-z]{0,19}\d)[A-Za-z0-9]{20}/(?:telemetry|attributes|rpc|claim|provision)",
        "/telemetry",
        "/attributes",
        kind="url-key",
        positive=("https://thingsboard.cloud/api/v1/" + lower(20) + "/telemetry",),
        negative=("https://a.dev/api/v1/devices/telemetry", "https://a.dev/api/v1/" + "internationalization" + "/attributes"),
        left=rf"(?:(?:https?|coaps?|mqtts?)://|{LEFT})(?:[\w-]{{1,24}}\.){{0,3}}",
    ),
    address(
        "soap-address",
        r"api\.(?:service\.)?softlayer\.com/soap/v\d(?:\.\d)?/[0-9a-z]{64}",
        "softlayer.com/soap/",
        kind="url-key",
        positive=("https://api.softlayer.com/soap/v3/" + hexa(64),),
        negative=("https://api.softlayer.com/soap/v3/SoftLayer_Account?wsdl",),
        left=_SCHEME,
    ),
    address(
        "sentry-address",  # a "DSN": key, host and project
        r"(?:https?)://[0-9a-f]{32}(?::[0-9a-f]{32})?@(?:[\w-]{1,63}\.){0,3}sentry\.[\w.-]{2,80}/\d{1,20}",
        "sentry.",
        kind="url-key",
        positive=("https://" + hexa(32) + "@o1.ingest.sentry.io/" + digits(7), "https://" + hexa(32) + "@sentry.acme.dev/4"),
        negative=("https://sentry.io/organizations/", "import sentry.client", "https://public@sentry.example.com/1"),
        left="",
    ),
    Rule(
        id="telegram-address",  # a bot's token as the user of an address
        kind="telegram-token",
        keywords=("tgram://",),
        pattern=Expression(r"tgram://(?:bot)?(\d{8,12}:[\w-]{30,40})", re.ASCII),
        group=1,
        positive=("tgram" + "://" + digits(9) + ":" + mixed(35) + "/" + digits(6),),
        negative=("tgram://{token}/{chat}", "tgram://" + letters(12)),
        inside=False,
    ),
)
