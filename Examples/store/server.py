# SPDX-License-Identifier: Apache-2.0
"""The notes' server, in memory: server.py [ADDRESS] listens on port 8080."""
import hashlib, http.server, json, sys

notes = [{"id": "1", "text": "milk"}, {"id": "2", "text": "bread"}]
seen = set()


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, body=b"", etag=None):
        self.send_response(status)
        if etag:
            self.send_header("ETag", etag)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        body = json.dumps(notes).encode()
        etag = '"%s"' % hashlib.sha256(body).hexdigest()[:16]
        if self.headers["If-None-Match"] == etag:
            self.answer(304, etag=etag)
        else:
            self.answer(200, body, etag)

    def do_POST(self):
        note = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["Idempotency-Key"] not in seen:
            seen.add(self.headers["Idempotency-Key"])
            notes.append({"id": note["id"], "text": note["text"]})
        self.answer(201)


http.server.ThreadingHTTPServer((sys.argv[1] if len(sys.argv) > 1 else "127.0.0.1", 8080), Server).serve_forever()
