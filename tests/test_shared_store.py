"""Many ratels share one count in a Redis or Valkey that fails in every way that servers and networks do.

Limits are per day and deadlines of races generous, so that a busy machine proves nothing wrong.
"""

import binascii
import json
import multiprocessing
import os
import re
import signal
import socket
import threading
import time
import urllib.error
import urllib.request

import pytest

from asking import LIMIT, MARGIN_S, RULES, Asker, alone, metrics, shared
from faulty_proxy import FaultyProxy
from stores import wait_until

def slot_of(key):
    return binascii.crc_hqx(key.encode(), 0) % 16384


RACES = ["gcra", "fixed_window", "calendar", "sliding_window", "sliding_log", "two", "slots"]
ROUNDS = 20


def race(port, channel):
    """One of the processes: asks one question in each race, when it is told to."""

    class Port:
        resp_port = port

    asker = Asker(Port)
    for number in range(ROUNDS * len(RACES)):
        rule = RACES[number % len(RACES)]
        words = ["ID", str(os.getpid())] if rule == "slots" else []
        channel.recv(1)
        reply = asker.ask("ACQUIRE" if rule == "slots" else "ALLOW", rule, f"race{number}", *words)
        channel.send(b"?" if reply["source"] != "exact" else b"y" if reply["allowed"] else b"n")


@pytest.mark.parametrize("kind", ["memory", "standalone", "cluster"])
def test_fifty_processes_through_five_ratels_get_exactly_the_limit(ratel, stores, kind):
    if kind == "memory":
        ratels = [ratel(rules=RULES)]  # which shares with nobody
    elif kind == "standalone":
        ratels = shared(ratel, stores.start(), "--threads", 1, count=5)
    else:
        ratels = shared(ratel, stores.cluster(3)[0], "--threads", 1, count=5, scheme="redis-cluster")
    context = multiprocessing.get_context("fork")
    channels = []
    for i in range(50):
        ours, theirs = socket.socketpair()
        ours.settimeout(60)
        context.Process(target=race, args=(ratels[i % len(ratels)].resp_port, theirs), daemon=True).start()
        theirs.close()
        channels.append(ours)
    for number in range(ROUNDS * len(RACES)):
        for channel in channels:
            channel.send(b"!")
        said = sorted(channel.recv(1) for channel in channels)
        assert said == [b"n"] * (50 - LIMIT) + [b"y"] * LIMIT, f"race {number}, {RACES[number % len(RACES)]}"
    for channel in channels:
        channel.close()


def test_a_stopped_store_delays_nobody_beyond_the_deadline_and_charges_nobody_for_what_it_missed(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store)
    asker = Asker(server)
    assert asker.ask("ALLOW", "closed", "k")["source"] == "exact"
    store.signal(signal.SIGSTOP)
    slowest = 0.0
    until = time.monotonic() + 3
    number = 0
    while time.monotonic() < until:
        number += 1
        began = time.monotonic()
        reply = asker.ask("ALLOW", ["closed", "open", "local"][number % 3], "k")
        slowest = max(slowest, time.monotonic() - began)
        assert reply["source"] in ("failed_closed", "failed_open", "local"), reply
        time.sleep(0.02)
    store.signal(signal.SIGCONT)
    assert slowest < 0.05 + MARGIN_S
    began = time.monotonic()
    wait_until(lambda: asker.ask("PEEK", "closed", "k")["source"] == "exact", "exact answer", timeout_s=5)
    assert time.monotonic() - began < 1 + MARGIN_S
    assert asker.ask("PEEK", "closed", "k")["remaining"] == LIMIT - 1


def test_each_failure_mode_is_marked_and_readyz_says_so(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store)
    asker = Asker(server)
    store.process.kill()
    store.process.wait()
    wait_until(lambda: asker.ask("ALLOW", "closed", "x")["source"] == "failed_closed", "failure")
    for _ in range(10):  # open the breaker
        asker.ask("ALLOW", "closed", "x")
    denied = asker.ask("ALLOW", "closed", "x")
    assert (denied["allowed"], denied["source"]) == (0, "failed_closed") and denied["retry_after_ms"] > 0
    opened = asker.ask("ALLOW", "open", "x")
    assert (opened["allowed"], opened["source"]) == (1, "failed_open")
    alone = [asker.ask("ALLOW", "local", "x") for _ in range(LIMIT + 1)]
    assert [reply["allowed"] for reply in alone] == [1] * LIMIT + [0]
    assert {reply["source"] for reply in alone} == {"local"}
    assert asker.run("CL.THROTTLE", "y", 4, 5, 86400)[0] == 0  # local unless told otherwise

    with pytest.raises(urllib.error.HTTPError) as not_ready:
        urllib.request.urlopen(f"http://{server.http}/readyz", timeout=10)
    assert not_ready.value.code == 503
    body = json.dumps({"rule": "closed", "key": "x"}).encode()
    request = urllib.request.Request(f"http://{server.http}/v1/allow", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert json.load(answer)["source"] == "failed_closed"
    with pytest.raises(urllib.error.HTTPError) as unavailable:
        urllib.request.urlopen(f"http://{server.http}/v1/auth?rule=closed&key=x", timeout=10)
    assert unavailable.value.code == 503 and int(unavailable.value.headers["Retry-After"]) >= 1
    wait_until(lambda: "answered without the store" in server.log(), "line in the log")
    assert 'ratel_degraded_decisions_total{rule="closed",reason="' in metrics(server)


def test_throttle_without_a_store_is_an_error_where_nobody_may_pass(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store, "--on-store-failure", "deny")
    asker = Asker(server)
    assert asker.run("CL.THROTTLE", "k", 4, 5, 86400)[0] == 0
    store.process.kill()
    store.process.wait()
    wait_until(lambda: str(asker.run("CL.THROTTLE", "k", 4, 5, 86400)).startswith("-UNAVAILABLE "), "error")


def test_what_was_admitted_alone_is_charged_when_the_store_is_back(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store, "--threads", 1)
    asker = Asker(server)
    asker.ask("ALLOW", "local", "k")
    alone(asker, store)
    assert all(asker.ask("ALLOW", "local", "k")["source"] == "local" for _ in range(4))
    assert "\nratel_local_uncharged_counters 1\n" in metrics(server)
    store.signal(signal.SIGCONT)
    wait_until(lambda: asker.ask("PEEK", "local", "k")["source"] == "exact", "exact answer", timeout_s=5)
    assert asker.ask("PEEK", "local", "k")["remaining"] == LIMIT - 5
    assert "\nratel_local_uncharged_counters 0\n" in metrics(server)


def test_what_is_booked_ahead_counts_in_an_outage_and_after_it(ratel, stores):
    store = stores.start()
    rules = RULES + f"  books: {{ limit: {LIMIT}/day, max_wait: 1d }}\n"
    (server,) = shared(ratel, store, "--threads", 1, rules=rules)
    asker = Asker(server)

    def book(key):
        replies = []
        while not replies or replies[-1]["allowed"]:
            replies.append(asker.ask("RESERVE", "books", key))
        return len(replies) - 1, {reply["source"] for reply in replies}

    for _ in range(LIMIT + 4):
        assert asker.ask("RESERVE", "books", "known")["source"] == "exact"
    alone(asker, store)
    assert book("known") == (LIMIT - 4, {"local"})
    assert book("new") == (2 * LIMIT, {"local"})
    store.signal(signal.SIGCONT)
    wait_until(lambda: asker.ask("PEEK", "books", "new")["source"] == "exact", "exact answer", timeout_s=5)
    assert book("known") == (0, {"exact"})
    assert book("new") == (0, {"exact"})
    asker.ask("REFUND", "books", "new", "COST", 3)
    assert book("new") == (3, {"exact"})


def test_ratels_that_have_lost_their_store_admit_no_more_than_the_limit_together(ratel, stores):
    store = stores.start()
    ratels = shared(ratel, store, count=5)
    for server in ratels:
        wait_until(lambda s=server: "ratel_store_processes 5\n" in metrics(s), "number of processes")
    store.process.kill()
    askers = [Asker(server) for server in ratels]
    admitted = [0] * len(askers)
    for i, asker in enumerate(askers):
        for _ in range(LIMIT):
            reply = asker.ask("ALLOW", "local", "k")
            assert reply["source"] == "local"
            admitted[i] += reply["allowed"]
    assert admitted == [LIMIT // 5] * 5


@pytest.mark.parametrize("kind", ["redis", "valkey"])
def test_scripts_and_connections_that_go_away_change_no_answer(ratel, stores, kind):
    store = stores.start(kind=kind)
    (server,) = shared(ratel, store)
    stop = threading.Event()

    def disturb():
        while not stop.is_set():
            store.cli("SCRIPT", "FLUSH")
            time.sleep(0.01)

    thread = threading.Thread(target=disturb)
    thread.start()
    try:
        asker = Asker(server)
        replies = [asker.ask("ALLOW", "gcra", "k") for _ in range(300)]
    finally:
        stop.set()
        thread.join()
    assert {reply["source"] for reply in replies} == {"exact"}
    assert sum(reply["allowed"] for reply in replies) == LIMIT


def test_a_killed_store_that_comes_back_with_its_data_goes_on_counting(ratel, stores):
    store = stores.start("--appendonly", "yes", "--appendfsync", "always")
    (server,) = shared(ratel, store)
    asker = Asker(server)
    for _ in range(4):
        assert asker.ask("ALLOW", "closed", "k")["source"] == "exact"
    store.process.kill()
    store.process.wait()
    wait_until(lambda: asker.ask("PEEK", "closed", "k")["source"] == "failed_closed", "failure")
    stores.start("--appendonly", "yes", "--appendfsync", "always", port=store.port, folder=store.folder)
    wait_until(lambda: asker.ask("PEEK", "closed", "k")["source"] == "exact", "exact answer", timeout_s=10)
    assert asker.ask("PEEK", "closed", "k")["remaining"] == LIMIT - 4


@pytest.mark.parametrize("fault", ["swallow", "cut", "halve_replies"])
def test_a_bad_network_is_bounded_and_gets_well(ratel, stores, fault):
    store = stores.start()
    with FaultyProxy(("127.0.0.1", store.port)) as proxy:
        (server,) = shared(ratel, proxy, rules=RULES + f"  sluggish: {{ limit: {LIMIT}/day, deadline: 1m }}\n")
        asker = Asker(server)
        assert asker.ask("ALLOW", "closed", "k")["source"] == "exact"
        # Others have all the time in the world: that is not to make anybody else wait for them.
        patient = threading.Thread(target=lambda: [Asker(server).ask("PEEK", "sluggish", "k") for _ in range(20)])
        patient.start()
        until = time.monotonic() + 2
        slowest = 0.0
        while time.monotonic() < until:
            proxy.swallow = fault == "swallow"
            proxy.halve_replies = fault == "halve_replies"
            if fault == "cut":
                proxy.cut()
            began = time.monotonic()
            asker.ask("PEEK", "closed", "k")
            slowest = max(slowest, time.monotonic() - began)
        proxy.swallow = proxy.halve_replies = False
        assert slowest < 0.05 + MARGIN_S
        wait_until(lambda: asker.ask("PEEK", "closed", "k")["source"] == "exact", "exact answer", timeout_s=5)
        assert asker.ask("PEEK", "closed", "k")["remaining"] == LIMIT - 1
        patient.join()


# What makes a server refuse, and what makes it well again.
REFUSALS = {
    "memory used up": ([("CONFIG", "SET", "maxmemory", "1")], ("CONFIG", "SET", "maxmemory", "0"), "OOM"),
    "disk that takes nothing": ([("CONFIG", "SET", "save", "1 1"), ("BGSAVE",)], ("CONFIG", "SET", "save", ""),
                                "MISCONF"),
    "too few replicas": ([("CONFIG", "SET", "min-replicas-to-write", "1")],
                         ("CONFIG", "SET", "min-replicas-to-write", "0"), "NOREPLICAS"),
    "demoted in place": ([("REPLICAOF", "127.0.0.1", "1")], ("REPLICAOF", "NO", "ONE"), "replica"),
    "password set": ([("CONFIG", "SET", "requirepass", "later")], ("CONFIG", "SET", "requirepass", ""), "NOAUTH"),
}


@pytest.mark.parametrize("why", REFUSALS)
def test_a_store_that_refuses_charges_nobody_and_the_log_says_why(ratel, stores, why):
    begin, end, says = REFUSALS[why]
    store = stores.start()
    (store.folder / "dump.rdb").mkdir()  # so that nothing can be saved there
    (server,) = shared(ratel, store)
    asker = Asker(server)
    assert asker.ask("ALLOW", "closed", "k")["source"] == "exact"
    for command in begin:
        store.cli(*command)
    if says == "MISCONF":
        wait_until(lambda: store.info("rdb_last_bgsave_status") == "err", "failure to save")
    password = "later" if why == "password set" else None
    if password:  # those who are in may stay
        store.cli("CLIENT", "KILL", "TYPE", "normal", password=password)
    exact = 1
    while asker.ask("ALLOW", "closed", "k")["source"] == "exact":
        exact += 1
        assert exact < LIMIT, "it does not refuse"
    wait_until(lambda: "answered without the store" in server.log() and says in server.log(), "line in the log")
    assert "later" not in server.log()
    store.cli(*end, password=password)
    wait_until(lambda: asker.ask("PEEK", "closed", "k")["source"] == "exact", "exact answer", timeout_s=10)
    assert asker.ask("PEEK", "closed", "k")["remaining"] == LIMIT - exact


def test_a_script_of_somebody_else_that_does_not_end_delays_nobody(ratel, stores):
    store = stores.start("--busy-reply-threshold", "100")
    (server,) = shared(ratel, store)
    asker = Asker(server)
    assert asker.ask("ALLOW", "closed", "k")["source"] == "exact"
    busy = threading.Thread(target=lambda: store.cli("EVAL", "while true do end", "0", check=False))
    busy.start()
    try:
        wait_until(lambda: asker.ask("ALLOW", "closed", "k")["source"] == "failed_closed", "failure")
        slowest = 0.0
        for _ in range(30):
            began = time.monotonic()
            assert asker.ask("ALLOW", "closed", "k")["source"] == "failed_closed"
            slowest = max(slowest, time.monotonic() - began)
        assert slowest < 0.05 + MARGIN_S
    finally:
        wait_until(lambda: "OK" in store.cli("SCRIPT", "KILL", check=False), "end of the script")
        busy.join()
    wait_until(lambda: asker.ask("PEEK", "closed", "k")["source"] == "exact", "exact answer", timeout_s=10)


def test_a_store_that_goes_while_nobody_asks_is_noticed(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store)
    store.process.kill()
    wait_until(lambda: "the store does not decide" in server.log(), "line in the log")
    stores.start(port=store.port)
    wait_until(lambda: "the store decides again" in server.log(), "line in the log")
    assert server.log().count("the store does not decide") == 1
    assert "answered without the store" not in server.log()


def test_many_questions_at_once_are_no_fault_of_the_store(ratel, stores):
    (server,) = shared(ratel, stores.start(), "--threads", 1)
    body = json.dumps([{"rule": "much", "key": "x"}] * 1000).encode()
    for _ in range(5):
        request = urllib.request.Request(f"http://{server.http}/v1/allow", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert {reply["source"] for reply in json.load(answer)} == {"exact"}
    assert "ratel_store_breaker_opened_total 0\n" in metrics(server)


def test_a_store_that_evicts_is_told_of(ratel, stores):
    store = stores.start("--maxmemory-policy", "allkeys-random")
    (server,) = shared(ratel, store)
    time.sleep(1)  # that it has asked once is nowhere to be seen
    assert "ratel_store_evicted_keys_total 0\n" in metrics(server)
    for i in range(1000):
        Asker(server).ask("ALLOW", "gcra", f"k{i}")
    store.cli("CONFIG", "SET", "maxmemory", "1")
    wait_until(lambda: "the store evicts keys" in server.log(), "line in the log")
    assert "ratel_store_evicted_keys_total 0\n" not in metrics(server)
    assert abs(float(re.search(r"^ratel_store_clock_ahead_seconds (\S+)$", metrics(server), re.M).group(1))) < 1


def test_a_ratel_that_restarts_forgets_nothing(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store)
    assert Asker(server).ask("ALLOW", "closed", "k")["source"] == "exact"
    server.stop()
    (server,) = shared(ratel, store)
    assert Asker(server).ask("PEEK", "closed", "k")["remaining"] == LIMIT - 1


def test_a_client_that_has_said_all_still_hears_every_answer(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store)
    store.signal(signal.SIGSTOP)
    with socket.create_connection(("127.0.0.1", server.resp_port), timeout=30) as client:
        client.sendall(b"RATEL.ALLOW closed k\r\n" * 100)
        client.shutdown(socket.SHUT_WR)
        heard = b""
        while chunk := client.recv(1 << 16):
            heard += chunk
    assert heard.count(b"failed_closed") == 100
    store.signal(signal.SIGCONT)


def test_sentinels_name_the_new_primary(ratel, stores):
    primary, _ = stores.replicated(1)
    sentinels = stores.sentinels(primary)
    names = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in sentinels)
    server = ratel("--store", f"redis-sentinel://{names}/main", rules=RULES)
    asker = Asker(server)
    assert asker.ask("ALLOW", "closed", "k")["source"] == "exact"
    primary.process.kill()
    primary.process.wait()
    wait_until(lambda: asker.ask("ALLOW", "closed", "k")["source"] != "exact", "failure")
    wait_until(lambda: asker.ask("PEEK", "closed", "k")["source"] == "exact", "exact answer", timeout_s=30)
    assert asker.ask("PEEK", "closed", "k")["remaining"] == LIMIT - 1  # it was replicated


def test_a_cluster_fails_over(ratel, stores):
    nodes = stores.cluster(3, 1)
    names = ",".join(f"127.0.0.1:{node.port}" for node in nodes[:3])
    server = ratel("--store", f"redis-cluster://{names}", rules=RULES)
    asker = Asker(server)
    keys = [f"key{i}" for i in range(30)]
    assert {asker.ask("ALLOW", "gcra", key)["source"] for key in keys} == {"exact"}
    replica = next(node for node in nodes if "role:slave" in node.cli("INFO", "replication"))
    assert "OK" in replica.cli("CLUSTER", "FAILOVER")
    wait_until(lambda: "role:master" in replica.cli("INFO", "replication"), "failover", timeout_s=20)
    replies = [asker.ask("ALLOW", "gcra", key) for key in keys]
    assert {reply["source"] for reply in replies} == {"exact"}
    assert {reply["remaining"] for reply in replies} == {LIMIT - 2}


def test_a_cluster_is_asked_for_no_more_than_it_can_decide_in_one_step(ratel, stores):
    rules = "rules:\n  user: { limit: 5/day }\n  address: { limit: 5/day, key: ip }\n"
    server = ratel("--store", f"redis-cluster://127.0.0.1:{stores.cluster(3)[0].port}", rules=rules)
    asker = Asker(server)
    error = asker.run("RATEL.ALLOW", "user,address", "2001:db8::1")
    assert error.startswith("-") and "user and address" in error and "apart" in error, error
    for rules, key in (("user", "2001:db8::1"), ("address", "2001:db8::1"), ("user,address", "192.0.2.1")):
        assert asker.ask("ALLOW", rules, key)["source"] == "exact"
    assert asker.ask("PEEK", "user", "2001:db8::1")["remaining"] == 4  # what could not be decided was not charged


def test_a_cluster_that_loses_a_primary_counts_on_with_its_replica(ratel, stores):
    nodes = stores.cluster(3, 1)
    server = ratel("--store", f"redis-cluster://127.0.0.1:{nodes[0].port}", rules=RULES)
    asker = Asker(server)
    keys = [f"key{i}" for i in range(30)]
    assert {asker.ask("ALLOW", "open", key)["source"] for key in keys} == {"exact"}
    primary = nodes[1]
    wait_until(lambda: primary.cli("WAIT", 1, 100).strip() == "1", "replication")
    primary.process.kill()
    primary.process.wait()
    sources = {key: asker.ask("ALLOW", "open", key)["source"] for key in keys}
    lost = {key for key in keys if sources[key] == "failed_open"}
    assert 0 < len(lost) < len(keys), sources  # the slots of the others go on
    wait_until(lambda: all(asker.ask("PEEK", "open", key)["source"] == "exact" for key in keys), "exact answers")
    for key in keys:
        assert asker.ask("PEEK", "open", key)["remaining"] == LIMIT - (1 if key in lost else 2), key


def test_a_slot_that_moves_while_it_is_asked_gives_no_wrong_answer(ratel, stores):
    nodes = stores.cluster(3)
    ids = [node.cli("CLUSTER", "MYID").strip() for node in nodes]
    rules = "rules:\n  much: { limit: [1000000/day, 900000/day], algorithm: fixed_window, deadline: 1s }\n"
    server = ratel("--store", f"redis-cluster://127.0.0.1:{nodes[0].port}", rules=rules)
    slot = slot_of("user0")
    keys = [key for key in (f"user{i}" for i in range(100_000)) if slot_of(key) == slot][:3]
    stop = threading.Event()
    asked = dict.fromkeys(keys, 0)
    wrong = []

    def ask_for(key):
        asker = Asker(server)
        while not stop.is_set():
            reply = asker.ask("ALLOW", "much", key)
            asked[key] += 1
            if reply["source"] != "exact" or reply["remaining"] != 900_000 - asked[key]:
                wrong.append((asked[key], reply))
                return

    askers = [threading.Thread(target=ask_for, args=(key,)) for key in keys]
    for asker in askers:
        asker.start()
    at = next(i for i, node in enumerate(nodes) if not node.cli("GET", "{user0}").startswith("MOVED"))
    for _ in range(4):
        to = (at + 1) % 3
        nodes[to].cli("CLUSTER", "SETSLOT", slot, "IMPORTING", ids[at])
        nodes[at].cli("CLUSTER", "SETSLOT", slot, "MIGRATING", ids[to])
        for name in nodes[at].cli("CLUSTER", "GETKEYSINSLOT", slot, 100).split():
            time.sleep(0.05)  # some of a question's counters here, and some there
            nodes[at].cli("MIGRATE", "127.0.0.1", nodes[to].port, name, 0, 5000)
        for node in (nodes[to], nodes[at], nodes[3 - at - to]):
            node.cli("CLUSTER", "SETSLOT", slot, "NODE", ids[to])
        time.sleep(0.1)
        at = to
    stop.set()
    for asker in askers:
        asker.join()
    assert not wrong
    assert all(count > 10 for count in asked.values()), asked
