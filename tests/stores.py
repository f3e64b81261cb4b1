"""Redis and Valkey as tests need them: one server, sentinels with a primary and replicas, a cluster.

Each server runs in a folder of its own, on a port of its own, and ends by its own pid.
"""

import contextlib
import subprocess
import time

import pytest

from conftest import ROOT, START_S, Server, free_port, program

BUS_PORT_BELOW = 65535 - 10_000


def server_program(kind):
    """`redis` is Debian's; `valkey` is what tools/fetch-valkey gets."""
    if kind == "redis":
        return program("redis-server")
    path = ROOT / "build/valkey/valkey-server"
    if not path.is_file():
        pytest.fail(f"{path} is missing; tools/fetch-valkey gets it", pytrace=False)
    return path


class Store(Server):
    """A running redis-server or valkey-server."""

    def __init__(self, folder, port, *options, kind="redis", sentinel=False):
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.port = port
        words = list(map(str, options))
        command = [server_program(kind)]
        if sentinel:  # it writes its own configuration, and has to be given one
            (folder / "sentinel.conf").write_text("\n".join(words) + "\n", encoding="utf-8")
            command += [folder / "sentinel.conf", "--sentinel"]
            words = []
        super().__init__([*command, "--port", port, "--bind", "127.0.0.1", "--dir", folder, *words], folder / "log")
        self.until(lambda: self.cli("PING", check=False).strip().endswith(("PONG", "required.")), "answer to PING")

    def cli(self, *words, check=True, password=None):
        """One command; returns the reply as text. An error reply fails the test unless told otherwise."""
        secret = ["-a", password, "--no-auth-warning"] if password else []
        done = subprocess.run([program("redis-cli"), "-p", str(self.port), *secret, *map(str, words)],
                              capture_output=True, text=True, timeout=START_S, check=False)
        reply = done.stdout + done.stderr
        if check:
            assert not reply.startswith(("ERR", "Could not", "NOAUTH", "WRONGPASS")), f"{words}: {reply}"
        return reply

    def info(self, field, section="all"):
        for line in self.cli("INFO", section).splitlines():
            if line.startswith(field + ":"):
                return line.split(":", 1)[1].strip()
        raise AssertionError(f"INFO has no {field}")


def wait_until(ready, what, timeout_s=START_S):
    deadline = time.monotonic() + timeout_s
    while not (result := ready()):
        if time.monotonic() > deadline:
            pytest.fail(f"no {what} within {timeout_s} s", pytrace=False)
        time.sleep(0.02)
    return result


def certificate(folder, name, issuer=None):
    """Paths of a certificate for 127.0.0.1 and its key; its own authority unless there is an issuer."""
    key, cert = folder / f"{name}.key", folder / f"{name}.pem"
    signed = ["-CA", issuer[0], "-CAkey", issuer[1]] if issuer else []
    names = ["-addext", "subjectAltName=IP:127.0.0.1"] if issuer else []
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-keyout", key, "-out", cert, "-days", "2", "-subj", f"/CN={name}", *names, *signed],
                   check=True, capture_output=True)
    return cert, key


class Stores:
    """Starts servers and ends them. Made by the fixture `stores`."""

    def __init__(self, folder, stack):
        self._folder = folder
        self._stack = stack
        self._count = 0

    def port(self):
        """One that leaves room for the port of the cluster's bus, 10,000 above it."""
        while (port := self._stack.enter_context(free_port())) > BUS_PORT_BELOW:
            pass
        return port

    def start(self, *options, kind="redis", port=None, folder=None, sentinel=False):
        """A server that keeps nothing on disk unless `options` say so."""
        self._count += 1
        folder = folder or self._folder / f"store{self._count}"
        keeping = [] if sentinel or "--appendonly" in options or "--save" in options else ["--save", ""]
        store = Store(folder, port or self.port(), *keeping, *options, kind=kind, sentinel=sentinel)
        self._stack.callback(end, store)
        return store

    def replicated(self, replicas=1, *, kind="redis", options=()):
        """A primary and its replicas, in step."""
        primary = self.start(*options, kind=kind)
        copies = [self.start("--replicaof", "127.0.0.1", primary.port, *options, kind=kind) for _ in range(replicas)]
        for copy in copies:
            wait_until(lambda copy=copy: "master_link_status:up" in copy.cli("INFO", "replication"), "replication")
        return primary, copies

    def sentinels(self, primary, count=3, *, name="main", down_after_ms=500, kind="redis", password=None):
        """`password` is what sentinels ask for, of each other too."""
        quorum = count // 2 + 1
        secret = [f"requirepass {password}", f"sentinel sentinel-pass {password}"] if password else []
        started = [
            self.start(f"sentinel monitor {name} 127.0.0.1 {primary.port} {quorum}",
                       f"sentinel down-after-milliseconds {name} {down_after_ms}",
                       f"sentinel failover-timeout {name} 5000", *secret, sentinel=True, kind=kind)
            for _ in range(count)
        ]
        for sentinel in started:
            def says(s=sentinel):
                return s.cli("INFO", "sentinel", password=password)

            wait_until(lambda: f"sentinels={count}" in says(), "sentinels that know all")
            wait_until(lambda: "slaves=0" not in says(), "sentinels that know replicas")
        return started

    def cluster(self, primaries=3, replicas=0, *, node_timeout_ms=1000, kind="redis"):
        """A cluster of `primaries`, each with so many replicas."""
        nodes = [
            self.start("--cluster-enabled", "yes", "--cluster-node-timeout", node_timeout_ms, kind=kind)
            for _ in range(primaries * (1 + replicas))
        ]
        command = [program("redis-cli"), "--cluster", "create", *(f"127.0.0.1:{node.port}" for node in nodes),
                   "--cluster-replicas", str(replicas), "--cluster-yes"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * START_S, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        for node in nodes:
            wait_until(lambda node=node: "cluster_state:ok" in node.cli("CLUSTER", "INFO"), "cluster that is whole")
        return nodes


def end(store):
    if store.process.poll() is None:
        store.process.kill()  # it keeps nothing that matters, and may be stopped
    store.process.wait()


@contextlib.contextmanager
def running_stores(folder):
    with contextlib.ExitStack() as stack:
        yield Stores(folder, stack)
