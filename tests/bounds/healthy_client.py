"""A client of its own process, so that its figures are the server's and not the test's: `PORT TOKEN PERIOD`.

It says that it is connected, then reads one object again and again until its standard input ends; then it prints how long each
time took, in seconds.
"""

from __future__ import annotations

import json
import socket
import ssl
import sys
import threading
import time


def main(port: int, token: str, period: float) -> None:
    """Ask until nobody wants to know any more."""
    ended = threading.Event()

    def listen() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=listen, daemon=True).start()
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    request = f"GET /api/v1/namespaces/default HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
    times: list[float] = []
    with socket.create_connection(("127.0.0.1", port)) as plain, context.wrap_socket(plain) as connection:
        sys.stdout.write("connected\n")
        sys.stdout.flush()
        while not ended.is_set():
            before = time.perf_counter()
            connection.sendall(request)
            answer = connection.recv(65536)
            if not answer.startswith(b"HTTP/1.1 200"):
                raise SystemExit(answer.decode())
            times.append(time.perf_counter() - before)
            ended.wait(period)
    sys.stdout.write(json.dumps(times))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]))
