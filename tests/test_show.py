"""`ratel show` says where a counter is and how it stands: asked of real servers that a ratel has counted in."""

import pytest

from conftest import run_ratel
from asking import Asker

RULES = """\
rules:
  gcra: { limit: 10/day burst 5 }
  fixed_window: { limit: 5/day, algorithm: fixed_window }
  calendar: { limit: [{ limit: 5/year, algorithm: fixed_window, calendar: true }] }
  sliding_window: { limit: 5/day, algorithm: sliding_window }
  sliding_log: { limit: 5/day, algorithm: sliding_log }
  slots: { limit: 5 concurrent, lease: 1h }
  two: { limit: [100/day, { limit: 7/day, name: few }], shadow: true }
  address: { limit: 5/day, key: ip }
  free: { limit: unlimited }
"""


@pytest.fixture
def rules(tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text(RULES, encoding="utf-8")
    return path


def show(store, rules, rule, key, *flags, scheme="redis", code=0):
    done = run_ratel("show", rule, key, "--rules", rules, "--store", f"{scheme}://127.0.0.1:{store.port}", *flags)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def field(text, name):
    (line,) = [line for line in text.splitlines() if line.startswith(f"  {name} ")]
    return line[len(name) + 2:].strip()


def state_of(store, name):
    asked = (["PEXPIRETIME", name], ["GET", name], ["ZRANGE", name, 0, -1, "WITHSCORES"])
    return [store.cli(*words) for words in asked]


@pytest.mark.parametrize("rule", ["gcra", "fixed_window", "calendar", "sliding_window", "sliding_log", "slots"])
def test_every_algorithm_is_decoded(ratel, stores, rules, rule):
    store = stores.start()
    asker = Asker(ratel("--store", f"redis://127.0.0.1:{store.port}", rules=RULES))
    fresh = show(store, rules, rule, "user:42")
    assert field(fresh, "value").startswith("none: never counted")
    assert field(fresh, "used") == "0 of 5, 5 remaining" and field(fresh, "as new") == "now"
    verb = "ACQUIRE" if rule == "slots" else "ALLOW"
    for number in range(5):
        assert asker.ask(verb, rule, "user:42", *(["ID", number] if rule == "slots" else []))["allowed"]
        text = show(store, rules, rule, "user:42")
        assert field(text, "used") == f"{number + 1} of 5, {4 - number} remaining"
    assert field(text, "one more").startswith("passes in ")
    assert field(text, "as new").startswith("in ") and field(text, "TTL")[0].isdigit()
    name = field(text, "key")
    assert field(text, "server") == f"127.0.0.1:{store.port}"
    assert store.cli("EXISTS", name).strip() == "1"
    if rule in ("sliding_log", "slots"):
        assert field(text, "value").startswith("5 entries, the newest: ")
    else:
        assert field(text, "value") == f"`{store.cli('GET', name).strip()}`"
    before = state_of(store, name)
    show(store, rules, rule, "user:42")
    assert state_of(store, name) == before


def test_all_limits_of_a_rule_are_shown(ratel, stores, rules):
    store = stores.start()
    asker = Asker(ratel("--store", f"redis://127.0.0.1:{store.port}", rules=RULES))
    asker.ask("ALLOW", "two", "k", "COST", 7)
    first, second = show(store, rules, "two", "k").split("two#few: ")
    assert first.startswith("two#1: 100 per 24 hours (gcra), shadow") and field(first, "used").startswith("7 of 100")
    assert field(second, "used") == "7 of 7, 0 remaining" and field(second, "one more").startswith("passes in")


def test_addresses_are_written_in_one_way(ratel, stores, rules):
    store = stores.start()
    Asker(ratel("--store", f"redis://127.0.0.1:{store.port}", rules=RULES)).ask("ALLOW", "address", "::ffff:192.0.2.1")
    text = show(store, rules, "address", "192.0.2.1")
    assert "{192.0.2.1}" in field(text, "key") and field(text, "used") == "1 of 5, 4 remaining"


def test_in_a_cluster_the_slot_and_its_server_are_named(ratel, stores, rules):
    nodes = stores.cluster(3)
    asker = Asker(ratel("--store", f"redis-cluster://127.0.0.1:{nodes[0].port}", rules=RULES))
    owners = set()
    for key in ("a", "b", "c", "d"):
        asker.ask("ALLOW", "gcra", key)
        text = show(nodes[0], rules, "gcra", key, scheme="redis-cluster")
        name = field(text, "key")
        server, slot = field(text, "server").split(", slot ")
        assert slot == nodes[0].cli("CLUSTER", "KEYSLOT", name).strip()
        (owner,) = [node for node in nodes if server == f"127.0.0.1:{node.port}"]
        assert owner.cli("EXISTS", name).strip() == "1"
        assert field(text, "used") == "1 of 5, 4 remaining"
        owners.add(server)
    assert len(owners) > 1


def test_what_is_no_counter_is_said_to_be_none(stores, rules):
    store = stores.start()
    name = field(show(store, rules, "gcra", "k"), "key")
    store.cli("SET", name, "\x1b[31mrubbish")
    text = show(store, rules, "gcra", "k")
    assert "rubbish" in field(text, "value") and "\x1b" not in text
    assert field(text, "TTL").startswith("none") and "no counter" in field(text, "state")
    store.cli("DEL", name)
    store.cli("RPUSH", name, "a", "b")
    text = show(store, rules, "gcra", "k")
    assert field(text, "value") == "of type list" and "no counter" in field(text, "state")


def test_unlimited_counts_nothing(stores, rules):
    assert field(show(stores.start(), rules, "free", "k"), "value") == "none: nothing is counted"


def test_a_store_that_does_not_answer(stores, rules):
    store = stores.start("--requirepass", "right")
    text = show(store, rules, "gcra", "k", code=1)
    assert "NOAUTH" in field(text, "state") and "--store-password-file" in field(text, "state")


MISTAKES = {
    "rule": (["gcar", "k"], "unknown rule `gcar`: did you mean `gcra`?"),
    "address": (["address", "nobody"], "`nobody`"),
    "key": (["gcra", "k" * 5000], "key"),
    "prefix": (["gcra", "k", "--key-prefix", "a b"], "--key-prefix"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_named(rules, what):
    words, says = MISTAKES[what]
    done = run_ratel("show", *words, "--rules", rules, "--store", "redis://127.0.0.1:1")
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.count("\n") == 1 and says in done.stderr, done.stderr


def test_it_needs_a_store_and_rules(rules):
    done = run_ratel("show", "gcra", "k", "--rules", rules)
    assert done.returncode == 2 and "--store" in done.stderr and "ratel ask --peek" in done.stderr
    done = run_ratel("show", "gcra", "k", "--store", "redis://127.0.0.1:1")
    assert done.returncode == 2 and "--rules" in done.stderr
