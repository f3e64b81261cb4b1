"""How soon a store that fails or refuses is used again when it is well, and who may use it at all.

Each answer comes by its deadline, whatever happens; nobody is charged twice but where that is documented; and answers
are exact again soon after the store is well.
"""

import threading
import time

import pytest

from conftest import run_ratel
from stores import certificate, wait_until
from asking import LIMIT, MARGIN_S, RULES, Asker, metrics, shared
from faulty_proxy import FaultyProxy

MANY = """\
rules:
  many: { limit: 1000000/day, algorithm: fixed_window, on_store_failure: allow }
"""
# From when the store is well until answers are exact again: a second is the aim, the rest is for a busy machine.
RECOVERY_S = 2.0


def kill_clients(store, password=None):
    store.cli("CLIENT", "KILL", "TYPE", "normal", password=password)


class Watch:
    """Peeks at a counter again and again, and keeps how long that took at most and when it last was not exact."""

    def __init__(self, server):
        self._asker = Asker(server)
        self.slowest_s = 0.0
        self.inexact_at = 0.0

    def ask(self):
        began = time.monotonic()
        reply = self._asker.ask("PEEK", "closed", "k")
        now = time.monotonic()
        self.slowest_s = max(self.slowest_s, now - began)
        if reply["source"] != "exact":
            self.inexact_at = now
        return reply

    def during(self, seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            self.ask()
            time.sleep(0.005)

    def until_inexact(self):
        wait_until(lambda: self.ask()["source"] != "exact", "failure")

    def expect_exact_soon(self):
        """The store has just become well: within a second, and from then on."""
        well_at = time.monotonic()
        wait_until(lambda: self.ask()["source"] == "exact", "exact answer")
        self.during(0.5)
        assert self.inexact_at - well_at < RECOVERY_S
        assert self.slowest_s < 0.05 + MARGIN_S


def test_connections_that_are_killed_again_and_again_cost_hardly_an_answer(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store, rules=MANY)
    asker = Asker(server)
    inexact = 0
    allowed = 0
    slowest = 0.0
    for number in range(200):
        if number % 5 == 0:
            kill_clients(store)
        began = time.monotonic()
        reply = asker.ask("ALLOW", "many", "k")
        slowest = max(slowest, time.monotonic() - began)
        inexact += reply["source"] != "exact"
        allowed += reply["allowed"]
    assert allowed == 200
    assert slowest < 0.05 + MARGIN_S
    assert inexact <= 10
    # One that was cut off is asked once more, and may have been charged twice: once for each of 40 cuts at most.
    wait_until(lambda: asker.ask("PEEK", "many", "k")["source"] == "exact", "exact answer")
    spent = 1_000_000 - asker.ask("PEEK", "many", "k")["remaining"]
    assert 200 - inexact <= spent <= 240


def refuse_password(store):
    store.cli("CONFIG", "SET", "requirepass", "later")
    kill_clients(store, password="later")
    return lambda: store.cli("CONFIG", "SET", "requirepass", "", password="later")


def demote(store):
    store.cli("REPLICAOF", "127.0.0.1", "1")
    return lambda: store.cli("REPLICAOF", "NO", "ONE")


def want_replicas(store):
    store.cli("CONFIG", "SET", "min-replicas-to-write", "1")
    return lambda: store.cli("CONFIG", "SET", "min-replicas-to-write", "0")


@pytest.mark.parametrize("fault", [refuse_password, demote, want_replicas])
def test_a_store_that_refused_is_used_again_within_a_second(ratel, stores, fault):
    store = stores.start()
    (server,) = shared(ratel, store)
    assert Asker(server).ask("ALLOW", "closed", "k")["source"] == "exact"
    watch = Watch(server)
    make_well = fault(store)
    if fault is want_replicas:  # a peek writes nothing, and is answered
        wait_until(lambda: Asker(server).ask("ALLOW", "closed", "other")["source"] != "exact", "failure")
    else:
        watch.until_inexact()
        watch.during(2)
    make_well()
    watch.expect_exact_soon()
    assert watch.ask()["remaining"] == LIMIT - 1


def test_a_store_that_holds_its_clients_up_delays_nobody_and_charges_nobody_for_it(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store)
    watch = Watch(server)
    asker = Asker(server)
    assert asker.ask("ALLOW", "closed", "k")["source"] == "exact"
    store.cli("CLIENT", "PAUSE", "1500", "WRITE")  # as when it hands over, or a slot's last keys move
    paused_at = time.monotonic()
    while time.monotonic() < paused_at + 1.2:
        began = time.monotonic()
        assert asker.ask("ALLOW", "closed", "k")["source"] == "failed_closed"
        assert time.monotonic() - began < 0.05 + MARGIN_S
        time.sleep(0.01)
    time.sleep(max(0.0, paused_at + 1.5 - time.monotonic()))
    watch.expect_exact_soon()
    assert watch.ask()["remaining"] == LIMIT - 1


def test_a_store_that_was_restarted_is_used_again_within_a_second(ratel, stores):
    store = stores.start("--appendonly", "yes", "--appendfsync", "always")
    (server,) = shared(ratel, store)
    assert Asker(server).ask("ALLOW", "closed", "k")["source"] == "exact"
    watch = Watch(server)
    for down_s in (0, 2):
        store.process.kill()
        store.process.wait()
        watch.during(down_s)
        store = stores.start("--appendonly", "yes", "--appendfsync", "always", port=store.port, folder=store.folder)
        watch.expect_exact_soon()
        assert watch.ask()["remaining"] == LIMIT - 1


def test_a_slow_store_is_exact_for_those_who_have_the_time(ratel, stores):
    store = stores.start()
    rules = """\
rules:
  patient: { limit: 100/day, deadline: 5s }
  hurried: { limit: 100/day, deadline: 2ms, on_store_failure: deny }
"""
    with FaultyProxy(("127.0.0.1", store.port)) as proxy:
        (server,) = shared(ratel, proxy, "--threads", 1, rules=rules)
        asker = Asker(server)
        asker.ask("ALLOW", "patient", "k")
        proxy.delay_s = 0.02
        for spent in range(2, 12):
            for _ in range(10):
                reply = asker.ask("ALLOW", "hurried", "k")
                assert (reply["allowed"], reply["source"]) == (0, "failed_closed")
            reply = asker.ask("ALLOW", "patient", "k")
            assert (reply["source"], reply["remaining"]) == ("exact", 100 - spent)
        assert "ratel_store_breaker_opened_total 0\n" in metrics(server)
    assert "hurried" not in store.cli("KEYS", "*")  # what came too late has charged nobody


def test_a_rule_with_less_time_than_the_store_takes_keeps_it_from_no_other(ratel, stores):
    store = stores.start()
    rules = """\
rules:
  patient: { limit: 100/day, deadline: 5s }
  hurried: { limit: 100/day, deadline: 10ms, on_store_failure: deny }
"""
    with FaultyProxy(("127.0.0.1", store.port)) as proxy:
        (server,) = shared(ratel, proxy, "--threads", 1, rules=rules)
        asker = Asker(server)
        assert asker.ask("ALLOW", "patient", "k")["source"] == "exact"
        proxy.delay_s = 0.02

        def hurry():
            for _ in range(10):
                assert asker.ask("ALLOW", "hurried", "k")["source"] == "failed_closed"

        hurry()  # for all that is known the store is dead
        wait_until(lambda: asker.ask("PEEK", "patient", "k")["source"] == "exact", "exact answer", timeout_s=5)
        for _ in range(10):
            hurry()
            assert asker.ask("ALLOW", "patient", "k")["source"] == "exact"
        assert "ratel_store_breaker_opened_total 1\n" in metrics(server)


def test_a_store_that_loads_its_data_delays_nobody_and_then_goes_on_counting(ratel, stores):
    store = stores.start("--save", "3600 1")
    store.cli("EVAL", "for i = 1, 3000 do redis.call('SET', 'filler' .. i, i) end", "0")
    (server,) = shared(ratel, store)
    assert Asker(server).ask("ALLOW", "closed", "k")["source"] == "exact"
    store.cli("SAVE")
    store.process.kill()
    store.process.wait()
    # A millisecond a key, and a look at the network now and then.
    slow = ("--key-load-delay", "1000", "--loading-process-events-interval-bytes", "1024")
    starting = threading.Thread(
        target=lambda: stores.start("--save", "3600 1", *slow, port=store.port, folder=store.folder))
    starting.start()
    watch = Watch(server)
    wait_until(lambda: "LOADING" in store.cli("PING", check=False), "store that loads")
    loading = 0
    while "LOADING" in store.cli("PING", check=False):
        loading += watch.ask()["source"] == "failed_closed"
        time.sleep(0.02)
    assert loading > 10
    watch.expect_exact_soon()
    assert watch.ask()["remaining"] == LIMIT - 1
    starting.join()


def test_a_store_with_tls_is_trusted_and_trusts_by_certificate(ratel, stores, tmp_path):
    authority = certificate(tmp_path, "authority")
    other = certificate(tmp_path, "other")
    cert, key = certificate(tmp_path, "server", authority)
    mine, my_key = certificate(tmp_path, "client", authority)
    port = stores.port()
    stores.start("--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file",
                 authority[0])
    url = f"rediss://127.0.0.1:{port}"
    trust = ["--store-ca-file", authority[0]]
    ours = ["--store-cert-file", mine, "--store-key-file", my_key]
    server = ratel("--store", url, *trust, *ours, rules=RULES)
    asker = Asker(server)
    replies = [asker.ask("ALLOW", "gcra", "k") for _ in range(LIMIT + 1)]
    assert {reply["source"] for reply in replies} == {"exact"}
    assert sum(reply["allowed"] for reply in replies) == LIMIT
    for flags, says in (([*ours], "self-signed certificate in certificate chain"),
                        (["--store-ca-file", other[0], *ours], "certificate"),
                        ([*trust], "certificate required"),
                        ([*trust, *ours, "--store-server-name", "redis.example"], "ostname mismatch")):
        done = run_ratel("serve", "--store", url, *map(str, flags), "--resp", "127.0.0.1:0", "--http", "off",
                         cwd=tmp_path)
        assert done.returncode == 1, done.stderr
        assert says in done.stderr and len(done.stderr.strip().splitlines()) == 1, done.stderr


# All that a user of ratel's may need on one server, with keys that begin with the prefix.
RIGHTS = ("+evalsha +script|load +time +get +set +unlink +pttl +pexpire +pexpireat +zadd +zcard +zcount +zrange "
          "+zrangebyscore +zrank +zrem +zremrangebyrank +zscore").split()


def test_a_user_with_the_rights_that_are_needed_is_enough_and_one_less_is_named(ratel, stores, tmp_path):
    store = stores.start()
    url = f"redis://limiter:secret@127.0.0.1:{store.port}"
    store.cli("ACL", "SETUSER", "limiter", "on", ">secret", "~ratel:*", *RIGHTS)
    server = ratel("--store", url, rules=RULES)
    asker = Asker(server)
    for rule in ("gcra", "fixed_window", "calendar", "sliding_window", "sliding_log", "two", "local"):
        replies = [asker.ask("ALLOW", rule, "k") for _ in range(LIMIT + 1)]
        replies += [asker.ask("PEEK", rule, "k"), asker.ask("REFUND", rule, "k"), asker.ask("RESET", rule, "k")]
        assert {reply["source"] for reply in replies} == {"exact"}, rule
    assert asker.ask("ACQUIRE", "slots", "k", "ID", "1")["source"] == "exact"
    for verb in ("RENEW", "RELEASE"):
        assert asker.run(f"RATEL.{verb}", "slots", "k", "1")[3] == "exact"
    assert asker.ask("RESET", "slots", "k")["source"] == "exact"
    for right in ("evalsha", "script|load", "time", "get", "set"):
        store.cli("ACL", "SETUSER", "limiter", "-" + right)
        done = run_ratel("serve", "--store", url, "--resp", "127.0.0.1:0", "--http", "off", cwd=tmp_path)
        assert done.returncode == 1
        assert f"+{right}" in done.stderr, (right, done.stderr)
        assert "secret" not in done.stderr
        store.cli("ACL", "SETUSER", "limiter", "+" + right)
    store.cli("ACL", "SETUSER", "limiter", "resetkeys", "~other:*")
    done = run_ratel("serve", "--store", url, "--resp", "127.0.0.1:0", "--http", "off", cwd=tmp_path)
    assert done.returncode == 1 and "ratel:*" in done.stderr, done.stderr


def test_a_password_that_is_changed_in_its_file_and_in_the_store_is_taken_anew(ratel, stores, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("first\n", encoding="utf-8")
    store = stores.start("--requirepass", "first")
    (server,) = shared(ratel, store, "--store-password-file", secret)
    watch = Watch(server)
    assert watch.ask()["source"] == "exact"
    store.cli("CONFIG", "SET", "requirepass", "second", password="first")
    kill_clients(store, password="second")
    watch.until_inexact()
    secret.write_text("second\n", encoding="utf-8")
    wait_until(lambda: watch.ask()["source"] == "exact", "exact answer", timeout_s=10)
    assert "WRONGPASS" in server.log()
    assert "first" not in server.log() and "second\n" not in server.log()


def test_sentinels_that_ask_for_a_password_are_told_it(ratel, stores, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("sesame\n", encoding="utf-8")
    primary, _ = stores.replicated(1)
    sentinels = stores.sentinels(primary, password="sesame")
    names = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in sentinels)
    url = f"redis-sentinel://{names}/main"
    server = ratel("--store", url, "--store-sentinel-password-file", secret, rules=RULES)
    assert Asker(server).ask("ALLOW", "closed", "k")["source"] == "exact"
    done = run_ratel("serve", "--store", url, "--resp", "127.0.0.1:0", "--http", "off", cwd=tmp_path)
    assert done.returncode == 1 and "sentinel 127.0.0.1" in done.stderr and "NOAUTH" in done.stderr


@pytest.mark.parametrize("way", ["unix socket", "database", "IPv6", "name"])
def test_each_way_to_reach_one_server_leads_to_one_count(ratel, stores, way, tmp_path):
    path = tmp_path / "s"
    store = stores.start("--unixsocket", path, "--bind", "127.0.0.1", "::1")
    url = {
        "unix socket": f"redis+unix://{path}",
        "database": f"redis://127.0.0.1:{store.port}/7",
        "IPv6": f"redis://[::1]:{store.port}",
        "name": f"redis://localhost:{store.port}",
    }[way]
    servers = [ratel("--store", url, rules=RULES) for _ in range(2)]
    askers = [Asker(server) for server in servers]
    replies = [askers[number % 2].ask("ALLOW", "gcra", "k") for number in range(LIMIT + 2)]
    assert {reply["source"] for reply in replies} == {"exact"}
    assert [reply["allowed"] for reply in replies] == [1] * LIMIT + [0, 0]
    database = "7" if way == "database" else "0"
    assert "ratel:1:{k}" in store.cli("-n", database, "KEYS", "*")
