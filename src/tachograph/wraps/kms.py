"""Wraps by a key of AWS KMS: each is made and opened there, with the store and the name as its encryption context, so that the key's
policy and CloudTrail can tell one session from another. Credentials are found where AWS's own tools find them."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any

from tachograph.core.errors import FormatError, KeyUnavailableError, NotHeldError, StoreError, UsageError
from tachograph.core.ports import Entropy

KIND = "aws-kms"
_ARN = re.compile(r"arn:(?:aws|aws-cn|aws-us-gov):kms:([a-z0-9-]{1,32}):(\d{12}):key/[A-Za-z0-9-]{1,64}")
#: Seconds. An answer that takes longer counts as none.
_TIMEOUT = 5
_NOT_ITS_OWN = ("InvalidCiphertextException", "IncorrectKeyException")


class KmsWrap:
    """``connect``: a client for a region."""

    def __init__(self, fields: Mapping[str, Any], store_id: str, connect: Callable[[str], Any]) -> None:
        arn = fields.get("arn")
        if not isinstance(arn, str) or (match := _ARN.fullmatch(arn)) is None or fields.get("id") != identified(arn):
            raise FormatError("a key of KMS that is none; restore the file from a backup")
        self._arn, self._region = arn, match[1]
        self._store_id = store_id
        self._connect = connect
        self._client: Any = None

    @property
    def recipient(self) -> Mapping[str, Any]:
        return {"type": KIND, "id": identified(self._arn), "arn": self._arn}

    def wrap(self, name: str, plain: bytes, entropy: Entropy) -> dict[str, Any]:  # noqa: ARG002 - KMS draws its own
        answer = self._call("encrypt", Plaintext=plain, EncryptionContext=self._context(name))
        box = base64.b64encode(answer["CiphertextBlob"]).decode()
        return {"type": KIND, "key_id": identified(self._arn), "arn": self._arn, "box": box}

    def unwrap(self, name: str, wrap: Mapping[str, Any]) -> bytes:
        try:
            box = base64.b64decode(wrap["box"], validate=True)
        except (KeyError, ValueError, TypeError):
            raise KeyUnavailableError("a wrap by KMS that is none; restore the file from a backup") from None
        plain: bytes = self._call("decrypt", CiphertextBlob=box, EncryptionContext=self._context(name))["Plaintext"]
        return plain

    def _context(self, name: str) -> dict[str, str]:
        return {"store": self._store_id, "name": name}

    def _call(self, operation: str, **arguments: Any) -> Any:
        try:
            if self._client is None:
                self._client = self._connect(self._region)
            return getattr(self._client, operation)(KeyId=self._arn, **arguments)
        except NotHeldError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a service or the way to it does
            code = str(getattr(error, "response", {}).get("Error", {}).get("Code", ""))
            if code in _NOT_ITS_OWN:
                raise KeyUnavailableError(
                    f"KMS says that a wrap was not made by {self._arn} for this session; restore the file from a backup"
                ) from None
            what = " ".join(str(error).split())[:200]
            raise StoreError(f"KMS does not {operation} with {self._arn}, {what}; check the credentials, the key and its policy") from None


def recipient(arn: str) -> dict[str, Any]:
    """Raises ``UsageError`` for what is no key's ARN."""
    if _ARN.fullmatch(arn) is None:
        raise UsageError(
            f"not the ARN of a key, {arn[:120]!a}; it looks like arn:aws:kms:eu-central-1:111122223333:key/…, aliases can be moved"
        )
    return {"type": KIND, "id": identified(arn), "arn": arn}


def identified(arn: str) -> str:
    """16 hexadecimal digits, as of the other recipients."""
    return hashlib.sha256(b"tachograph/v1 recipient aws-kms " + arn.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def connect(region: str) -> Any:
    """A client of boto3 that does not wait long. Raises ``NotHeldError`` where boto3 is not installed."""
    try:
        import boto3
        from botocore.config import Config
    except ImportError:
        raise NotHeldError("boto3 is not installed, which keys of AWS KMS need; pip install 'tachograph[kms]'") from None
    config = Config(
        connect_timeout=_TIMEOUT, read_timeout=_TIMEOUT, retries={"mode": "standard", "max_attempts": 2}, user_agent_extra="tachograph"
    )
    return boto3.session.Session().client("kms", region_name=region, config=config)
