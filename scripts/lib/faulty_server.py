# SPDX-License-Identifier: Apache-2.0
"""An HTTP server that gives a file and does wrong in one way: the path names it. For scripts/compare-downloads.

Each path keeps its own count of connections from its first request on, so that each client meets the same."""

import hashlib
import socketserver
import sys
import threading
import time

SIZE = 4_000_000


def contents(seed, size=SIZE):
    """Bytes that look like chance and repeat nowhere."""
    blocks = (hashlib.sha256(b"%s %d" % (seed, index)).digest() for index in range(size // 32 + 1))
    return b"".join(blocks)[:size]


OLD, NEW = contents(b"old"), contents(b"new")
SHORT = contents(b"short", SIZE // 4)


class Answer:
    """What a connection is given: a version of the file, how much of it, how fast, and how ranges are taken."""

    def __init__(self, body=OLD, tag='"old"', most=None, pace=None, ranges="yes"):
        self.body, self.tag, self.most, self.pace, self.ranges = body, tag, most, pace, ranges


def answer(fault, number):
    """The answer to the connection with this number, from 0."""
    first = number == 0
    if fault == "cut":  # every connection breaks, after a while
        return Answer(most=SIZE // 5)
    if fault in ("steady", "restart"):  # for a link that goes, and a server that is killed
        return Answer(pace=1_000_000)
    if fault == "changed":  # another file after the first break
        return Answer(most=SIZE // 2) if first else Answer(NEW, '"new"')
    if fault == "changed-weak":  # the same, and the validators are weak
        return Answer(most=SIZE // 2, tag='W/"old"') if first else Answer(NEW, 'W/"new"')
    if fault == "shrunk":  # a shorter one
        return Answer(most=SIZE // 2) if first else Answer(SHORT, '"short"')
    if fault == "ignores":  # whole answers to every request
        return Answer(most=SIZE // 2, ranges="ignored") if first else Answer(ranges="ignored")
    if fault == "lies":  # another part than was asked for, and its Content-Range says so
        return Answer(most=SIZE // 2) if first else Answer(ranges="early")
    raise ValueError(fault)


def expected(fault):
    """What a right file is, at the end."""
    return {"changed": NEW, "changed-weak": NEW, "shrunk": SHORT}.get(fault, OLD)


class Handler(socketserver.StreamRequestHandler):
    counts, lock = {}, threading.Lock()

    def handle(self):
        lines = []
        while (line := self.rfile.readline(65536).strip()):
            lines.append(line.decode("latin-1"))
        if not lines:
            return
        method, path, _ = lines[0].split(" ", 2)
        fields = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        with self.lock:
            number = self.counts.get(path, 0)
            # A question for the head alone is no attempt.
            self.counts[path] = number + (method == "GET")
        self.give(answer(path.strip("/").split("/")[0], number), fields, method)

    def give(self, answer, fields, method):
        start, status, extra = 0, "200 OK", ""
        wanted = fields.get("range", "")
        same = fields.get("if-range", answer.tag) == answer.tag
        if wanted.startswith("bytes=") and answer.ranges != "ignored" and same:
            start = int(wanted[6:].split("-")[0] or 0)
            if start >= len(answer.body):
                self.wfile.write(
                    f"HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */{len(answer.body)}\r\n"
                    "Content-Length: 0\r\nConnection: close\r\n\r\n".encode())
                return
            if answer.ranges == "early":
                start = max(0, start - 1000)
            status = "206 Partial Content"
            extra = f"Content-Range: bytes {start}-{len(answer.body) - 1}/{len(answer.body)}\r\n"
        body = answer.body[start:]
        self.wfile.write(
            f"HTTP/1.1 {status}\r\nETag: {answer.tag}\r\n{extra}Content-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n".encode())
        if method == "GET":
            self.send(body[:answer.most], answer.pace)

    def send(self, body, pace):
        for offset in range(0, len(body), 50_000):
            self.wfile.write(body[offset:offset + 50_000])
            if pace:
                time.sleep(50_000 / pace)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True

    def handle_error(self, request, client_address):
        pass  # clients leave when they like


def main():
    if sys.argv[1] == "check":  # check FAULT FILE: what a client has ended with
        try:
            with open(sys.argv[3], "rb") as file:
                found = file.read()
        except OSError:
            return print("no file")
        if found == expected(sys.argv[2]):
            return print("the right file")
        versions = [version[:len(found)] for version in (OLD, NEW, SHORT)]
        return print("a part of the file" if found in versions else "**a wrong file**")
    with Server((sys.argv[1], int(sys.argv[2])), Handler) as server:
        print("ready", flush=True)
        server.serve_forever()


main()
