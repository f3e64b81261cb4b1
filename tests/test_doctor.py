"""`ratel doctor` examines real servers, each with something planted that a person would want to hear of."""

import re
import shutil
import subprocess

import pytest

from conftest import ROOT, program, run_ratel
from faulty_proxy import FaultyProxy
from stores import certificate, wait_until
from asking import LIMIT, RULES, Asker

SECRET = "s3cret-of-the-store"
CAREFUL = ("--maxmemory", "100mb", "--maxmemory-policy", "noeviction", "--appendonly", "yes")


class Report:
    """What a doctor said: of each check the level, and all its text on one line."""

    def __init__(self, done):
        self.code = done.returncode
        self.text = done.stdout
        self.checks = []  # (check, level, text)
        for line in done.stdout.splitlines():
            words = line.split()
            if line.startswith(("  OK  ", "  WARN", "  FAIL")):
                self.checks.append([words[1], words[0], " ".join(words[2:])])
            elif line.startswith(" " * 20):
                self.checks[-1][2] += " " + " ".join(words)
        assert SECRET not in done.stdout + done.stderr
        assert self.checks, done.stdout + done.stderr
        counts = [sum(level == each for _, level, _ in self.checks) for each in ("OK", "WARN", "FAIL")]
        assert "%d OK, %d WARN, %d FAIL" % tuple(counts) in done.stdout
        assert self.code == (1 if counts[2] else 0)

    def levels(self):
        return {level for _, level, _ in self.checks}

    def of(self, check):
        """The level and the text of a check that was made once."""
        (found,) = [(level, text) for name, level, text in self.checks if name == check]
        return found

    def expect(self, check, level, *words):
        found, text = self.of(check)
        assert found == level, self.text
        for word in words:
            assert word in text, self.text


def doctor(store, *flags, scheme="redis", user="", path=""):
    target = store if isinstance(store, str) else f"{scheme}://{user}127.0.0.1:{store.port}{path}"
    return Report(run_ratel("doctor", "--store", target, *flags))


@pytest.mark.parametrize("kind", ["redis", "valkey"])
def test_of_a_careful_server_there_is_nothing_to_say(stores, kind):
    report = doctor(stores.start(*CAREFUL, kind=kind), path="/3")
    assert report.levels() == {"OK"}, report.text
    report.expect("version", "OK", {"redis": "Redis 7", "valkey": "Valkey 8"}[kind])
    report.expect("connection", "OK", "user default", "database 3", "without TLS")
    report.expect("persistence", "OK", "append-only")
    report.expect("latency", "OK", "min", "p50", "p99", "100 decisions")
    report.expect("keys", "OK", "none of ours")


def test_it_leaves_nothing_behind(stores):
    store = stores.start(*CAREFUL)
    doctor(store)
    wait_until(lambda: store.cli("DBSIZE").strip() == "0", "empty store", timeout_s=3)


def test_nobody_there(stores):
    report = doctor(f"redis://127.0.0.1:{stores.port()}")
    report.expect("connection", "FAIL", "refused", "address")


def test_password(stores, tmp_path):
    store = stores.start(*CAREFUL, "--requirepass", SECRET)
    doctor(store).expect("connection", "FAIL", "NOAUTH", "--store-password-file")
    doctor(store, user=f":not-{SECRET[3:]}@").expect("connection", "FAIL", "WRONGPASS", "--store-password-file")
    assert doctor(store, user=f":{SECRET}@").levels() == {"OK"}
    (tmp_path / "secret").write_text(SECRET + "\n", encoding="utf-8")
    assert doctor(store, "--store-password-file", tmp_path / "secret").levels() == {"OK"}


def test_tls(stores, tmp_path):
    authority = certificate(tmp_path, "authority")
    cert, key = certificate(tmp_path, "server", authority)
    port = stores.port()
    store = stores.start("--tls-port", port, "--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file",
                         authority[0], "--tls-auth-clients", "no", *CAREFUL)
    url = f"rediss://127.0.0.1:{port}"
    trust = ("--store-ca-file", authority[0])
    report = doctor(url, *trust)
    report.expect("connection", "OK", "with TLS")
    report.expect("script", "OK")
    doctor(url).expect("connection", "FAIL", "self-signed", "--store-ca-file")
    doctor(url, *trust, "--store-server-name", "other").expect("connection", "FAIL", "mismatch", "--store-server-name")
    doctor(f"redis://127.0.0.1:{port}").expect("connection", "FAIL", "rediss://")
    store.cli("CONFIG", "SET", "tls-auth-clients", "yes")
    doctor(url, *trust).expect("connection", "FAIL", "certificate required", "--store-cert-file")
    done = run_ratel("doctor", "--store", url, "--store-ca-file", tmp_path / "none")
    assert done.returncode == 2 and "none" in done.stderr


def test_unix_socket(stores, tmp_path):
    stores.start("--unixsocket", tmp_path / "socket", *CAREFUL)
    report = doctor(f"redis+unix://{tmp_path}/socket")
    assert report.levels() == {"OK"} and f"unix:{tmp_path}/socket" in report.text
    doctor(f"redis+unix://{tmp_path}/other").expect("connection", "FAIL", "No such file", "--store")


def test_database(stores):
    doctor(stores.start(), path="/99").expect("connection", "FAIL", "DB index is out of range", "databases")


@pytest.mark.parametrize("kind", ["redis", "valkey"])
def test_rights(stores, kind):
    store = stores.start(*CAREFUL, kind=kind)
    store.cli("ACL", "SETUSER", "lim", "on", f">{SECRET}", "~ratel:*", "+@all", "-zadd", "-pexpire")
    lacking = doctor(store, user=f"lim:{SECRET}@")
    lacking.expect("rights", "FAIL", "pexpire", "zadd", "ACL SETUSER lim +pexpire +zadd")
    store.cli("ACL", "SETUSER", "lim", "+zadd", "+pexpire", "resetkeys", "~other:*")
    lacking = doctor(store, user=f"lim:{SECRET}@")
    lacking.expect("rights", "FAIL", "keys", "ACL SETUSER lim ~ratel:*")
    lacking.expect("script", "FAIL")
    assert doctor(store, "--key-prefix", "other", user=f"lim:{SECRET}@").levels() == {"OK"}


@pytest.mark.parametrize("kind", ["redis", "valkey"])
def test_the_rights_that_the_documentation_names_are_enough(ratel, stores, kind):
    (line,) = re.findall("^ACL SETUSER ratel .*$", (ROOT / "docs/store.md").read_text(encoding="utf-8"), re.M)
    line = line.replace("PASSWORD", SECRET)
    store = stores.start(*CAREFUL, kind=kind)
    store.cli(*line.split())
    url = f"redis://ratel:{SECRET}@127.0.0.1:{store.port}/1"
    assert doctor(url).levels() == {"OK", "WARN"}
    store.cli("ACL", "LOG", "RESET")
    asker = Asker(ratel("--store", url, rules=RULES))
    for rule in ("gcra", "fixed_window", "calendar", "sliding_window", "sliding_log", "two"):
        assert [asker.ask("ALLOW", rule, "k")["allowed"] for _ in range(LIMIT + 1)] == [1] * LIMIT + [0]
        assert asker.ask("REFUND", rule, "k")["source"] == "exact"
    for number in range(2):
        assert asker.ask("ACQUIRE", "slots", "k", "ID", number)["source"] == "exact"
        asker.run("RATEL.RELEASE", "slots", "k", "ID", number)
    asker.run("RATEL.RESET", "gcra", "k")
    assert asker.ask("PEEK", "gcra", "k")["remaining"] == LIMIT
    denied = set(re.findall(r"object\n(\S+)\n", store.cli("ACL", "LOG")))
    assert denied <= {"info", "client|capa", "client|setinfo"}, denied
    store.cli(*line.split(), "+info", "+config|get", "+scan")
    assert doctor(url).levels() == {"OK"}


def test_what_may_not_be_asked_is_said(stores):
    store = stores.start(*CAREFUL)
    store.cli("ACL", "SETUSER", "lim", "on", f">{SECRET}", "~ratel:*", "+@all", "-info", "-config", "-scan")
    report = doctor(store, user=f"lim:{SECRET}@")
    assert report.code == 0
    report.expect("info", "WARN", "NOPERM", "+info")
    report.expect("config", "WARN", "NOPERM", "+config|get")
    report.expect("keys", "WARN", "NOPERM", "+scan")
    report.expect("script", "OK")
    report.expect("latency", "OK")


def test_replica(stores):
    primary, (replica,) = stores.replicated(1)
    report = doctor(replica)
    report.expect("role", "FAIL", "replica", "primary")
    report.expect("script", "FAIL", "replica")
    doctor(primary).expect("role", "OK")


@pytest.mark.parametrize("policy", ["allkeys-lru", "volatile-ttl"])
def test_eviction(stores, policy):
    report = doctor(stores.start("--maxmemory", "100mb", "--maxmemory-policy", policy))
    report.expect("eviction", "WARN", policy, "noeviction")
    assert report.code == 0


def test_memory_without_a_bound(stores):
    doctor(stores.start()).expect("memory", "WARN", "maxmemory is not set", "set maxmemory")


def fill(store, values, bytes_each):
    store.cli("EVAL", f"for i = 1, {values} do redis.call('SET', 'x' .. i, string.rep('x', {bytes_each})) end", 0,
              check=False)


def test_keys_that_were_evicted(stores):
    store = stores.start("--maxmemory", "5mb", "--maxmemory-policy", "allkeys-random")
    for _ in range(3):
        fill(store, 3000, 2000)
        fill(store, 1, 10)  # what one script writes is evicted before the next
    report = doctor(store)
    report.expect("evicted", "WARN", "keys since the server started", "begun anew")


def test_memory_that_is_full(stores):
    store = stores.start("--maxmemory", "5mb", "--maxmemory-policy", "noeviction")
    fill(store, 5000, 2000)
    report = doctor(store)
    report.expect("memory", "WARN", "raise maxmemory")
    report.expect("script", "FAIL", "OOM", "raise its maxmemory")


def test_persistence(stores):
    doctor(stores.start()).expect("persistence", "WARN", "none", "appendonly yes", "forgets all counts")
    doctor(stores.start("--save", "3600 1")).expect("persistence", "OK", "snapshots", "3600 1")


def test_a_save_that_failed(stores):
    store = stores.start("--save", "3600 1")
    store.cli("SET", "x", "1")
    shutil.rmtree(store.folder)
    store.cli("BGSAVE")
    wait_until(lambda: store.info("rdb_last_bgsave_status") == "err", "failed save")
    report = doctor(store)
    report.expect("persistence", "FAIL", "failed", "room on its disk")
    report.expect("script", "FAIL", "MISCONF")


def test_replicas_that_nothing_waits_for(stores):
    primary, _ = stores.replicated(1)
    doctor(primary).expect("replicas", "WARN", "1; min-replicas-to-write 0", "set min-replicas-to-write 1")
    primary.cli("CONFIG", "SET", "min-replicas-to-write", 1)
    doctor(primary).expect("replicas", "OK", "1; min-replicas-to-write 1")


def test_replicas_that_are_missing(stores):
    report = doctor(stores.start("--min-replicas-to-write", 1))
    report.expect("replicas", "FAIL", "only 0 in step", "NOREPLICAS")
    report.expect("script", "FAIL", "NOREPLICAS")


def test_a_cluster_asked_as_a_server_and_a_server_as_a_cluster(stores):
    nodes = stores.cluster(3)
    report = doctor(nodes[0])
    report.expect("topology", "FAIL", "node of a cluster", "redis-cluster://")
    report.expect("script", "FAIL", "node of a cluster")
    doctor(stores.start(), scheme="redis-cluster").expect("cluster", "FAIL", "cluster support disabled", "redis://")


def test_a_cluster_is_examined_primary_by_primary(stores):
    nodes = stores.cluster(3)
    for node in nodes[:2]:
        node.cli("CONFIG", "SET", "maxmemory", "100mb")
    report = doctor(nodes[0], scheme="redis-cluster")
    report.expect("cluster", "OK", "16384 of 16384 slots on 3 primaries")
    for node in nodes:
        assert f"\n127.0.0.1:{node.port}\n" in report.text
    assert sorted(level for check, level, _ in report.checks if check == "memory") == ["OK", "OK", "WARN"]
    assert [level for check, level, _ in report.checks if check == "script"] == ["OK"] * 3
    nodes[0].cli("CLUSTER", "DELSLOTSRANGE", *[word for word in slots_of(nodes[0])])
    doctor(nodes[0], scheme="redis-cluster").expect("cluster", "FAIL", "slots on 2 primaries")


def slots_of(node):
    (line,) = [line for line in node.cli("CLUSTER", "NODES").splitlines() if "myself" in line]
    return [number for slots in line.split()[8:] for number in slots.split("-")]


def test_sentinels(stores):
    primary, _ = stores.replicated(1)
    sentinels = stores.sentinels(primary)
    hosts = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in sentinels)
    report = doctor(f"redis-sentinel://{hosts}/main")
    report.expect("sentinels", "OK", f"3 of 3 name 127.0.0.1:{primary.port}")
    report.expect("script", "OK")
    doctor(f"redis-sentinel://127.0.0.1:{sentinels[0].port}/main").expect("sentinels", "WARN", "name all sentinels")
    doctor(f"redis-sentinel://{hosts}/other").expect("sentinels", "FAIL", "no primary `other`", "sentinels watch")
    sentinels[1].process.kill()
    sentinels[1].process.wait()
    report = doctor(f"redis-sentinel://{hosts}/main")
    report.expect("sentinels", "WARN", "2 of 3", f"127.0.0.1:{sentinels[1].port}", "refused")


def test_sentinels_that_ask_for_a_password(stores, tmp_path):
    primary, _ = stores.replicated(1)
    (sentinel,) = stores.sentinels(primary, 1, password=SECRET)
    url = f"redis-sentinel://127.0.0.1:{sentinel.port}/main"
    doctor(url).expect("sentinels", "FAIL", "NOAUTH", "--store-sentinel-password-file")
    (tmp_path / "secret").write_text(SECRET, encoding="utf-8")
    report = doctor(url, "--store-sentinel-password-file", tmp_path / "secret")
    report.expect("sentinels", "WARN", f"1 of 1 name 127.0.0.1:{primary.port}")
    report.expect("script", "OK")


def test_keys_without_ttl(stores):
    store = stores.start(*CAREFUL)
    store.cli("SET", "ratel:1:{x y}:R5:login1:14:gcra0:", "1", "PX", 100_000)
    store.cli("SET", "other", "1")
    doctor(store).expect("keys", "OK", "1 of ours", "all have a TTL")
    store.cli("SET", "ratel:1:{eve}:R5:login1:14:gcra0:", "1")
    report = doctor(store)
    report.expect("keys", "WARN", "1 of 2 of ours have no TTL", "ratel:1:{eve}:", "delete")
    doctor(store, "--key-prefix", "another").expect("keys", "OK", "none of ours")


def test_a_large_key_space_is_searched_in_part_and_that_is_said(stores):
    store = stores.start()
    store.cli("EVAL", "for i = 1, 120000 do redis.call('SET', 'ratel:' .. i, '1', 'PX', 10000000) end", 0)
    doctor(store).expect("keys", "OK", "of the first 100000 of all keys")


def test_a_store_that_is_far_away(stores):
    store = stores.start(*CAREFUL)
    with FaultyProxy(("127.0.0.1", store.port)) as proxy:
        proxy.delay_s = 0.03  # there, and as much back
        report = doctor(f"redis://127.0.0.1:{proxy.port}")
        report.expect("latency", "FAIL", "deadline")
        proxy.delay_s = 0.015
        report = doctor(f"redis://127.0.0.1:{proxy.port}")
        report.expect("latency", "WARN" if "FAIL" not in report.levels() else "FAIL", "deadline")


SHIFTED_CLOCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/time.h>
int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  int (*real)(struct timeval *, void *) = dlsym(RTLD_NEXT, "gettimeofday");
  int result = real(now, zone);
  now->tv_sec += 90;
  return result;
}
"""


def test_a_clock_that_is_ahead(stores, tmp_path, monkeypatch):
    (tmp_path / "shifted.c").write_text(SHIFTED_CLOCK, encoding="utf-8")
    subprocess.run([program("cc"), "-shared", "-fPIC", "-o", tmp_path / "shifted.so", tmp_path / "shifted.c", "-ldl"],
                   check=True)
    with monkeypatch.context() as patch:
        patch.setenv("LD_PRELOAD", str(tmp_path / "shifted.so"))
        store = stores.start(*CAREFUL)
    doctor(store).expect("clock", "WARN", "90", "ahead of ours", "time server")


def test_settings_come_from_the_file_of_the_server(stores, tmp_path):
    store = stores.start(*CAREFUL, "--requirepass", SECRET)
    (tmp_path / "secret").write_text(SECRET, encoding="utf-8")
    config = tmp_path / "ratel.yaml"
    config.write_text(f"store: redis://127.0.0.1:{store.port}\nstore_password_file: secret\nkey_prefix: fleet\n"
                      "threads: 2\nrules: { login: { limit: 5/min } }\n", encoding="utf-8")
    done = run_ratel("doctor", "--config", config)
    assert done.returncode == 0 and "fleet:*" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("flags", [[], ["--store", "memory"]])
def test_without_a_store_there_is_nothing_to_examine(flags):
    done = run_ratel("doctor", *flags)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and "--store" in done.stderr
