"""nginx asks ratel before it serves a page, with the configuration that ratel comes with."""

import contextlib
import http.client
import socket

import pytest

from conftest import ROOT, Server, free_port, program

RULES = """\
rules:
  visitors: { limit: 3/day, key: ip }
  addresses: { limit: 2/day, key: ip }
  closed: { limit: 0/min }
"""

NGINX = """\
worker_processes 1;
daemon off;
pid {folder}/nginx.pid;
events {{ worker_connections 64; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  upstream ratel {{ server {ratel}; keepalive 32; }}
  set_real_ip_from 127.0.0.1;
  real_ip_header X-Test-Address;
  server {{
    listen 127.0.0.1:{port};
    include {folder}/ratel.conf;
    auth_request /_ratel;
    error_page 403 = @ratel_denied;
    add_header RateLimit-Policy $ratel_policy;
    add_header RateLimit $ratel_limit;
    location = /up {{ auth_request off; return 204; }}
    location / {{ set $ratel_rule nothing; proxy_pass http://127.0.0.1:{application}; }}
    location /visitors {{ set $ratel_rule visitors; proxy_pass http://127.0.0.1:{application}; }}
    location /addresses {{ set $ratel_rule addresses; proxy_pass http://127.0.0.1:{application}; }}
    location /closed {{ set $ratel_rule closed; proxy_pass http://127.0.0.1:{application}; }}
  }}
  server {{
    listen 127.0.0.1:{application};
    return 200 "the page $uri";
  }}
}}
"""

CONFIGURATION = ROOT / "deploy/nginx/ratel.conf"


class Page:
    def __init__(self, response):
        self.status = response.status
        self.body = response.read().decode()
        self.headers = response.headers


@pytest.fixture
def nginx(ratel, tmp_path):
    """nginx(let_in=False) starts one before a ratel."""
    started = []
    held = contextlib.ExitStack()

    def start(let_in=False):
        server = ratel("--trusted-hops", 1, rules=RULES)
        text = CONFIGURATION.read_text(encoding="utf-8")
        if let_in:
            for line in ("proxy_intercept_errors on;", "error_page 500 502 503 504 = @ratel_open;"):
                assert f"# {line}" in text
                text = text.replace(f"# {line}", line)
        (tmp_path / "ratel.conf").write_text(text, encoding="utf-8")
        port, application = (held.enter_context(free_port()) for _ in range(2))
        text = NGINX.format(folder=tmp_path, ratel=server.http, port=port, application=application)
        (tmp_path / "nginx.conf").write_text(text, encoding="utf-8")
        proxy = Server([program("nginx"), "-e", "stderr", "-c", tmp_path / "nginx.conf"], tmp_path / "nginx.log")
        started.append(proxy)
        proxy.port = port
        proxy.ratel = server
        proxy.until(lambda: answers(port), "answer")
        return proxy

    with held:
        yield start
        for proxy in started:
            proxy.stop()


def answers(port):
    try:
        return get(port, "/up").status == 204
    except OSError:
        return False


def get(port, path, method="GET", body=None, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body=body, headers=named)
    page = Page(connection.getresponse())
    connection.close()
    return page


def test_ports_are_held_and_can_be_listened_on():
    with free_port() as port:
        with socket.socket() as stranger, pytest.raises(OSError):
            stranger.bind(("127.0.0.1", port))
        with socket.create_server(("127.0.0.1", port)):  # says SO_REUSEADDR
            socket.create_connection(("127.0.0.1", port)).close()
        others = []
        with contextlib.ExitStack() as stack:
            for _ in range(1000):
                other = stack.enter_context(socket.socket())
                other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                other.bind(("127.0.0.1", 0))
                others.append(other.getsockname()[1])
        assert port not in others and len(set(others)) == 1000


def test_a_page_is_limited(nginx):
    proxy = nginx()
    for remaining in (2, 1, 0):
        page = get(proxy.port, "/visitors")
        assert (page.status, page.body) == (200, "the page /visitors")
        assert page.headers["RateLimit-Policy"] == '"visitors";q=3;w=86400'
        assert page.headers["RateLimit"].startswith(f'"visitors";r={remaining};t=')
        assert page.headers["Retry-After"] is None
    page = get(proxy.port, "/visitors")
    assert page.status == 429
    assert page.headers["Content-Type"] == "application/problem+json"
    assert "quota-exceeded" in page.body
    assert page.headers["RateLimit-Policy"] == '"visitors";q=3;w=86400'
    wait = int(page.headers["Retry-After"])
    assert 86400 / 3 - 60 < wait <= 86400 / 3
    assert page.headers["RateLimit"] == f'"visitors";r=0;t={wait}'
    # Another rule is another count.
    assert get(proxy.port, "/addresses").status == 200


def test_each_address_has_its_own_count_and_cannot_choose_it(nginx):
    proxy = nginx()
    for _ in range(2):
        assert get(proxy.port, "/addresses", X_Test_Address="192.0.2.1").status == 200
    for forged in ("192.0.2.2", "192.0.2.2, 192.0.2.3", "unknown"):
        assert get(proxy.port, "/addresses", X_Test_Address="192.0.2.1", X_Forwarded_For=forged).status == 429
    assert get(proxy.port, "/addresses", X_Test_Address="192.0.2.2").status == 200
    # A subscriber's IPv6 addresses are one.
    for last in ("1", "2"):
        assert get(proxy.port, "/addresses", X_Test_Address=f"2001:db8:0:1::{last}").status == 200
    assert get(proxy.port, "/addresses", X_Test_Address="2001:db8:0:1:ffff::3").status == 429
    assert get(proxy.port, "/addresses", X_Test_Address="2001:db8:0:2::1").status == 200


def test_what_no_waiting_helps_stays_403(nginx):
    page = get(nginx().port, "/closed")
    assert page.status == 403
    assert page.headers["Retry-After"] is None


def test_what_browsers_say_of_the_page_is_not_held_against_it(nginx):
    proxy = nginx()
    page = get(proxy.port, "/visitors", Origin="https://elsewhere.example", Sec_Fetch_Site="cross-site")
    assert page.status == 200
    assert get(proxy.port, "/visitors?key=x&cost=0&rule=closed").status == 200
    assert get(proxy.port, "/visitors", Authorization="Basic dTpw", Host="shop.example").status == 200
    assert get(proxy.port, "/visitors", method="POST", body="x" * 10_000).status == 429


def test_a_mistake_is_an_error_and_lets_nobody_in(nginx):
    assert get(nginx().port, "/unknown").status == 500


@pytest.mark.parametrize("let_in, status", [(False, 500), (True, 200)])
def test_without_ratel(nginx, let_in, status):
    proxy = nginx(let_in)
    assert get(proxy.port, "/visitors").status == 200
    proxy.ratel.stop()
    assert get(proxy.port, "/visitors").status == status
