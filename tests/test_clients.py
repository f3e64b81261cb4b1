"""Stock Redis clients, as they come: each connects with its defaults and asks, in each language's own words."""

import json
import os
import subprocess

import pytest
import redis

from conftest import CLIENTS, ROOT, START_S, program

NAMES = ["allowed", "limit", "remaining", "retry_after_ms", "reset_after_ms", "source", "rule"]
HERE = ROOT / "tests/clients"


def made(name):
    path = CLIENTS / name
    if not path.exists():
        pytest.fail(f"{path} is missing; tests/clients/install makes it", pytrace=False)
    return path


def ask_node(script):
    def command():
        return [program("node"), HERE / "node" / script], {"NODE_PATH": str(made("node/node_modules"))}

    return command


def ask_php():
    return [program("php"), HERE / "php/ask.php"], {}


def ask_go():
    return [made("go-ask")], {}


OTHERS = {
    "ioredis": ask_node("ask_ioredis.js"),
    "node-redis": ask_node("ask_node_redis.js"),
    "go-redis": ask_go,
    "phpredis": ask_php,
}


def answers_of_python(port, **options):
    with redis.Redis(port=port, **options) as client:
        replies = {
            "throttle": client.execute_command("CL.THROTTLE", "user:42", 15, 30, 60),
            "allow": client.execute_command("RATEL.ALLOW", "login", "user:42"),
        }
        with pytest.raises(redis.ResponseError) as error:
            client.execute_command("RATEL.ALLOW", "no-such-rule", "user:42")
        replies["error"] = str(error.value)
        pipeline = client.pipeline(transaction=False)
        for _ in range(100):
            pipeline.execute_command("CL.THROTTLE", "piped", 9, 10, 86400)
        replies["piped"] = sum(reply[0] == 0 for reply in pipeline.execute())
        replies["ping"] = "PONG" if client.ping() else None
    return replies


def answers_of(client, port):
    command, extra = OTHERS[client]()
    done = subprocess.run([*map(str, command), str(port)], capture_output=True, text=True, timeout=START_S,
                          env={**os.environ, **extra}, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def check(replies):
    assert replies["throttle"] == [0, 16, 15, -1, 2]
    allow = replies["allow"]
    pairs = allow.items() if isinstance(allow, dict) else zip(NAMES, allow, strict=True)  # RESP3 names them itself
    allow = {text(name): text(value) for name, value in pairs}
    assert sorted(allow) == sorted(NAMES)
    assert allow["reset_after_ms"] == 86_400_000 // 5  # a fifth of a day, rounded up from what is left of it
    del allow["reset_after_ms"]
    assert allow == {"allowed": 1, "limit": 5, "remaining": 4, "retry_after_ms": 0, "source": "exact", "rule": "login"}
    assert "no-such-rule" in replies["error"]
    assert replies["piped"] == 10
    assert replies["ping"] == "PONG"


@pytest.mark.parametrize("options", [{}, {"protocol": 2}, {"protocol": 3}], ids=["defaults", "resp2", "resp3"])
def test_redis_py(ratel, options):
    check(answers_of_python(ratel().resp_port, **options))


@pytest.mark.parametrize("client", OTHERS)
def test_other_languages(ratel, client):
    check(answers_of(client, ratel().resp_port))
