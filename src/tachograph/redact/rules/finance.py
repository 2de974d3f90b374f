"""Keys of markets, chains and wallets."""

from __future__ import annotations

from tachograph.redact.rules.examples import hexa, letters, lower, mixed, upper
from tachograph.redact.rules.prefixed import prefixed
from tachograph.redact.rules.rule import LEFT_BASE64, LEFT_WORD, RIGHT, RIGHT_BASE64, Expression, Rule, token

#: Bitcoin's alphabet, without the letters that look like others.
_BASE58 = "[1-9A-HJ-NP-Za-km-z]"


def _base58(n: int) -> str:
    return "".join(c for c in mixed(4 * n) if c not in "0OIl")[:n]


RULES: tuple[Rule, ...] = (
    prefixed("alchemy-token", "alcht_", "url", 28, 48),
    prefixed("blockfrost-key", "mainnet preprod preview ipfs testnet", "mixed", 32, 32, word=True, entropy=3.8),
    prefixed("coingecko-key", "CG-", "mixed", 24, 24, word=True),
    token(
        "bip32-private-key",
        rf"[xyztuv]prv{_BASE58}{{100,112}}",
        *(f"{c}prv" for c in "xyztuv"),
        kind="wallet-key",
        positive=("x" + "prv" + _base58(107),),
        negative=("xprv" + _base58(20),),
        entropy=4.0,
    ),
    token(
        "wallet-import-key",
        rf"(?:5[HJK]{_BASE58}{{49}}|[KL][1-5]{_BASE58}{{50}})" + RIGHT_BASE64,
        "5H",
        "5J",
        "5K",
        *(f"{c}{n}" for c in "KL" for n in range(1, 6)),
        kind="wallet-key",
        positive=("5" + "J" + _base58(49), "K" + "2" + _base58(50)),
        negative=("5J" + _base58(20), "L2" + hexa(64)),
        left=LEFT_BASE64,
        entropy=4.5,
    ),
    prefixed("nostr-key", "nsec1", "lower", 58, 58, kind="wallet-key"),
    token(
        "stellar-seed",
        r"S[A-D][A-Z2-7]{54}" + RIGHT_BASE64,
        "SA",
        "SB",
        "SC",
        "SD",
        kind="wallet-key",
        positive=("S" + "B" + upper(54),),
        negative=("SB" + upper(20),),
        left=LEFT_BASE64,
        entropy=4.0,
    ),
    prefixed("cardano-key", "ed25519_sk1 ed25519e_sk1 addr_xsk1 root_xsk1 acct_xsk1 stake_xsk1 xprv1", "lower", 58, 220, kind="wallet-key"),
    token(
        "tezos-key",
        rf"(?:edsk|spsk|p2sk|edesk|spesk|p2esk){_BASE58}{{50,98}}" + RIGHT,
        "edsk",
        "spsk",
        "p2sk",
        "edesk",
        "spesk",
        "p2esk",
        kind="wallet-key",
        positive=("ed" + "sk" + _base58(50),),
        negative=("edsk" + _base58(10),),
        entropy=4.0,
    ),
    prefixed("sui-key", "suiprivkey1", "lower", 55, 75, kind="wallet-key"),
    Rule(
        id="aptos-key",
        kind="wallet-key",
        keywords=("-priv-0x",),
        pattern=Expression(LEFT_WORD + r"(?:ed25519|secp256k1)-priv-0x[0-9a-fA-F]{64}"),
        positive=("ed25519-" + "priv-0x" + hexa(64),),
        negative=("ed25519-priv-0x12",),
        reach=9,
    ),
    Rule(
        id="near-key",
        kind="wallet-key",
        keywords=("ed25519:", "secp256k1:"),
        pattern=Expression(LEFT_WORD + rf"(?:ed25519|secp256k1):{_BASE58}{{84,90}}" + RIGHT),
        positive=("ed25519" + ":" + _base58(88),),
        negative=("ed25519:" + _base58(44),),  # a public key
        inside=False,
        entropy=4.0,
    ),
    prefixed("zcash-key", "secret-extended-key-main1 secret-extended-key-test1", "lower", 60, kind="wallet-key"),
    prefixed("macaroon", "MDAxY2xvY2F0aW9u MDAxNGxvY2F0aW9u MDAxM2xvY2F0aW9u MDAxNWxvY2F0aW9u MDAyNGxvY2F0aW9u", "base64", 60, 2000),
    prefixed("lnd-macaroon", "0201036c6e64", "hex", 80, 2000, kind="macaroon"),
    prefixed("minisign-secret-key", "RWRTY0Iy", "base64", 100, 260, kind="private-key"),
    token(
        "tink-invest-token",
        r"t\.(?=[\w-]{0,40}\d)[\w-]{86}(?![\w-])",
        "t.",
        positive=("t" + "." + mixed(86),),
        negative=("t.name", "set." + mixed(86)),
        left=LEFT_WORD,
        entropy=4.5,
    ),
    token(
        "alpaca-key",
        r"PK[A-Z0-9]{18}" + RIGHT,
        "PK",
        positive=("P" + "K" + upper(18),),
        negative=("PK" + letters(4), "PK" + lower(18)),
        left=LEFT_WORD,
        entropy=3.3,
    ),
)
