"""The proxy that other tests make faults with does what it says."""

import socket
import time

import pytest

from faulty_proxy import FaultyProxy


@pytest.fixture
def proxy(redis_server):
    with FaultyProxy(("127.0.0.1", redis_server.port)) as it:
        yield it


def connect(proxy):
    client = socket.create_connection(("127.0.0.1", proxy.port), timeout=10)
    return client


def ask(client, command=b"PING\r\n"):
    client.sendall(command)
    return client.recv(1 << 16)


def test_passes_on(proxy):
    client = connect(proxy)
    assert ask(client) == b"+PONG\r\n"
    assert ask(client, b"ECHO hello\r\n") == b"$5\r\nhello\r\n"


def test_delays(proxy):
    client = connect(proxy)
    proxy.delay_s = 0.2
    began = time.monotonic()
    assert ask(client) == b"+PONG\r\n"
    assert time.monotonic() - began >= 0.4  # each way


def test_swallows(proxy):
    client = connect(proxy)
    proxy.swallow = True
    client.settimeout(0.3)
    with pytest.raises(TimeoutError):
        ask(client)
    proxy.swallow = False
    client.settimeout(10)
    assert ask(client) == b"+PONG\r\n"


def test_cuts(proxy):
    client = connect(proxy)
    ask(client)
    proxy.cut()
    with pytest.raises(ConnectionResetError):
        ask(client)
    assert ask(connect(proxy)) == b"+PONG\r\n"


def test_halves_a_reply(proxy):
    client = connect(proxy)
    proxy.halve_replies = True
    client.sendall(b"ECHO hello\r\n")
    assert client.recv(1 << 16) == b"$5\r\nh"
    with pytest.raises(ConnectionResetError):
        client.recv(1 << 16)


def test_refuses(proxy):
    client = connect(proxy)
    assert ask(client) == b"+PONG\r\n"  # it is accepted
    proxy.refuse()
    with pytest.raises(ConnectionRefusedError):
        connect(proxy)
    assert ask(client) == b"+PONG\r\n"
    proxy.take_again()
    assert ask(connect(proxy)) == b"+PONG\r\n"
