import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = base64.b64decode(os.environ["WEBHOOK_SECRET"].removeprefix("whsec_"))
TOLERANCE = 5 * 60  # seconds
LIMIT = 1 << 20  # bytes; an event has about 20 kB
seen = set()  # in production: a unique column of your database


def verify(headers, body):
    """Tell whether the body, as bytes, was signed with our secret, just now."""
    id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE:
        return False
    signed = f"{id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest())
    for signature in headers.get("webhook-signature", "").split(" "):
        version, _, value = signature.partition(",")
        if version == "v1" and hmac.compare_digest(value.encode(), expected):
            return True
    return False


class Receiver(BaseHTTPRequestHandler):
    def refuse(self, status, text):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text)

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LIMIT:
            return self.refuse(413, b"too long\n")
        body = self.rfile.read(int(length))
        if not verify(self.headers, body):
            return self.refuse(400, b"bad signature\n")
        id = self.headers["webhook-id"]
        if id not in seen:
            seen.add(id)
            print("received", json.loads(body)["type"], id, flush=True)
        self.send_response(204)
        self.end_headers()


server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "0"))), Receiver)
print("listening on", server.server_address[1], flush=True)
server.serve_forever()
