"""AWS KMS as far as wraps need it: Encrypt and Decrypt of its JSON API on the loopback interface, with keys of its own. As the service, it binds a ciphertext to
its key and its encryption context, and answers with the service's errors."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import http.server
import json
import os
import threading
from collections.abc import Iterator
from typing import Any

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

REGION = "eu-central-1"
#: ARNs of keys that the service has.
ARNS = tuple(f"arn:aws:kms:{REGION}:111122223333:key/0000000{n}-aaaa-bbbb-cccc-000000000000" for n in (1, 2))


class Kms:
    """``calls``: (operation, encryption context), in order. ``away``: every call fails as one that the service cannot serve."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, dict[str, str]]] = []
        self.away = False
        self.endpoint = ""

    def answer(self, operation: str, fields: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        context = fields.get("EncryptionContext", {})
        self.calls.append((operation, context))
        arn = fields.get("KeyId")
        if self.away:
            return 400, {"__type": "AccessDeniedException", "message": "no"}
        if arn not in ARNS:
            return 400, {"__type": "NotFoundException", "message": "no such key"}
        box = AESGCM(hashlib.sha256(arn.encode()).digest())
        bound = json.dumps([arn, sorted(context.items())]).encode()
        if operation == "Encrypt":
            nonce = os.urandom(12)
            sealed = nonce + box.encrypt(nonce, base64.b64decode(fields["Plaintext"]), bound)
            return 200, {"CiphertextBlob": base64.b64encode(sealed).decode(), "KeyId": arn}
        sealed = base64.b64decode(fields["CiphertextBlob"])
        try:
            plain = box.decrypt(sealed[:12], sealed[12:], bound)
        except (InvalidTag, ValueError):
            return 400, {"__type": "InvalidCiphertextException"}
        return 200, {"Plaintext": base64.b64encode(plain).decode(), "KeyId": arn}


@contextlib.contextmanager
def running() -> Iterator[Kms]:
    kms = Kms()

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            fields = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = kms.answer(self.headers["X-Amz-Target"].rpartition(".")[2], fields)
            data = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.1")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            return

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    kms.endpoint = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield kms
    finally:
        server.shutdown()
        server.server_close()


def environment(kms: Kms) -> dict[str, str]:
    """For boto3."""
    return {
        "AWS_ENDPOINT_URL_KMS": kms.endpoint, "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip
