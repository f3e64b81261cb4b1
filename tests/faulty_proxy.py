"""A TCP proxy between a ratel and its store that delays, cuts, halves and swallows, on demand."""

import contextlib
import selectors
import socket
import struct
import threading
import time
from collections import deque


class FaultyProxy:
    """Passes on what comes for `target` (host, port) until told otherwise; every fault may be set at any time.

    `delay_s` holds everything back for so long, each way. `swallow` takes what comes and passes nothing on, as a
    network that drops packets does: no side is told. `halve_replies` passes on the first half of the next reply and
    then cuts.
    """

    def __init__(self, target):
        self.target = target
        self.delay_s = 0.0
        self.swallow = False
        self.halve_replies = False
        self.accepted = 0
        self._listener = None
        self._pairs = set()
        self._lock = threading.Lock()
        self._stopped = False
        self._selector = selectors.DefaultSelector()
        self.port = self._listen(0)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def refuse(self):
        """Takes no more connections; those that are, stay."""
        with self._lock:
            if self._listener:
                self._selector.unregister(self._listener)
                self._listener.close()
                self._listener = None

    def take_again(self):
        with self._lock:
            if not self._listener:
                self._listen(self.port)

    def cut(self):
        """Ends every connection with a reset."""
        with self._lock:
            for pair in list(self._pairs):
                self._end(pair)

    def close(self):
        self._stopped = True
        self._thread.join()
        self.refuse()
        self.cut()
        self._selector.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _listen(self, port):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", port))
        listener.listen(512)
        listener.setblocking(False)
        self._listener = listener
        self._selector.register(listener, selectors.EVENT_READ, None)
        return listener.getsockname()[1]

    def _run(self):
        while not self._stopped:
            with self._lock:
                events = self._selector.select(0)
                for key, _ in events:
                    with contextlib.suppress(OSError):
                        self._accept() if key.data is None else self._read(*key.data)
                for pair in list(self._pairs):
                    self._pass_on(pair)
            time.sleep(0.0005 if not events else 0)

    def _accept(self):
        client, _ = self._listener.accept()
        self.accepted += 1
        try:
            server = socket.create_connection(self.target, timeout=1)
        except OSError:
            reset(client)
            return
        pair = Pair(client, server)
        self._pairs.add(pair)
        for end in (client, server):
            end.setblocking(False)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._selector.register(end, selectors.EVENT_READ, (pair, end))

    def _read(self, pair, end):
        if pair not in self._pairs:
            return
        try:
            data = end.recv(1 << 16)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            self._end(pair)
            return
        if self.swallow:
            return
        to = pair.other(end)
        if self.halve_replies and end is pair.server:
            self.halve_replies = False
            data = data[: len(data) // 2]
            pair.end_when_sent = True
        pair.waiting.append((time.monotonic() + self.delay_s, to, data))

    def _pass_on(self, pair):
        while pair.waiting and pair.waiting[0][0] <= time.monotonic():
            due, to, data = pair.waiting.popleft()
            try:
                sent = to.send(data)
            except BlockingIOError:
                sent = 0
            except OSError:
                self._end(pair)
                return
            if sent < len(data):
                pair.waiting.appendleft((due, to, data[sent:]))
                return
        if pair.end_when_sent and not pair.waiting:
            self._end(pair)

    def _end(self, pair):
        self._pairs.discard(pair)
        for end in (pair.client, pair.server):
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(end)
            reset(end)


class Pair:
    def __init__(self, client, server):
        self.client = client
        self.server = server
        self.waiting = deque()  # (when, to whom, what)
        self.end_when_sent = False

    def other(self, end):
        return self.server if end is self.client else self.client


def reset(end):
    with contextlib.suppress(OSError):
        end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    end.close()
