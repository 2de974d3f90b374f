"""What a name says about its value: ``client_secret`` yes, ``max_tokens`` no, ``session_token`` yes, ``next_token`` no.

A name is split into words (``camelCase``, ``snake_case``, ``kebab-case``, dots); its last telling word decides, the words before it
can take the decision back.

- STRICT: the value is a secret unless it is plainly something else (``password``, ``client_secret``, ``api_key``).
- LIKELY: the value is a secret if it looks like one (``token``, ``STRIPE_KEY``, ``auth``).
- NONE: the name says nothing.
"""

from __future__ import annotations

import enum
from functools import lru_cache
from typing import NamedTuple

from tachograph.redact.lazy import expression
from tachograph.redact.words import table


class Strength(enum.IntEnum):
    """How much a name proves."""

    NONE = 0
    LIKELY = 1
    STRICT = 2


class Named(NamedTuple):
    """What a name says: how surely, and what kind of secret (the placeholder's kind)."""

    strength: Strength
    kind: str


NOTHING = Named(Strength.NONE, "")

#: Words that end a name which is *about* a secret and does not hold it.
ABOUT = table(
    """
    name names id ids type types kind count counts limit limits url uri urls uris path paths file files filename dir directory
    folder length len size max min ttl expiry expires expired expiration exp expire age algorithm alg algo format policy
    policies field fields label labels hint prompt error errors message required enabled disabled version ref reference arn
    regex pattern position index idx placeholder env var vars variable source provider manager service class endpoint header
    headers prefix suffix status usage budget cost rate per remaining reset window strength rules rule complexity reminder
    tokenizer encoding model mode scope scopes audience issuer role user username email login owner created updated at date time
    timestamp duration seconds ms days interval rotation description desc title help text input output form screen page modal
    dialog button link handler callback func function method validator validation check checker valid invalid match matches
    exists set present missing changed required generator factory store storage provider vault backend manager chain ring chains
    pair pairs pairs ids map maps list lists array dict table schema column property properties spec config configuration
    settings options params request response template attribute sock socket host hosts port domain server region bucket queue
    topic group groups details info metadata meta data object objects flow grant challenge verifier_method support supported
    allowed needed strategy action actions event events stats summary total totals detail word words press code_challenge_method
    usages operation ops bits hash hashes digest fingerprint sha sha1 sha256 sha512 md5 checksum thumbprint signature_algorithm
    ending last4 last_four suffix mask masked redacted hidden visibility cache cached up down left right frame
    """
)

#: Words at the end that say nothing either way and are looked through.
THROUGH = table(
    """
    value val plain plaintext raw string str prod production stage staging dev development test testing live sandbox new old
    current previous default primary secondary admin main backup base base64 b64 encoded decoded encrypted secure sec global
    local temp tmp env1 one two eu us a b x yaml json prd stg qa uat secret_value any me it here
    """
)

_PASSWORD = table(
    """
    password passwd passwort passphrase passcode pwd pword passwrd pasword pswd psw passw motdepasse contrasena senha userpass
    dbpass mypass rootpass mysqlpass passwords passwds pwds
    haslo heslo wachtwoord kennwort salasana adgangskode losenord
    contrasenia mdp psk bindpw rootpw parool lozinka jelszo sifre passord
    """
)

#: Those that are also the word for a key, a code or any word.
_PERHAPS_PASSWORD = table("clave parola sandi passe")

#: Before ``pass``: no pass over a text and no boarding pass.
_WHOSE = table(
    """
    db database user usr admin root auth login smtp mail imap ftp sftp ssh mysql postgres pg redis mongo mongodb rabbitmq amqp ldap proxy app
    basic account acc keystore truststore cert jdbc wifi vpn http mqtt neo4j elastic
    """
)

#: Misspellings: ``pswd``, ``psswrd``, ``paasword``, ``passworsd``.
_MISSPELT = expression(r"pa{0,2}s{1,3}w[or]{0,3}s?ds?\Z")

#: "Password" in other scripts and with the accents of other languages, lower-case.
FOREIGN = (
    "비밀번호",
    "비번",
    "패스워드",
    "암호",
    "пароль",
    "密码",
    "密碼",
    "口令",
    "パスワード",
    "暗証番号",
    "contraseña",
    "jelszó",
    "mật_khẩu",
    "hasło",
    "lösenord",
    "şifre",
    "κωδικός",
    "סיסמה",
    "كلمة المرور",
    "كلمة السر",
    "पासवर्ड",
    "รหัสผ่าน",
    "mật khẩu",
)
_SECRET = table(
    """
    secret secrets secrete geheimnis credential credentials cred creds clientsecret appsecret consumersecret
    """
)
_KEY = table(
    """
    apikey apikeys secretkey privatekey accesskey authkey apisecret masterkey encryptionkey signingkey licensekey accountkey
    apitoken sharedkey subscriptionkey storagekey pkey aeskey
    """
)
_TOKEN = table(
    """
    accesstoken authtoken refreshtoken idtoken bearertoken sessiontoken oauthtoken usertoken bottoken jwt bearer pat
    """
)

#: Endings of words written without any separator: ``PGPASSWORD``, ``dbpassword``, ``myapikey``.
_GLUED = (
    ("password", "password"),
    ("passwd", "password"),
    ("passphrase", "password"),
    ("secretkey", "key"),
    ("privatekey", "key"),
    ("accesskey", "key"),
    ("apikey", "key"),
    ("clientsecret", "secret"),
    ("accesstoken", "token"),
    ("authtoken", "token"),
    ("apitoken", "token"),
)

#: Before ``token``: surely one that opens something.
_OPENING = table(
    """
    access auth authorization authentication refresh bearer api apitoken bot secret private personal oauth oauth2 csrf xsrf
    security service deploy deployment session jwt id user app application admin root login sso saml registration reset
    verification invite invitation webhook ci npm pypi github gitlab slack vault registry runner agent device push publish write
    read signing ingest account pat sas sts integration consumer customer developer dev machine node worker management
    machine_user upload
    """
)

#: Before ``token``: text or paging, not access.
_HARMLESS_TOKEN = table(
    """
    public publishable next page paging pagination continuation continue max min num number total prompt completion input output
    cached reasoning eos bos pad unk sep cls mask special stop start end begin prev previous sync cancellation cancel first last
    per new single word sub current design image text audio fim prefix middle suffix control reserved added extra lookahead peek
    parse lex lexer expected unexpected keyword operator identifier punctuation string number comment line eof newline indent
    dedent whitespace thinking theme color css semantic budget used remaining usage context window delta resume scroll cursor
    starting ending marker change shard erc20 request action idempotency erc721 nft governance native lp sample draft accepted
    rejected target source position bracket paren comma
    """
)

#: Before ``key``: surely a secret.
_OPENING_KEY = table(
    """
    api secret private access auth authentication encryption encrypt decryption signing sign master license licence account
    shared subscription consumer hmac aes rsa ssh gpg pgp crypto cipher jwt webhook deploy session service storage admin
    activation product ingestion ingest integration wrapping unseal recovery root vault server team developer
    """
)

#: Before ``key``: the key of a map, a table, a piano.
_HARMLESS_KEY = table(
    """
    primary foreign public sort partition hash range cache idempotency dedup dedupe deduplication object registry row group
    index map dict unique composite natural surrogate routing lookup hot short shortcut arrow enter i18n translation message
    json yaml state query react item column field property prop record entity node doc document header env environment option
    setting attribute param parameter tab escape esc ctrl control alt shift meta command cmd function fn left right up down home
    page delete backspace space return s3 bucket file path host known order join merge match pivot legend chord major minor
    piano dictionary config configuration candidate data label metric tag topic event kafka redis memo cached storage_object
    render list element first last next prev previous current old new parent child default sorting grouping filter
    feature flag context session_state store localstorage cookie widget component type name id user pub pubkey verify
    verification verifying certificate cert issue project jira ticket space page per public publishable by for of is in has get
    set on to with the this that each same wrong right missing duplicate invalid valid such host_key hostkey trusted keyboard
    soft modifier accelerator access_modifier nav navigation menu trace span aggregation bucket answer main extra result limit
    websocket socket required optional non same missing nested inner outer root_object base dotted full string int str bytes tuple
    """
)

#: Header and field names that decide alone, after lower-casing and with ``_`` as ``-``.
EXACT: dict[str, Named] = {
    **{
        name: Named(Strength.STRICT, "authorization")
        for name in (
            "authorization",
            "proxy-authorization",
            "x-authorization",
            "x-amz-security-token",
            "x-amz-credential",
            "x-amz-signature",
        )
    },
    **{name: Named(Strength.STRICT, "cookie") for name in ("cookie", "set-cookie", "cookies", "set-cookie2")},
    **{name: Named(Strength.LIKELY, "token") for name in ("phpsessid", "jsessionid", "connect.sid")},
    **{name: Named(Strength.LIKELY, "signature") for name in ("sig", "x-goog-signature", "x-goog-credential")},
    **{name: Named(Strength.STRICT, "pin") for name in ("otp", "pin", "cvv", "cvc", "totp", "mfa-code", "otp-code", "pin-code", "pincode")},
    **{name: Named(Strength.LIKELY, "password") for name in ("pass", "pw")},
    **{name: Named(Strength.LIKELY, "token") for name in ("sonar.login", "sonar-login", "sonarlogin")},
    "auth": Named(Strength.LIKELY, "authorization"),
    "secret-id": Named(Strength.LIKELY, "secret"),
    "bearer": Named(Strength.LIKELY, "token"),
    "secret-key-base": Named(Strength.STRICT, "key"),
    "secret-hash": Named(Strength.LIKELY, "secret"),
    "requirepass": Named(Strength.STRICT, "password"),
    "masterauth": Named(Strength.STRICT, "password"),
    "identified-by": Named(Strength.STRICT, "password"),
    "connection-string": Named(Strength.LIKELY, "secret"),
    "connectionstring": Named(Strength.LIKELY, "secret"),
    "private-token": Named(Strength.STRICT, "token"),
    "code-verifier": Named(Strength.LIKELY, "secret"),
    "client-assertion": Named(Strength.LIKELY, "token"),
}

_CAMEL = expression(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


def words(name: str) -> list[str]:
    """The words of a name, lower-case: ``fooBarHTTPKey2`` gives foo, bar, http, key, 2."""
    return [word.lower() for word in _CAMEL.findall(name)]


#: The shell's working directories, which look like the abbreviation of "password".
FOLDERS = ("PWD", "OLDPWD")


_SURE = expression(r"(TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|API_?KEY|PRIVATE_?KEY|ACCESS_?KEY|AUTH_?KEY)S?\Z")


def variable(name: str) -> Named:
    """What the name of an environment variable says. More than the same name in a text: nobody exports the tokens of a parser."""
    said = named(name)
    found = _SURE.search(name.upper())
    if found is None or said.strength is Strength.STRICT:
        return said
    word = found[1]
    kind = "token" if word == "TOKEN" else "secret" if word in ("SECRET", "CREDENTIAL") else "key" if word.endswith("KEY") else "password"
    return Named(Strength.STRICT, said.kind or kind)


def folder(name: str, value: str) -> bool:
    """Whether a variable is one of the shell's working directories, and not a password of that name."""
    return name in FOLDERS and value.startswith("/")


@lru_cache(maxsize=8192)
def named(name: str) -> Named:
    """What a name says about its value."""
    if not 2 <= len(name) <= 128 or "[redacted" in name.lower():  # what stood there was a secret; the kind of it is no name of the next one
        return NOTHING
    exact = EXACT.get(name.lower().replace("_", "-").strip("-. "))
    if exact is not None:
        return exact
    if not name.isascii() and any(word in name.lower() for word in FOREIGN):
        return Named(Strength.STRICT, "password")
    parts = words(name)
    said = _last(parts[:])
    return said if said.strength or len(parts) < 2 else _middle(parts)


def singular(name: str) -> str:
    """The name of one, of a name of several: of ``api_keys`` it is ``api_key``. Other names come back as they are."""
    return name[:-1] if name.lower().endswith(("keys", "tokens", "secrets", "passwords", "credentials", "passphrases", "cookies")) else name


class Voice(enum.IntEnum):
    """How far a name in a text speaks for itself."""

    MUTE = 0  #: it says nothing, whatever is before it: ``keyword``
    SECOND = 1  #: it says nothing by itself: ``key``, but ``api key``
    SPEAKS = 2


@lru_cache(maxsize=8192)
def voice(name: str) -> Voice:
    """Whether a name, or one of its parts between dots, says anything, alone or behind another word."""
    parts = set()
    for each in (name, name.lower(), singular(name)):
        between = each.replace("$", ".").split(".")
        parts |= {part.strip("-_") for part in between}
        parts |= {".".join(between[:end]).strip("-._") for end in range(2, len(between) + 1)}
    if any(named(part).strength for part in parts):
        return Voice.SPEAKS
    return Voice.SECOND if any(named("api_" + part).strength for part in parts) else Voice.MUTE


def about(name: str) -> bool:
    """Whether a name below a secret's name is about that secret: its type, owner, date."""
    return any(word in ABOUT for word in words(name))


def _middle(parts: list[str]) -> Named:
    """``password_super_secure``: the telling word is not the last one, and no word behind it says that the name is about a secret."""
    for index in range(len(parts) - 1, -1, -1):
        word = parts[index]
        if word in ABOUT or word in ("less", "free"):
            return NOTHING
        if word in _INSIDE and index < len(parts) - 1:
            return Named(Strength.LIKELY, _INSIDE[word])
    return NOTHING


_INSIDE = {
    **dict.fromkeys(("password", "passwd", "passphrase", "pwd"), "password"),
    **dict.fromkeys(("secret", "secrete"), "secret"),
    **dict.fromkeys(("apikey", "secretkey", "privatekey"), "key"),
}


def _last(parts: list[str]) -> Named:
    """What the last telling word of a name says."""
    while parts and (parts[-1].isdigit() or parts[-1] in THROUGH):
        parts.pop()
    if not parts:
        return NOTHING
    last, before = parts[-1], parts[-2] if len(parts) > 1 else ""
    if before.isdigit() and len(parts) > 2:
        before = parts[-3] + before
    if last in _PASSWORD or _MISSPELT.match(last) or (last in ("pass", "pw") and before):
        return Named(Strength.LIKELY if last in ("pass", "pw") and before not in _WHOSE else Strength.STRICT, "password")
    if last in _PERHAPS_PASSWORD:
        return Named(Strength.LIKELY, "password")
    if last in _SECRET:
        return Named(Strength.STRICT if last.endswith(("secret", "secrete", "geheimnis")) else Strength.LIKELY, "secret")
    if last in _KEY:
        return Named(Strength.STRICT, "key")
    if last in _TOKEN:
        return Named(Strength.STRICT if last.endswith("token") else Strength.LIKELY, "token")
    if last == "token" and before not in _HARMLESS_TOKEN:
        return Named(Strength.STRICT if before in _OPENING else Strength.LIKELY, "token")
    if last == "key" and len(before) > 1 and before not in _HARMLESS_KEY:
        return Named(Strength.STRICT if before in _OPENING_KEY else Strength.LIKELY, "key")
    if last in ("auth", "authentication") and before:
        return Named(Strength.LIKELY, "authorization")
    if last in ABOUT:
        return NOTHING
    for ending, kind in _GLUED:
        if last.endswith(ending):
            return Named(Strength.STRICT, kind)
    for ending, kind in (("token", "token"), ("secret", "secret"), ("pwd", "password"), ("pass", "password"), ("key", "key")):
        if last.endswith(ending) and len(last) > len(ending) + 1 and last not in _NO_ENDING:
            return Named(Strength.LIKELY, kind)
    return NOTHING


_NO_ENDING = table(
    """
    monkey donkey turkey whiskey hockey jockey key bypass compass trespass surpass encompass pubkey publickey hotkey primarykey
    foreignkey sortkey cachekey keykey nexttoken pagetoken maxtoken tertoken passkey lackey sleutel
    """
)


def harmless_before(last: str, word: str) -> bool:
    """Whether a word before ``key`` or ``token`` takes the secret away: ``cache key``, ``next token``."""
    return word in (_HARMLESS_KEY if last == "key" else _HARMLESS_TOKEN)


def vocabulary() -> str:
    """All tables as text, for a policy's fingerprint."""
    tables = (
        ABOUT,
        THROUGH,
        _PASSWORD,
        _SECRET,
        _KEY,
        _TOKEN,
        _OPENING,
        _HARMLESS_TOKEN,
        _OPENING_KEY,
        _HARMLESS_KEY,
        _NO_ENDING,
        _PERHAPS_PASSWORD,
    )
    exact = sorted((name, int(said.strength), said.kind) for name, said in EXACT.items())
    return repr(([sorted(table) for table in tables], _GLUED, exact, _MISSPELT.pattern, FOREIGN, sorted(_INSIDE.items()), sorted(_WHOSE)))
