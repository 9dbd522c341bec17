# Verifies with the code of examples/receiver.py. Each line of standard input is a JSON object
# with secret, headers and body; each line of the output is "ok" or "refused".
import base64
import json
import os
import pathlib
import sys

os.environ["WEBHOOK_SECRET"] = ""
example = pathlib.Path(__file__).with_name("examples") / "receiver.py"
functions, _, _ = example.read_text().partition("class Receiver")
receiver = {}
exec(functions, receiver)  # everything except the server

for line in sys.stdin:
    request = json.loads(line)
    receiver["SECRET"] = base64.b64decode(request["secret"].removeprefix("whsec_"))
    genuine = receiver["verify"](request["headers"], request["body"].encode())
    print("ok" if genuine else "refused")
