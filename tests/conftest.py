"""Whole programs, as their users meet them: fixtures that start a ratel (or a redis-server) on free loopback ports.

What a test needs and cannot find is an error. A skipped test fails the run.
"""

import contextlib
import os
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
RATEL = Path(os.environ.get("RATEL_BINARY", ROOT / "build/release/ratel"))
CLIENTS = ROOT / "build/clients"

START_S = 30  # generous: a sanitizer on a busy machine
STOP_S = 30


def pytest_sessionfinish(session):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter.stats.get("skipped"):
        session.exitstatus = 1
        reporter.write_line("a test was skipped; here that is a failure", red=True)


def program(name):
    """The path of a program that a test needs."""
    path = shutil.which(name)
    if path is None:
        pytest.fail(f"{name} is not installed; tools/install-deps installs it", pytrace=False)
    return path


def ratel_binary():
    if not RATEL.is_file():
        pytest.fail(f"{RATEL} is not built; ./test builds it", pytrace=False)
    return RATEL


def run_ratel(*arguments, timeout_s=START_S, **options):
    """Runs a ratel that ends by itself. Its environment is the caller's without RATEL_..., and `env` on top."""
    options["env"] = clean_environment(options.pop("env", {}))
    command = [ratel_binary(), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False, **options)


def clean_environment(extra):
    kept = {name: value for name, value in os.environ.items() if not name.startswith("RATEL_")}
    return {**kept, **extra}


@contextlib.contextmanager
def free_port():
    """A port for a program that cannot pick one itself, kept from all who ask for any until the context ends.

    The kernel gives nobody a port that is bound, and lets a server listen on one that is, if both said SO_REUSEADDR
    and no other listens. Servers do say it.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


class Server:
    """A running process with its log. Stopped by its own pid, and by nothing else."""

    def __init__(self, command, log, env=None):
        self.log_path = log
        with open(log, "wb") as out:
            self.process = subprocess.Popen(
                list(map(str, command)), stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=env)

    def log(self):
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    def until(self, ready, what):
        """Waits for ready() to give something true, and returns that."""
        deadline = time.monotonic() + START_S
        while True:
            if result := ready():
                return result
            if self.process.poll() is not None:
                pytest.fail(f"ended with {self.process.returncode} before {what}:\n{self.log()}", pytrace=False)
            if time.monotonic() > deadline:
                pytest.fail(f"no {what} within {START_S} s:\n{self.log()}", pytrace=False)
            time.sleep(0.01)

    def signal(self, number):
        self.process.send_signal(number)

    def stop(self):
        """SIGTERM; returns the exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            pytest.fail(f"did not end within {STOP_S} s of SIGTERM:\n{self.log()}", pytrace=False)


class Ratel(Server):
    """A running ratel. `resp` and `http` are host:port as the start-up line names them, None where off."""

    def __init__(self, arguments, log, env=None):
        super().__init__([ratel_binary(), "serve", *arguments], log, env=clean_environment(env or {}))
        line = self.until(self.start_up_line, "start-up line")
        self.resp = listener(line, "resp")
        self.http = listener(line, "http")

    def start_up_line(self):
        # A line is whole when its end is there.
        return next((line for line in self.log().splitlines(keepends=True)
                     if re.search(r"\bresp\b", line) and line.endswith("\n")), None)

    @property
    def resp_port(self):
        return int(self.resp.rsplit(":", 1)[1])


def listener(line, name):
    match = re.search(rf'\b{name}(?:=|":\s*)"?([^",\s]+)', line)
    return match.group(1) if match and match.group(1) != "off" else None


RULES = """\
rules:
  login: { limit: 5/day }
  api: { limit: [100/day burst 200, 10000/day] }
  checkout: { limit: 20 concurrent, lease: 30s }
"""


@pytest.fixture
def ratel(tmp_path):
    """Starts servers: ratel() or ratel("--threads", 2, rules="rules: …", env={…}). Free ports unless told otherwise."""
    started = []

    def start(*arguments, rules=RULES, env=None):
        folder = tmp_path / f"ratel{len(started)}"
        folder.mkdir()
        flags = list(map(str, arguments))
        for flag in ("--resp", "--http"):
            if flag not in flags:
                flags += [flag, "127.0.0.1:0"]
        if rules is not None:
            (folder / "rules.yaml").write_text(rules, encoding="utf-8")
            flags += ["--rules", str(folder / "rules.yaml")]
        server = Ratel(flags, folder / "log", env)
        server.rules_path = folder / "rules.yaml"
        started.append(server)
        return server

    yield start
    with contextlib.ExitStack() as stopping:  # one that does not end is no reason to leave the others running
        for server in started:
            stopping.callback(server.stop)
    for server in started:
        code = server.process.returncode
        assert code in (0, -signal.SIGKILL), f"exit {code}:\n{server.log()}"
        assert "Sanitizer" not in server.log(), server.log()


@pytest.fixture
def redis_server(tmp_path):
    """A redis-server that keeps nothing, on a free port."""
    with free_port() as port:
        server = Server([program("redis-server"), "--port", port, "--bind", "127.0.0.1", "--save", "",
                         "--dir", tmp_path], tmp_path / "redis.log")
        server.until(lambda: "Ready to accept connections" in server.log(), "readiness")
        server.port = port
        yield server
        server.stop()


@pytest.fixture
def stores(tmp_path):
    """Starts Redis and Valkey servers, see stores.py."""
    from stores import running_stores  # it needs this file first

    with running_stores(tmp_path) as it:
        yield it


def redis_cli(port, *words, resp3=False):
    """One command through redis-cli, as lines; errors too are lines."""
    command = [program("redis-cli"), "-p", str(port), "--no-raw", *(["-3"] if resp3 else []), *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=START_S, check=False)
    return (done.stdout + done.stderr).splitlines()
