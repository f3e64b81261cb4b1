"""Ratels that share a store, and what tests ask of them."""

import signal
import socket
import urllib.request

from stores import wait_until

LIMIT = 10
RULES = f"""\
rules:
  gcra: {{ limit: {LIMIT}/day, deadline: 5s }}
  fixed_window: {{ limit: {LIMIT}/day, algorithm: fixed_window, deadline: 5s }}
  calendar: {{ limit: [{{ limit: {LIMIT}/year, algorithm: fixed_window, calendar: true }}], deadline: 5s }}
  sliding_window: {{ limit: {LIMIT}/day, algorithm: sliding_window, deadline: 5s }}
  sliding_log: {{ limit: {LIMIT}/day, algorithm: sliding_log, deadline: 5s }}
  two: {{ limit: [1000000/day, {LIMIT}/day], deadline: 5s }}
  slots: {{ limit: {LIMIT} concurrent, deadline: 5s }}
  much: {{ limit: 1000000/day, deadline: 5s }}
  local: {{ limit: {LIMIT}/day }}
  open: {{ limit: {LIMIT}/day, on_store_failure: allow }}
  closed: {{ limit: {LIMIT}/day, on_store_failure: deny }}
"""
MARGIN_S = 0.2  # above the deadline, for a busy machine


class Asker:
    """One connection to a ratel, and what RATEL.* answers on it as a dict."""

    FIELDS = ("allowed", "limit", "remaining", "retry_after_ms", "reset_after_ms", "source", "rule")

    def __init__(self, ratel):
        self._socket = socket.create_connection(("127.0.0.1", ratel.resp_port), timeout=30)
        self._input = self._socket.makefile("rb")

    def run(self, *words):
        self._socket.sendall(b"".join([b"*%d\r\n" % len(words),
                                       *(b"$%d\r\n%s\r\n" % (len(w), w) for w in (str(w).encode() for w in words))]))
        return self._reply()

    def ask(self, verb, *words):
        reply = self.run(f"RATEL.{verb}", *words)
        assert isinstance(reply, list), reply
        return dict(zip(self.FIELDS, reply))

    def _reply(self):
        line = self._input.readline().rstrip(b"\r\n").decode()
        assert line, "the connection was closed"
        kind, rest = line[0], line[1:]
        if kind == "*":
            return [self._reply() for _ in range(int(rest))]
        if line == "$-1":
            return None
        if kind == "$":
            return self._input.read(int(rest) + 2)[:-2].decode()
        return int(rest) if kind == ":" else line

    def close(self):
        self._socket.close()


def shared(ratel, store, *flags, count=1, scheme="redis", rules=RULES):
    return [ratel("--store", f"{scheme}://127.0.0.1:{store.port}", *flags, rules=rules) for _ in range(count)]


def metrics(server):
    with urllib.request.urlopen(f"http://{server.http}/metrics", timeout=10) as answer:
        return answer.read().decode()


def alone(asker, store):
    """Stops the store, and waits until the process decides by itself, without asking first. The store can go on."""
    store.signal(signal.SIGSTOP)
    wait_until(lambda: asker.ask("PEEK", "local", "k")["source"] == "local", "outage")
    for _ in range(10):
        asker.ask("PEEK", "local", "k")  # opens the breaker
