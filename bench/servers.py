"""Servers for benchmarks: each on a free loopback port, pinned to a core where that is wanted, ended by its own pid."""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def program(name):
    path = shutil.which(name)
    if path is None:
        sys.exit(f"{name} is not installed; tools/install-deps installs it")
    return path


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def answers(port):
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Served:
    """A server, on its core unless that is None."""

    def __init__(self, command, port, core, log):
        self.port = port
        pinned = [] if core is None else ["taskset", "-c", str(core)]
        with open(log, "wb") as out:
            self.process = subprocess.Popen([*pinned, *map(str, command)], stdout=out, stderr=out)
        deadline = time.monotonic() + 10
        while not answers(port):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                sys.exit(f"{command[0]} does not serve:\n{Path(log).read_text(encoding='utf-8')}")
            time.sleep(0.01)

    def cpu_us(self):
        """User and system time, of its children too."""
        pids = [self.process.pid]
        children = Path(f"/proc/{pids[0]}/task/{pids[0]}/children").read_text(encoding="ascii")
        pids += map(int, children.split())
        ticks = 0
        for pid in pids:
            fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks * 1_000_000 / os.sysconf("SC_CLK_TCK")

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait()
