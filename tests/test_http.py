"""HTTP against a running server, through curl and through Python's own client."""

import http.client
import json
import socket
import subprocess

import pytest

from conftest import START_S, program


def curl(*arguments):
    done = subprocess.run([program("curl"), "-sS", *map(str, arguments)], capture_output=True, text=True,
                          timeout=START_S, check=True)
    return done.stdout


class Client:
    """One kept-alive connection."""

    def __init__(self, server, headers=None):
        host, port = server.http.rsplit(":", 1)
        self.connection = http.client.HTTPConnection(host, int(port), timeout=30)
        self.headers = headers or {}

    def request(self, method, path, body=None, headers=None):
        data = json.dumps(body) if body is not None else None
        types = {"Content-Type": "application/json"} if body is not None else {}
        self.connection.request(method, path, body=data, headers={**types, **self.headers, **(headers or {})})
        response = self.connection.getresponse()
        text = response.read().decode()
        if response.headers.get_content_subtype().endswith("json"):
            text = json.loads(text)
        return response.status, text, response.headers

    def ask(self, verb, **question):
        status, answer, _ = self.request("POST", f"/v1/{verb}", question)
        assert status == 200, answer
        return answer


def talk(server, data):
    """What comes back for these bytes, until the server closes or we have closed our side and it is done."""
    host, port = server.http.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall(data)
        client.shutdown(socket.SHUT_WR)
        received = b""
        while chunk := client.recv(1 << 16):
            received += chunk
    return received


def test_a_limit_is_kept_over_one_connection(ratel):
    client = Client(ratel())
    answers = [client.ask("allow", rule="login", key="u") for _ in range(6)]
    assert [answer["allowed"] for answer in answers] == [True] * 5 + [False]
    assert [answer["remaining"] for answer in answers] == [4, 3, 2, 1, 0, 0]
    assert answers[5]["retry_after_ms"] > 0 and answers[5]["violated"] == ["login"]
    assert client.ask("refund", rule="login", key="u", cost=2)["remaining"] == 2
    assert client.ask("peek", rule="login", key="u", cost=3)["allowed"] is False
    assert client.ask("allow", rule="login", key="u", cost=9, atmost=True)["granted"] == 2
    assert client.ask("reset", rule="login", key="u")["remaining"] == 5


def test_leases(ratel):
    client = Client(ratel())
    lease = client.ask("acquire", rule="checkout", key="shop")["lease_id"]
    assert client.ask("renew", rule="checkout", key="shop", lease_id=lease, ttl_ms=60_000)["ok"] is True
    assert client.ask("release", rule="checkout", key="shop", lease_id=lease) == {
        "ok": True, "remaining": 20, "reset_after_ms": 0, "source": "exact"}
    assert client.ask("release", rule="checkout", key="shop", lease_id=lease)["ok"] is False


def test_a_thousand_questions_at_once(ratel):
    client = Client(ratel())
    questions = [{"rule": "login", "key": f"u{i % 100}"} for i in range(1000)]
    status, answers, _ = client.request("POST", "/v1/allow", questions)
    assert status == 200 and len(answers) == 1000
    assert sum(answer["allowed"] for answer in answers) == 500
    assert all(answer["allowed"] for answer in answers[:500])


def test_http_and_resp_meet_the_same_counters(ratel):
    server = ratel()
    client = Client(server)
    assert client.ask("allow", rule="login", key="both")["remaining"] == 4
    with socket.create_connection(("127.0.0.1", server.resp_port), timeout=30) as resp:
        resp.sendall(b"RATEL.PEEK login both\r\n")
        assert b"*7\r\n:1\r\n:5\r\n:4\r\n" in resp.recv(4096)


def test_curl_in_its_many_ways(ratel):
    server = ratel("--trusted-hops", 1, rules="rules:\n  login: { limit: 100/day }\n")
    url = f"http://{server.http}"
    question = '{"rule":"login","key":"c"}'
    for remaining, options in enumerate([
            ["--json", question],
            ["-H", "Content-Type: application/json", "-d", question],
            ["--http1.0", "--json", question],
            ["-H", "Transfer-Encoding: chunked", "--json", question],
            ["-H", "Expect: 100-continue", "--json", question],
            ["--json", question + " " * 100_000],  # curl waits for 100 Continue by itself
    ], start=1):
        assert json.loads(curl(*options, f"{url}/v1/allow"))["remaining"] == 100 - remaining, options
    assert curl("-I", f"{url}/healthz").startswith("HTTP/1.1 200 OK\n")
    assert curl("-X", "OPTIONS", "-i", f"{url}/v1/allow").startswith("HTTP/1.1 204 ")
    head = curl("-i", "-H", "X-Forwarded-For: 192.0.2.1", f"{url}/v1/auth?rule=login")
    assert head.startswith("HTTP/1.1 200 OK\n") and 'RateLimit: "login";r=99' in head
    assert "<title>ratel</title>" in curl(url)
    assert "ratel_decisions_total" in curl(f"{url}/metrics")
    assert curl(f"{url}/readyz") == "ready\n"
    assert "421" in curl("-i", "-H", "Host: evil.example", f"{url}/metrics")


def test_pipelined_requests_are_answered_in_order(ratel):
    server = ratel()
    request = (b"POST /v1/allow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
               b"Content-Length: 26\r\n\r\n" b'{"rule":"login","key":"p"}')
    received = talk(server, request * 7 + b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert received.count(b"HTTP/1.1 200 OK\r\n") == 8
    assert [part[:1] for part in received.split(b'"remaining":')[1:]] == [b"4", b"3", b"2", b"1", b"0", b"0", b"0"]
    assert received.endswith(b"ok\n")


@pytest.mark.parametrize("request_bytes, status", [
    (b"\x16\x03\x01\x02\x00\x01\x00", 400),
    (b"*1\r\n$4\r\nPING\r\n", 400),
    (b"GET / HTTP/1.1\r\n\r\n", 400),
    (b"GET / HTTP/9.9\r\n\r\n", 505),
    (b"GET /" + b"x" * 20_000, 414),
    (b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"x" * 20_000, 431),
    (b"POST /v1/allow HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2000000\r\n\r\n" + b"x" * 2_000_000, 413),
    (b"POST /v1/allow HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
], ids=["tls", "resp", "no-host", "version", "line", "headers", "body", "coding"])
def test_what_is_no_request_is_told_so(ratel, request_bytes, status):
    received = talk(ratel(), request_bytes)
    assert received.startswith(b"HTTP/1.1 %d " % status)
    assert b"\r\nConnection: close\r\n" in received
    assert received.count(b"\r\nDate: ") == 1


def test_the_token(ratel, tmp_path):
    (tmp_path / "token").write_text("secret\n", encoding="utf-8")
    server = ratel("--token-file", tmp_path / "token")
    assert Client(server).request("POST", "/v1/allow", {"rule": "login", "key": "u"})[0] == 401
    assert Client(server).request("GET", "/healthz")[0] == 200
    assert Client(server, {"Authorization": "Bearer secret"}).ask("allow", rule="login", key="u")["allowed"]
    assert Client(server, {"X-Ratel-Token": "secret"}).ask("allow", rule="login", key="u")["allowed"]


def test_names_of_its_own(ratel):
    server = ratel("--allowed-hosts", "ratel.internal")
    for host, status in (("localhost", 200), ("127.0.0.1:1", 200), ("ratel.internal", 200), ("evil.example", 421)):
        assert Client(server, {"Host": host}).request("GET", "/metrics")[0] == status
