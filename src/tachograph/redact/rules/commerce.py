"""Keys of payment, commerce, banking and logistics services."""

from __future__ import annotations

from tachograph.redact.rules.examples import digits, hexa
from tachograph.redact.rules.prefixed import prefixed
from tachograph.redact.rules.rule import LEFT_WORD, Expression, Rule, token

RULES: tuple[Rule, ...] = (
    prefixed("paddle-webhook-secret", "pdl_ntfset_", "url", 40, kind="payment-key"),
    prefixed("polar-token", "polar_oat_ polar_pat_ polar_whs_ polar_at_u_ polar_at_o_ polar_rt_u_ polar_cs_ polar_ci_", "mixed", 30, 100),
    prefixed("creem-key", "creem_ creem_test_", "mixed", 18, 40, entropy=3.5),
    prefixed("mollie-token", "access_ refresh_", "mixed", 28, 48, word=True, entropy=4.0),
    prefixed("xendit-key", "xnd_development_ xnd_production_", "mixed", 30, 120),
    prefixed("midtrans-key", "SB-Mid-server- Mid-server-", "url", 20, 40, word=True),
    prefixed("omise-key", "skey_ skey_test_", "lower", 19, 19),
    prefixed("pagarme-key", "ak_live_ ak_test_ ek_live_ ek_test_", "mixed", 20, 64, word=True),
    token(
        "mercadopago-test-token",
        r"TEST-\d{8,20}-\d{6}-[0-9a-f]{32}-\d{5,12}",
        "TEST-",
        kind="mercadopago-token",
        positive=("TE" + "ST-" + digits(16) + "-010203-" + hexa(32) + "-123456789",),
        negative=("TEST-1234",),
    ),
    prefixed("wompi-key", "prv_prod_ prv_test_ prv_stagtest_", "mixed", 28, 64),
    prefixed("khalti-key", "live_secret_key_ test_secret_key_", "hex", 32),
    prefixed("cashfree-secret", "cfsk_ma_prod_ cfsk_ma_test_", "url", 36, 64),
    prefixed("monnify-key", "MK_PROD_ MK_TEST_", "upper", 10, 16, word=True),
    prefixed("seerbit-key", "SBSECK_ SBTESTSECK_", "mixed", 20, 64),
    Rule(
        id="circle-key",
        kind="circle-key",
        keywords=("_API_KEY:",),
        pattern=Expression(LEFT_WORD + r"(?:TEST|LIVE|SAND|SMOKEBOX)_API_KEY:[0-9a-f]{32}:[0-9a-f]{32}"),
        positive=("TEST" + "_API_KEY:" + hexa(32) + ":" + hexa(32),),
        negative=("TEST_API_KEY:x",),
        reach=8,
        inside=False,
        gate="_API_KEY:",
    ),
    prefixed("brex-token", "bxt_", "mixed", 30, 64),
    prefixed("mercury-token", "mercury_production_ mercury_sandbox_", "mixed", 16),
    prefixed("woocommerce-key", "ck_ cs_", "hex", 40, 40, word=True),
    prefixed("secret-of-32", "secret_", "mixed", 32, 32, word=True, entropy=3.8, kind="secret-key"),
    prefixed("whop-key", "apik_", "mixed", 20, 100, word=True, entropy=3.5),
    prefixed("iex-test-key", "Tsk_", "hex", 32),
    prefixed("aftership-key", "asat_", "hex", 32),
    prefixed("easyship-key", "prod_ sand_", "base64", 43, 60, word=True, entropy=4.2),
    prefixed("samsara-token", "samsara_api_", "mixed", 28, 40),
    prefixed("squad-key", "sandbox_sk_", "hex", 36),
    prefixed("checkout-key", "sk_sbox_", "lower", 26, 32),
    prefixed("conekta-key", "key_", "mixed", 20, 26, word=True, entropy=4.0),
    Rule(
        id="braintree-tokenization-key",
        kind="braintree-token",
        keywords=("production_", "sandbox_"),
        pattern=Expression(LEFT_WORD + r"(?:production|sandbox)_[a-z0-9]{8}_[a-z0-9]{16}(?![A-Za-z0-9_])"),
        positive=("sand" + "box_" + "k3v9q2xz" + "_" + "7m1c8b4w6h5t0ydn",),
        negative=("sandbox_settings_name",),
        entropy=3.5,
    ),
)
