"""Tokens of content, files, maps, media, documents and things."""

from __future__ import annotations

from tachograph.redact.rules.examples import mixed
from tachograph.redact.rules.prefixed import prefixed
from tachograph.redact.rules.rule import LEFT_WORD, Rule, token

RULES: tuple[Rule, ...] = (
    token(
        "prismic-token",
        r"MC5[A-Za-z0-9_-]{20,80}\.[\w-]{20,160}",
        "MC5",
        positive=("MC" + "5Y" + mixed(24) + "." + mixed(60),),
        negative=("MC5.name",),
        left=LEFT_WORD,
        entropy=4.0,
    ),
    prefixed("builder-key", "bpk-", "hex", 32, 32),
    prefixed("backblaze-key", "K000 K001 K002 K003 K004 K005", "base64", 27, 27, word=True, entropy=4.0),
    prefixed("imagekit-key", "private_", "base64", 27, 28, word=True, entropy=4.0),
    prefixed("locationiq-key", "pk.", "hex", 28, 40, word=True),
    prefixed("radar-key", "prj_live_sk_ prj_test_sk_", "hex", 36, 48),
    prefixed("foursquare-key", "fsq3", "base64", 40, 48, entropy=3.5),
    prefixed("arcgis-key", "AAPK AAPT", "dotted", 50, 400, word=True, entropy=4.0),
    prefixed("openrouteservice-key", "5b3ce3597851110001cf6248", "hex", 32, 32),
    prefixed("pdf-key", "pdf_live_ pdf_test_", "mixed", 30, 80),
    prefixed("bannerbear-key", "bb_pr_ bb_ma_", "hex", 28, 40),
)
