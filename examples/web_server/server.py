#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A web server whose slow page cannot take all of it: at most so many requests are inside the backend at a time, a request waits
a bounded time for its turn, and then gets 503 with the advice to come back.

usage: server.py PORT [LIMIT]
"""
import http.server
import sys
import time

import kgate

backend = kgate.Semaphore(int(sys.argv[2]) if len(sys.argv) > 2 else 4)
WAIT = 0.2


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        if self.path == "/health":  # does not pass the bulkhead: always answered at once
            self.answer(200, f"{backend.permits - backend.available} inside, {backend.waiters} waiting\n")
        elif not backend.acquire(timeout=WAIT):
            self.answer(503, "busy\n")
        else:
            try:
                self.answer(200, slow_query())
            finally:
                backend.release()

    def answer(self, code: int, text: str) -> None:
        self.send_response(code)
        if code == 503:
            self.send_header("Retry-After", "1")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: object) -> None:
        pass


def slow_query() -> str:
    time.sleep(0.1)
    return "result\n"


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 128


if __name__ == "__main__":
    with Server(("127.0.0.1", int(sys.argv[1])), Pages) as server:
        print(server.server_address[1], flush=True)
        server.serve_forever()
