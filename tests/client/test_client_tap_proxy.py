"""urllib3 and requests through a proxy: a tunnel belongs to the attempt that needs it, and a replay opens none."""

from __future__ import annotations

import datetime
import http.client
import ipaddress
import select
import socket
import ssl
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from urllib.parse import urlsplit

import fake_host
import tap_server
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

AGENT = r"""
import sys, warnings, requests, urllib3
warnings.simplefilter("ignore")
secure, plain, proxy, dead, certificate = sys.argv[1:]

def show(*what):
    print(*what, flush=True)

def tried(name, what):
    try:
        show(name, what())
    except Exception as error:
        cause = getattr(error, "reason", None) or error.args[0]
        show(name, type(error).__name__, type(cause).__name__, str(error).split("0x")[0])

http = urllib3.ProxyManager(proxy, ca_certs=certificate, retries=False)
for _ in range(2):
    r = http.request("GET", secure + "/count"); show(r.status, r.data)
r = http.request("GET", secure + "/stream", preload_content=False); show(list(r.stream()))
r = http.request("POST", plain + "/echo", body=b"through"); show(r.status, r.data)
tried("refused by the proxy", lambda: http.request("GET", "https://no.such.host.invalid/"))
tried("not trusted", lambda: urllib3.ProxyManager(proxy, retries=False).request("GET", secure + "/json"))
tried("no proxy there", lambda: urllib3.ProxyManager(dead, retries=False).request("GET", secure + "/json"))
tried("no proxy there", lambda: urllib3.ProxyManager(dead, retries=1).request("GET", plain + "/json"))
s = requests.Session()
s.trust_env, s.verify, s.proxies = False, certificate, {"https": proxy, "http": proxy}
show(s.get(secure + "/json").json(), s.get(plain + "/json").json())
tried("slow", lambda: s.get(secure + "/slow_head", timeout=0.3))
tried("silent", lambda: s.get(secure + "/silence"))
s.proxies = {"https": dead}
tried("requests, no proxy there", lambda: s.get(secure + "/json"))
"""


class Proxy(BaseHTTPRequestHandler):
    """Tunnels to hosts that it can reach, forwards plain requests, refuses the rest."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *args: object) -> None:
        """Quiet."""

    def do_CONNECT(self) -> None:
        host, _, port = self.path.rpartition(":")
        self.close_connection = True
        if host != "127.0.0.1":
            self.send_error(403, "Not through here")
            return
        with socket.create_connection((host, int(port)), timeout=5) as onward:
            self.send_response(200, "Connection established")
            self.end_headers()
            self.wfile.flush()
            ends = {self.connection: onward, onward: self.connection}
            while True:
                for end in select.select(list(ends), [], [], 10)[0] or [None]:
                    data = end.recv(65536) if end is not None else b""
                    if not data:
                        return
                    ends[end].sendall(data)

    def do_GET(self) -> None:
        there = urlsplit(self.path)
        onward = http.client.HTTPConnection(there.hostname or "", there.port, timeout=5)
        onward.request(self.command, there.path, self.rfile.read(int(self.headers.get("Content-Length", 0))))
        answer = onward.getresponse()
        data = answer.read()
        self.send_response(answer.status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_POST = do_GET


def certificate(folder: Path) -> Path:
    """A certificate for this machine, with its key, in one file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    start = datetime.datetime(2020, 1, 1)
    made = (
        x509.CertificateBuilder(issuer_name=name, subject_name=name, public_key=key.public_key(), serial_number=1)
        .not_valid_before(start)
        .not_valid_after(datetime.datetime(2120, 1, 1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    plain = serialization.NoEncryption()
    secret = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
    path = folder / "certificate.pem"
    path.write_bytes(secret + made.public_bytes(serialization.Encoding.PEM))
    return path


def test_a_proxy_is_not_connected_to_in_a_replay(tmp_path: Path) -> None:
    fake_host.needs("requests")
    trusted = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(trusted)
    dead = f"http://127.0.0.1:{tap_server.refused_port()}"
    with tap_server.serving() as secure, tap_server.serving() as plain, tap_server.serving(Proxy) as proxy:
        secure.socket = context.wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
        args = (secure.url.replace("http:", "https:"), plain.url, proxy.url, dead, str(trusted))
        host, first = fake_host.record(tmp_path, AGENT, *args)
    for name in ("ProxyError", "SSLError", "ReadTimeout", "ConnectionError"):
        assert name in first.out
    assert not [call for call in host.calls if call.operation == "CONNECT"]
    fake_host.same(host, first, AGENT, *args)
