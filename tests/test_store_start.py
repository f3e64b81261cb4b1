"""How a ratel starts with a store: one line that says what to change where it cannot decide, and what is said of one
that can.
"""

import socketserver
import threading
import time

import pytest

from conftest import run_ratel
from stores import wait_until
from asking import RULES, Asker


def limited(stores, *rules):
    """A server whose user `lim` may do what the rules say; the URL that names him."""
    store = stores.start()
    store.cli("ACL", "SETUSER", "lim", "on", ">pw", "~ratel:*", *rules)
    return f"redis://lim:pw@127.0.0.1:{store.port}"


# How each comes to be, and words of what is said: of the mistake, and of what to change.
BAD_STORES = {
    "nobody": (lambda stores: f"redis://127.0.0.1:{stores.port()}", "refused", "address"),
    "password": (lambda stores: f"redis://:guess@127.0.0.1:{stores.start('--requirepass', 'right').port}",
                 "WRONGPASS", "--store-password-file"),
    "no password": (lambda stores: f"redis://127.0.0.1:{stores.start('--requirepass', 'right').port}",
                    "NOAUTH", "--store-password-file"),
    "database": (lambda stores: f"redis://127.0.0.1:{stores.start().port}/99", "DB index", "databases"),
    "rights to scripts": (lambda stores: limited(stores, "+@all", "-script"), "does not let its user",
                          "ACL SETUSER lim +script|load`"),
    "rights of the script": (lambda stores: limited(stores, "+@all", "-get"), "does not let its user",
                             "ACL SETUSER lim +get`"),
    "rights of rules to come": (lambda stores: limited(stores, "+@all", "-zadd", "-zrank"), "does not let its user",
                                "ACL SETUSER lim +zadd +zrank`"),
    "rights to keys": (lambda stores: limited(stores, "+@all", "resetkeys", "~other:*"), "does not let its user",
                       "ACL SETUSER lim ~ratel:*`"),
    "replica": (lambda stores: f"redis://127.0.0.1:{stores.replicated(1)[1][0].port}", "replica", "primary"),
    "a server, not a cluster": (lambda stores: f"redis-cluster://127.0.0.1:{stores.start().port}", "cluster",
                                "redis://"),
    "a cluster, not a server": (lambda stores: f"redis://127.0.0.1:{stores.cluster(3)[0].port}", "cluster",
                                "redis-cluster://"),
    "a server, not a sentinel": (lambda stores: f"redis-sentinel://127.0.0.1:{stores.start().port}/main", "SENTINEL",
                                 "name sentinels"),
    "a sentinel, not a server": (
        lambda stores: "redis://127.0.0.1:%d" % stores.sentinels(stores.replicated(1)[0])[0].port,
        "sentinel", "redis-sentinel://"),
    "no name that sentinels know": (
        lambda stores: "redis-sentinel://127.0.0.1:%d/other" % stores.sentinels(stores.replicated(1)[0])[0].port,
        "no primary `other`", "name that the sentinels watch"),
    "TLS where none is": (lambda stores: f"rediss://127.0.0.1:{stores.start().port}", "no connection in time",
                           "rediss://"),
}


@pytest.mark.parametrize("what", BAD_STORES)
def test_a_store_that_cannot_decide_ends_the_start_with_one_line(stores, what, tmp_path):
    make, says, advises = BAD_STORES[what]
    url = make(stores)
    began = time.monotonic()
    done = run_ratel("serve", "--store", url, "--resp", "127.0.0.1:0", "--http", "off", cwd=tmp_path)
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert says in done.stderr and advises in done.stderr, done.stderr
    assert "guess" not in done.stderr and "pw@" not in done.stderr
    assert time.monotonic() - began < 10


class OldServer(socketserver.BaseRequestHandler):
    """As much of a Redis 6.2 as a ratel meets before it knows that it is one."""

    def handle(self):
        while words := self.command():
            reply = {"HELLO": b"%3\r\n+server\r\n+redis\r\n+version\r\n+6.2.14\r\n+role\r\n+master\r\n",
                     "SCRIPT": b"-ERR Error compiling script (new function): user_script:1: unexpected symbol\r\n",
                     "TIME": b"*2\r\n+1700000000\r\n+0\r\n", "ROLE": b"*1\r\n+master\r\n"}.get(words[0], b"+OK\r\n")
            self.request.sendall(reply)

    def command(self):
        lines = self.request.makefile("rb", 0)
        head = lines.readline()
        return [lines.read(int(lines.readline()[1:]) + 2)[:-2].decode() for _ in range(int(head[1:]))] if head else []


def test_a_server_that_is_too_old_ends_the_start_with_its_version():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), OldServer) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = "redis://127.0.0.1:%d" % server.server_address[1]
        done = run_ratel("serve", "--store", url, "--resp", "127.0.0.1:0", "--http", "off")
        server.shutdown()
    assert done.returncode == 1
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert "6.2.14" in done.stderr and "Redis 7.0" in done.stderr


def test_a_degraded_start_is_possible_when_asked_for(ratel, stores):
    port = stores.port()
    server = ratel("--store", f"redis://127.0.0.1:{port}", "--start-degraded", rules=RULES)
    asker = Asker(server)
    assert asker.ask("ALLOW", "closed", "k")["source"] == "failed_closed"
    stores.start(port=port)
    wait_until(lambda: asker.ask("ALLOW", "closed", "k")["source"] == "exact", "exact answer", timeout_s=10)


def warnings_of(server):
    return [line for line in server.log().splitlines() if "the store may lose counts" in line]


def test_the_start_warns_of_a_store_that_may_lose_counts(ratel, stores):
    careful = ("--maxmemory", "100mb", "--maxmemory-policy", "noeviction")
    assert not warnings_of(ratel("--store", f"redis://127.0.0.1:{stores.start(*careful).port}"))
    (line,) = warnings_of(ratel("--store", f"redis://127.0.0.1:{stores.start().port}"))
    assert "level=warning" in line and "maxmemory is not set" in line
    for policy in ("allkeys-lru", "volatile-ttl"):
        store = stores.start("--maxmemory", "100mb", "--maxmemory-policy", policy)
        (line,) = warnings_of(ratel("--store", f"redis://127.0.0.1:{store.port}"))
        assert policy in line and f"server=127.0.0.1:{store.port}" in line


def test_every_primary_of_a_cluster_is_warned_of(ratel, stores):
    nodes = stores.cluster(3)
    nodes[1].cli("CONFIG", "SET", "maxmemory", "100mb")
    lines = warnings_of(ratel("--store", f"redis-cluster://127.0.0.1:{nodes[0].port}"))
    assert [sum(f"server=127.0.0.1:{node.port}" in line for line in lines) for node in nodes] == [1, 0, 1]


def test_a_store_that_tells_nothing_of_its_memory_is_an_info(ratel, stores):
    server = ratel("--store", limited(stores, "+@all", "-info"))
    assert not warnings_of(server)
    (line,) = [line for line in server.log().splitlines() if "how it uses its memory" in line]
    assert "level=info" in line and "NOPERM" in line
