"""What an operator sees of a ratel whose counts live in a store elsewhere: metrics, log lines, memory, the end."""

import re
import signal
from pathlib import Path

from asking import Asker, alone, metrics, shared
from stores import wait_until

ROOT = Path(__file__).resolve().parent.parent
RULES = """\
rules:
  local: { limit: 1000/day }
  closed: { limit: 10/day, on_store_failure: deny }
"""


def admit_alone(server, store, units):
    asker = Asker(server)
    asker.ask("ALLOW", "local", "k")
    alone(asker, store)
    assert asker.ask("ALLOW", "local", "k", "COST", units)["source"] == "local"


def test_what_was_admitted_alone_is_charged_before_the_end(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store, "--threads", 1, rules=RULES)
    admit_alone(server, store, 7)
    server.signal(signal.SIGTERM)
    wait_until(lambda: "draining" in server.log(), "drain")
    store.signal(signal.SIGCONT)
    assert server.process.wait(10) == 0
    assert "not" not in server.log().split("draining")[1]
    (server,) = shared(ratel, store, rules=RULES)
    assert Asker(server).ask("PEEK", "local", "k")["remaining"] == 1000 - 8


def test_what_was_never_charged_is_said_at_the_end(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store, "--threads", 1, rules=RULES)
    admit_alone(server, store, 7)
    assert server.stop() == 0
    line = 'msg="stopped before all that was admitted without the store was charged" units=7'
    assert line in server.log()


def test_what_may_not_have_been_charged_is_said_at_the_end(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store, "--threads", 1, rules=RULES)
    asker = Asker(server)
    asker.ask("ALLOW", "local", "k")
    store.signal(signal.SIGSTOP)
    assert asker.ask("ALLOW", "local", "k", "COST", 7)["source"] == "local"  # one failure opens no breaker
    assert server.stop() == 0  # and so it is charged, and nobody answers
    line = 'msg="it is not known whether all that was admitted alone was charged" units=7'
    assert line in server.log()
    assert 'msg="answered without the store"' in server.log()


def test_what_a_ratel_decides_alone_stays_in_its_memory(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store, "--threads", 1, "--max-memory", "1MiB", rules=RULES)
    admit_alone(server, store, 1)

    def value(name):
        return int(re.search(rf"^{name} (\d+)$", metrics(server), re.MULTILINE).group(1))

    most = value("ratel_local_max_bytes")
    assert most == (1 << 20) * 15 // 16
    asker = Asker(server)
    for number in range(5000):
        asker.ask("ALLOW", "local", f"key{number}")
    assert most // 2 < value("ratel_local_bytes") <= most + 4096
    assert value("ratel_local_forgotten_total") > 0


def test_the_log_names_the_counter_whose_key_holds_something_else(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store, "--threads", 1, rules=RULES)
    asker = Asker(server)
    for key, shown in [("erin", "{erin}"), ("e r i n", "{#")]:
        asker.ask("ALLOW", "closed", key)
        (name,) = [line for line in store.cli("--scan").splitlines() if shown in line]
        store.cli("SET", name, "garbage")
        assert asker.ask("ALLOW", "closed", key)["source"] == "failed_closed"
        line = f'msg="what stands under a counter\'s key is no counter" rule=closed key="?{re.escape(name)}"? answers=1'
        wait_until(lambda line=line: re.search(line, server.log()), "line in the log")
    assert "e r i n" not in server.log()
    assert 'ratel_degraded_decisions_total{rule="closed",reason="bad_state"} 2\n' in metrics(server)


def page(name):
    return (ROOT / "docs" / name).read_text(encoding="utf-8")


def documented_metrics():
    rows = re.findall(r"^\| (`ratel_\w+`(?:, `ratel_\w+`)*) \| (\w+) \|", page("operating.md"), re.MULTILINE)
    return {name: kind for names, kind in rows for name in re.findall(r"ratel_\w+", names)}


def test_the_documentation_has_each_metric_and_no_other(ratel, stores):
    servers = [ratel(rules=RULES), *shared(ratel, stores.start(), rules=RULES)]
    printed = dict(line.split()[2:] for server in servers for line in metrics(server).splitlines() if "# TYPE" in line)
    assert documented_metrics() == printed


def test_alerts_and_guarantees_speak_of_metrics_that_there_are():
    for name in re.findall(r"ratel_[a-z_]+", page("operating.md") + page("guarantees.md")):
        assert name.removesuffix("_bucket") in documented_metrics(), name


def test_the_documentation_has_each_line_of_the_log_and_no_other():
    source = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "src/app").glob("*.cpp")))
    said = set(re.findall(r'\blog_?\.(?:info|warning|error)\(\s*"([^"]+)"', source))
    said |= set(re.findall(r'LogLevel::\w+, "([^"]+)"', source))
    table = re.search(r"\| `msg` \|.*?\n\n", page("operating.md"), re.DOTALL).group()
    rows = [row.split("|")[1] for row in table.splitlines()[2:] if row]
    assert {msg for row in rows for msg in re.findall(r"`([^`]+)`", row)} == said
