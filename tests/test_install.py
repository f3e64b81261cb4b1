"""The library as its users get it: installed, found by CMake, linked into programs that know nothing of this tree."""

import subprocess

import pytest

from conftest import RATEL, ROOT, START_S, program, redis_cli


def run(*command, timeout_s=600):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=timeout_s, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of the install tree, and that of the examples built from it."""
    prefix, built = tmp_path_factory.mktemp("prefix"), tmp_path_factory.mktemp("examples")
    cmake = program("cmake")
    run(cmake, "--install", RATEL.parent, "--prefix", prefix, "--component", "library")
    run(cmake, "-S", ROOT / "examples", "-B", built, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCMAKE_BUILD_TYPE=Release")
    run(cmake, "--build", built)
    return prefix, built


def test_only_public_headers_and_one_archive_are_installed(installed):
    prefix, _ = installed
    files = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if path.is_file()}
    headers = {f"include/ratel/{path.name}" for path in (ROOT / "include/ratel").glob("*.h")}
    assert {file for file in files if file.startswith("include")} == headers
    assert [file.split("/")[-1] for file in files if file.endswith((".a", ".so"))] == ["libratel.a"]
    for path in prefix.rglob("*.cmake"):
        assert str(ROOT) not in path.read_text(encoding="utf-8"), f"{path.name} names the tree it was built in"


def test_an_example_decides_in_memory(installed):
    assert run(installed[1] / "example_limiter") == "5 of 8 exports pass, the next in 5 hours\n"


def test_an_example_shares_a_count_through_redis_also_with_a_server(installed, ratel, stores):
    store = stores.start()
    shared = installed[1] / "example_shared"
    url = f"redis://127.0.0.1:{store.port}"
    assert run(shared, url, timeout_s=START_S) == "3 of 3 exports pass, exact\n"
    server = ratel("--store", url, rules="rules: { exports: { limit: 5/day, deadline: 5s } }")
    assert redis_cli(server.resp_port, "RATEL.ALLOW", "exports", "user:42")[2] == "3) (integer) 1"
    assert run(shared, url, timeout_s=START_S) == "1 of 3 exports pass, exact\n"
    assert server.stop() == 0
    store.stop()
    failed = subprocess.run([shared, url], capture_output=True, text=True, timeout=START_S, check=False)
    assert failed.returncode == 1 and "does not decide" in failed.stdout, failed


def test_another_minor_version_is_not_taken_for_this_one(installed, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(other LANGUAGES CXX)\nfind_package(ratel 0.99 REQUIRED)\n",
        encoding="utf-8")
    done = subprocess.run([program("cmake"), "-S", tmp_path, "-B", tmp_path / "build",
                           f"-DCMAKE_PREFIX_PATH={installed[0]}"], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and "0.99" in done.stderr
