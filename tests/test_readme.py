"""What the documentation shows is what happens: its commands run word for word, its rules load, its programs are ours.

A ```console block is a session with a server that `./run` would start: lines after `$ ` are run by a shell, in order,
the blocks of one file against one server, and their output must be the one shown. A page that speaks of a second one
has two, which share a store. Only two things are not taken at
their word: the default ports, which stand for those of the test's server, and numbers from 1000 on, which may be any
such number, because time passes.
"""

import os
import re
import subprocess

import pytest

from conftest import ROOT, START_S, program, ratel_binary, run_ratel

PAGES = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md")])
SESSIONS = [page for page in PAGES if "```console\n" in page.read_text(encoding="utf-8")]


def blocks(page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S)


def steps(block):
    """The commands of a session with the output that follows each; a command goes on after a backslash."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        while command.endswith("\\"):
            more, _, output = output.partition("\n")
            command += "\n" + more
        yield command, output.rstrip("\n")


def pattern_of(output):
    """The output as a pattern in which a number of four or more digits may be any such number."""
    return re.sub(r"\d{4,}", r"\\d{4,}", re.escape(output))


SECOND = "6391"


def prepared(command, server, second):
    """For ports of its own, and redis-cli talking to no terminal as it does to one."""
    if second:
        command = command.replace(SECOND, str(second.resp_port))
    command = command.replace("6390", str(server.resp_port)).replace("8080", server.http.rsplit(":", 1)[1])
    command = re.sub(r"\bratel ask\b", f"ratel ask --server {server.resp}", command)
    return re.sub(r"\bredis-cli\b", "redis-cli --no-raw", command)


@pytest.mark.parametrize("page", SESSIONS, ids=lambda page: page.name)
def test_sessions(ratel, stores, page):
    program("redis-cli")
    program("curl")
    flags = ["--config", ROOT / "examples/ratel.yaml"]
    second = None
    if SECOND in page.read_text(encoding="utf-8"):
        flags += ["--store", f"redis://127.0.0.1:{stores.start().port}"]
        second = ratel(*flags, rules=None)
    server = ratel(*flags, rules=None)
    path = os.pathsep.join([str(ratel_binary().parent), os.environ["PATH"]])
    for block in blocks(page, "console"):
        for command, output in steps(block):
            done = subprocess.run(["bash", "-c", prepared(command, server, second)], cwd=ROOT,
                                  env={**os.environ, "PATH": path}, capture_output=True, text=True, timeout=START_S,
                                  check=False)
            said = (done.stdout + done.stderr).replace("\r", "").rstrip("\n")
            said = "\n".join(line.rstrip() for line in said.split("\n"))
            assert re.fullmatch(pattern_of(output), said), f"$ {command}\nshown:\n{output}\nsaid:\n{said}"


def test_the_readme_has_a_session():
    assert ROOT / "README.md" in SESSIONS


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_rules_load(tmp_path, page):
    for number, block in enumerate(blocks(page, "yaml")):
        if not re.search(r"^(rules|domain):", block, re.M):
            continue
        path = tmp_path / f"{number}.yaml"
        path.write_text(block, encoding="utf-8")
        done = run_ratel("check", path)
        assert done.returncode == 0, f"{block}\n{done.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_programs_are_examples_that_are_built(page):
    built = "\n".join(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("examples/*.cpp")))
    for block in blocks(page, "cpp"):
        assert block.strip() in built, f"no example holds:\n{block}"


def test_the_example_rules_load():
    done = run_ratel("check", ROOT / "examples/ratel.yaml")
    assert done.returncode == 0, done.stderr
