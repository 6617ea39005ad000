"""Exec in a container by the kubelet's own WebSocket API, with a client that is no Kubernetes library.

Prints one JSON object: the sub-protocol agreed on, stdout, stderr and the status on the error channel.
"""

import argparse
import json
import ssl
import sys

import websocket

STDIN, STDOUT, STDERR, ERROR, RESIZE, CLOSE = 0, 1, 2, 3, 4, 255

parser = argparse.ArgumentParser()
parser.add_argument("--url", required=True)
parser.add_argument("--cert", required=True)
parser.add_argument("--key", required=True)
parser.add_argument("--ca", required=True)
parser.add_argument("--protocol", action="append", required=True)
parser.add_argument("--stdin", default="")
parser.add_argument("--close-stdin", action="store_true")
parser.add_argument("--resize", default="", help="COLUMNSxROWS, sent before stdin")
parser.add_argument("--wait", default="", help="what stdout must say first: a size that comes before is lost")
args = parser.parse_args()

try:
    ws = websocket.create_connection(
        args.url,
        subprotocols=args.protocol,
        sslopt={"certfile": args.cert, "keyfile": args.key, "ca_certs": args.ca, "cert_reqs": ssl.CERT_REQUIRED},
        timeout=240,
    )
except websocket.WebSocketBadStatusException as error:
    print(json.dumps({"refused": error.status_code}))
    sys.exit(0)
protocol = ws.getsubprotocol()


def send(channel, data):
    ws.send_binary(bytes([channel]) + data)


out = {STDOUT: b"", STDERR: b"", ERROR: b""}
while args.wait.encode() not in out[STDOUT]:
    kind, frame = ws.recv_data()
    if kind == websocket.ABNF.OPCODE_CLOSE:
        sys.exit("closed before it said " + args.wait)
    if frame:
        out[frame[0]] = out.get(frame[0], b"") + frame[1:]
if args.resize:
    width, height = args.resize.split("x")
    send(RESIZE, json.dumps({"Width": int(width), "Height": int(height)}).encode())
if args.stdin:
    send(STDIN, args.stdin.encode())
if args.close_stdin:
    send(CLOSE, bytes([STDIN]))
while True:
    try:
        kind, frame = ws.recv_data()
    except websocket.WebSocketConnectionClosedException:
        break
    if kind == websocket.ABNF.OPCODE_CLOSE:
        break
    if frame:
        out[frame[0]] = out.get(frame[0], b"") + frame[1:]
ws.close()
print(
    json.dumps(
        {
            "protocol": protocol,
            "stdout": out[STDOUT].decode(),
            "stderr": out[STDERR].decode(),
            "status": json.loads(out[ERROR]) if out[ERROR] else None,
        }
    )
)
