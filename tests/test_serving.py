"""A running server from the outside: signals, reloads, limits on connections, metrics."""

import contextlib
import datetime
import os
import re
import select
import signal
import socket
import threading
import time
import urllib.request

import pytest

from conftest import Ratel, redis_cli, run_ratel

THROTTLE = b"CL.THROTTLE %s 15 30 60\r\n"
REPLY_LINES = 6  # *5 and five integers


def connect(address):
    if address.startswith("unix:"):
        client = socket.socket(socket.AF_UNIX)
        client.connect(address[5:])
        return client
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), timeout=30)


def read_to_end(client):
    """All that comes until the server ends, and whether it ended without a reset."""
    received = b""
    try:
        while chunk := client.recv(1 << 16):
            received += chunk
    except ConnectionResetError:
        return received, False
    return received, True


def metrics(server):
    with urllib.request.urlopen(f"http://{server.http}/metrics", timeout=30) as response:
        assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        return response.read().decode()


def metric(server, name):
    """The value of one series, named as it stands in the text."""
    match = re.search(rf"^{re.escape(name)} (\S+)$", metrics(server), re.MULTILINE)
    return float(match.group(1)) if match else None


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_drains(ratel, number):
    server = ratel("--threads", 2)
    clients = [connect(server.resp) for _ in range(20)]
    for i, client in enumerate(clients):
        client.sendall(THROTTLE % b"drain:%d" % i * 100)
    server.signal(number)
    for client in clients:
        received, in_order = read_to_end(client)
        assert in_order and received.count(b"\r\n") == 100 * REPLY_LINES
        client.close()
    assert server.process.wait(10) == 0
    assert "draining" in server.log() and "stopped" in server.log()
    with pytest.raises(OSError):
        connect(server.resp)


def test_a_drain_under_load_cuts_no_answer(ratel):
    server = ratel("--threads", 2)
    began = threading.Barrier(21)
    cut = []

    def ask_until_the_end(i):
        client = connect(server.resp)
        began.wait()
        answer = b""
        try:
            while True:
                client.sendall(THROTTLE % b"load:%d" % i)
                answer = b""
                while answer.count(b"\r\n") < REPLY_LINES:
                    chunk = client.recv(4096)
                    if not chunk:
                        raise EOFError
                    answer += chunk
                answer = b""
        except (EOFError, ConnectionError):
            cut.append(answer)  # what had come of an answer when the connection ended

    threads = [threading.Thread(target=ask_until_the_end, args=(i,)) for i in range(20)]
    for thread in threads:
        thread.start()
    began.wait()
    time.sleep(0.3)
    server.signal(signal.SIGTERM)
    assert server.process.wait(15) == 0
    for thread in threads:
        thread.join()
    assert cut == [b""] * 20


def test_a_second_signal_does_not_wait_unless_it_is_the_first_again(tmp_path):
    server = Ratel(["--resp", "127.0.0.1:0", "--http", "off"], tmp_path / "log")
    stuck = connect(server.resp)
    stuck.settimeout(1)
    with pytest.raises(TimeoutError):
        while True:  # until neither side takes any more
            stuck.send(b"ECHO " + b"x" * 10_000 + b"\r\n")
    server.signal(signal.SIGTERM)
    server.until(lambda: "draining" in server.log(), "drain")
    assert server.process.poll() is None
    while server.process.poll() is None:
        server.signal(signal.SIGTERM)
        time.sleep(0.05)
    assert server.process.returncode == 1
    began, ended = (datetime.datetime.fromisoformat(re.search(rf'time=(\S+) .*"?{word}', server.log())[1])
                    for word in ("draining", "stopped before"))
    assert ended - began >= datetime.timedelta(seconds=1)


def test_rules_are_read_again_when_their_file_changes(ratel):
    server = ratel(rules="rules:\n  login: { limit: 5/day }\n")

    def allow(rule):
        return redis_cli(server.resp_port, "RATEL.ALLOW", rule, "k")

    assert [allow("login")[0] for _ in range(3)] == ["1) (integer) 1"] * 3
    server.rules_path.write_text("rules:\n  login: { limit: 5/day }\n  api: { limit: 1/day }\n", encoding="utf-8")
    server.until(lambda: "rules reloaded" in server.log(), "reload")
    assert allow("api")[0] == "1) (integer) 1"
    # An unchanged limit keeps its counts: two of five are left.
    assert [allow("login")[0] for _ in range(3)] == ["1) (integer) 1"] * 2 + ["1) (integer) 0"]
    assert metric(server, 'ratel_config_reloads_total{result="ok"}') == 1
    # And a rule keeps its row.
    assert metric(server, 'ratel_decisions_total{rule="login",answer="allowed",source="exact"}') == 5


def test_sighup_reads_the_rules_again(ratel):
    server = ratel(rules="rules:\n  login: { limit: 5/day }\n")
    server.rules_path.write_text("rules:\n  other: { limit: 5/day }\n", encoding="utf-8")
    server.signal(signal.SIGHUP)
    server.until(lambda: "rules reloaded" in server.log(), "reload")
    assert redis_cli(server.resp_port, "RATEL.ALLOW", "other", "k")[0] == "1) (integer) 1"
    assert "login" in redis_cli(server.resp_port, "RATEL.ALLOW", "login", "k")[0]  # an error that names it


def test_bad_rules_change_nothing_and_say_so(ratel):
    server = ratel(rules="rules:\n  login: { limit: 5/day }\n")
    server.rules_path.write_text("rules:\n  login: { limit: 5/dya }\n", encoding="utf-8")
    server.until(lambda: "not reloaded" in server.log(), "complaint")
    complaint = next(line for line in server.log().splitlines() if "not reloaded" in line)
    for word in ("level=error", "rules.yaml:2:", "5/dya"):
        assert word in complaint
    assert redis_cli(server.resp_port, "RATEL.ALLOW", "login", "k")[0] == "1) (integer) 1"
    assert metric(server, 'ratel_config_reloads_total{result="failed"}') == 1
    server.rules_path.unlink()
    server.until(lambda: server.log().count("not reloaded") == 2, "second complaint")
    assert redis_cli(server.resp_port, "RATEL.ALLOW", "login", "k")[0] == "1) (integer) 1"


def test_a_config_map_swap_is_noticed(ratel, tmp_path):
    volume = tmp_path / "volume"
    for version, limit in (("..one", 1), ("..two", 2)):
        (volume / version).mkdir(parents=True)
        (volume / version / "rules.yaml").write_text(f"rules:\n  r: {{ limit: {limit}/day }}\n", encoding="utf-8")
    (volume / "..data").symlink_to("..one")
    (volume / "rules.yaml").symlink_to("..data/rules.yaml")
    server = ratel("--rules", volume, rules=None)
    assert redis_cli(server.resp_port, "RATEL.ALLOW", "r", "k")[1] == "2) (integer) 1"
    (volume / "..tmp").symlink_to("..two")
    os.rename(volume / "..tmp", volume / "..data")
    server.until(lambda: "rules reloaded" in server.log(), "reload")
    assert redis_cli(server.resp_port, "RATEL.ALLOW", "r", "k")[1] == "2) (integer) 2"


def test_two_servers_never_share_a_port(ratel):
    server = ratel("--threads", 2)
    second = run_ratel("serve", "--threads", 2, "--resp", server.resp, "--http", "off")
    assert second.returncode == 1
    assert second.stderr == f"cannot listen on {server.resp}: Address already in use\n"


def test_a_unix_socket_comes_and_goes(ratel, tmp_path):
    path = tmp_path / "ratel.sock"
    server = ratel("--threads", 2, "--resp", f"unix:{path}")
    with connect(f"unix:{path}") as client:
        client.sendall(THROTTLE % b"k")
        assert client.recv(4096).startswith(b"*5\r\n:0\r\n:16\r\n")
    assert server.stop() == 0
    assert not path.exists()


def test_connections_above_the_bound_are_told_so(ratel):
    server = ratel("--max-connections", 2)
    kept = [connect(server.resp) for _ in range(2)]
    for client in kept:
        client.sendall(b"PING\r\n")
        assert client.recv(64) == b"+PONG\r\n"
    received, in_order = read_to_end(connect(server.resp))
    assert in_order and received == b"-ERR max number of clients reached\r\n"
    kept.pop().close()
    server.until(lambda: redis_cli(server.resp_port, "PING") == ["PONG"], "room")
    kept.pop().close()
    server.until(lambda: metric(server, 'ratel_connections_refused_total{listener="resp"}'), "count")


def test_what_all_connections_hold_is_bounded(ratel):
    server = ratel("--threads", 2, "--max-memory", "1MiB")
    bound = 16 << 20
    assert metric(server, "ratel_held_max_bytes") == bound
    head = (b"POST /v1/allow HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 1000000\r\n\r\n")
    kept, refused = [], b""
    while not refused:
        client = connect(server.http)
        client.sendall(head)
        with contextlib.suppress(ConnectionError):
            client.sendall(b" " * 999_000)
        kept.append(client)
        assert len(kept) < 40
        server.until(lambda: metric(server, "ratel_held_bytes") >= min(len(kept) * 900_000, 0.9 * bound), "bytes held")
        refused = b"".join(one.recv(4096) for one in select.select(kept, [], [], 0)[0])
    assert refused.startswith(b"HTTP/1.1 503 ") and b"Retry-After: 1" in refused
    assert metric(server, 'ratel_connections_shed_total{listener="http"}') >= 1
    assert metric(server, "ratel_held_bytes") <= bound

    client = connect(server.resp)
    while True:  # until there is no room for a last command that has not come whole
        client.sendall(b"*2\r\n$4\r\nECHO\r\n$60000\r\n" + b"e" * 50_000)
        kept.append(client)
        if select.select([client], [], [], 0.2)[0]:
            break
        client = connect(server.resp)
    assert read_to_end(client) == (b"-ERR all connections together hold too much\r\n", True)
    # Who asks as usual is answered, and what is let go of can be held again.
    assert redis_cli(server.resp_port, "PING") == ["PONG"]
    for client in kept:
        client.close()
    server.until(lambda: metric(server, "ratel_held_bytes") == 0, "room")


def test_an_idle_connection_is_closed(ratel):
    server = ratel("--idle-timeout", "1s")
    client = connect(server.resp)
    client.sendall(b"PING\r\n")
    assert client.recv(64) == b"+PONG\r\n"
    assert read_to_end(client)[1]
    assert metric(server, 'ratel_connections_timed_out_total{listener="resp"}') == 1


def test_metrics(ratel):
    server = ratel(rules="rules:\n  login: { limit: 2/day }\n  watched: { limit: 1/day, shadow: true }\n")
    for _ in range(3):
        redis_cli(server.resp_port, "RATEL.ALLOW", "login", "k")
        redis_cli(server.resp_port, "RATEL.ALLOW", "watched", "k")
    redis_cli(server.resp_port, "CL.THROTTLE", "k", 15, 30, 60)
    redis_cli(server.resp_port, "RATEL.ALLOW", "LIMIT", "0/min", "k")
    redis_cli(server.resp_port, "RATEL.ALLOW", "nobody", "k")
    redis_cli(server.resp_port, "NO.SUCH.COMMAND")
    text = metrics(server)
    for line in [
        'ratel_decisions_total{rule="login",answer="allowed",source="exact"} 2',
        'ratel_decisions_total{rule="login",answer="denied",source="exact"} 1',
        'ratel_decisions_total{rule="watched",answer="allowed",source="exact"} 1',
        'ratel_decisions_total{rule="watched",answer="would_deny",source="exact"} 2',
        'ratel_decisions_total{rule="(cl.throttle)",answer="allowed",source="exact"} 1',
        'ratel_decisions_total{rule="(in question)",answer="denied",source="exact"} 1',
        "ratel_answer_duration_seconds_count 8",
        'ratel_rejected_inputs_total{reason="unknown_rule"} 1',
        'ratel_connections{listener="http"} 1',
        'ratel_table_live_evictions_total 0',
        "# TYPE ratel_decisions_total counter",
        "# TYPE ratel_answer_duration_seconds histogram",
        "# TYPE ratel_connections gauge",
    ]:
        assert line in text.splitlines(), f"{line} is not in\n{text}"
    assert metric(server, 'ratel_rejected_inputs_total{reason="unknown_command"}') >= 1
    assert metric(server, "ratel_table_entries") >= 3
    assert 0 < metric(server, "ratel_table_bytes") <= metric(server, "ratel_table_max_bytes")
    assert metric(server, "ratel_uptime_seconds") > 0
    assert 'ratel_build_info{version="0.1.0"' in text
