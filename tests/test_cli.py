"""The command line as a person at a shell meets it: what is said, where, and with which exit code."""

import json
import socket
import urllib.error
import urllib.request

import pytest

from conftest import RULES, listener, redis_cli, run_ratel


def one_line(text):
    assert text.endswith("\n") and text.count("\n") == 1, f"not one line: {text!r}"
    return text


@pytest.mark.parametrize("arguments", [["--help"], ["serve", "--help"], ["check", "--help"], ["ask", "--help"],
                                       ["doctor", "--help"], ["show", "--help"]])
def test_help_teaches(arguments):
    done = run_ratel(*arguments)
    assert done.returncode == 0 and done.stderr == ""
    assert "Usage" in done.stdout or "usage" in done.stdout
    if arguments == ["--help"]:
        for subcommand in ("serve", "check", "ask", "doctor", "show", "version"):
            assert subcommand in done.stdout
    if arguments == ["serve", "--help"]:
        for flag in ("--config", "--rules", "--resp", "--http", "--store", "--threads", "--max-memory",
                     "--password-file", "--token-file", "--log-level", "--log-format", "--insecure-listen"):
            assert flag in done.stdout
    if arguments[0] in ("doctor", "show"):
        for flag in ("--config", "--store", "--store-password-file", "--store-ca-file", "--key-prefix", "Exit code"):
            assert flag in done.stdout
        assert "--max-memory" not in done.stdout and "--start-degraded" not in done.stdout


def test_version():
    done = run_ratel("version")
    assert done.returncode == 0
    assert one_line(done.stdout).startswith("ratel 0.")


BAD_STARTS = {
    "unknown flag": (["--threds", "2"], ["--threds"]),
    "flag without a value": (["--rules"], ["--rules"]),
    "number out of range": (["--threads", "-1"], ["threads", "-1"]),
    "address": (["--resp", "127.0.0.1:99999"], ["resp", "99999"]),
    "store": (["--store", "paper://here"], ["store", "scheme `paper`"]),
    "size": (["--max-memory", "12 parsecs"], ["12 parsecs"]),
    "log level": (["--log-level", "loud"], ["loud"]),
    "rules that are not there": (["--rules", "no/such/rules.yaml"], ["no/such/rules.yaml"]),
    "configuration that is not there": (["--config", "no/such/ratel.yaml"], ["no/such/ratel.yaml"]),
    "password file that is not there": (["--password-file", "no/such/secret"], ["no/such/secret"]),
    "all interfaces without a password": (["--resp", "0.0.0.0:0"], ["0.0.0.0", "--password-file"]),
    "all interfaces without a token": (["--http", "0.0.0.0:0"], ["0.0.0.0", "--token-file"]),
}


@pytest.mark.parametrize("case", BAD_STARTS)
def test_a_bad_start_is_one_line_and_a_failure(case):
    flags, named = BAD_STARTS[case]
    ports = [word for flag in ("--resp", "--http") if flag not in flags for word in (flag, "127.0.0.1:0")]
    done = run_ratel("serve", *ports, *flags)
    assert done.returncode == 2
    line = one_line(done.stdout + done.stderr)
    for word in named:
        assert word in line


@pytest.mark.parametrize("flag", ["--resp", "--http"])
def test_a_port_in_use_is_named(flag):
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        address = f"127.0.0.1:{holder.getsockname()[1]}"
        other = {"--resp": "--http", "--http": "--resp"}[flag]
        done = run_ratel("serve", flag, address, other, "off")
        assert done.returncode == 1
        assert address in one_line(done.stdout + done.stderr)


def test_an_unknown_subcommand_fails():
    done = run_ratel("sreve")
    assert done.returncode == 2 and "sreve" in done.stderr


BROKEN_RULES = [
    # the text, and what the error must say: the place, the value, what would be right
    ("rules:\n  login: { limit: 5/mn }\n", [":2:", "5/mn"]),
    ("rules:\n  login: { limt: 5/min }\n", [":2:", "limt", "limit"]),
    ("rules:\n  login: { limit: 0.5/s }\n", [":2:", "0.5/s", "1 per 2s"]),
    ("rules:\n  login: { limit: 5/min, on_store_failure: maybe }\n", [":2:", "maybe", "deny"]),
    ("rules: [\n", [":"]),
]


@pytest.mark.parametrize("text,named", BROKEN_RULES)
def test_check_names_the_place(tmp_path, text, named):
    path = tmp_path / "rules.yaml"
    path.write_text(text, encoding="utf-8")
    done = run_ratel("check", path)
    assert done.returncode == 2
    for word in [str(path), *named]:
        assert word in done.stderr
    assert run_ratel("serve", "--resp", "127.0.0.1:0", "--http", "off", "--rules", path).returncode == 2


def test_check_says_what_each_rule_does(tmp_path):
    path = tmp_path / "rules.yaml"
    path.write_text(RULES, encoding="utf-8")
    done = run_ratel("check", path)
    assert done.returncode == 0, done.stderr
    for word in ("login", "api", "checkout", "at once", "burst 200"):
        assert word in done.stdout


def test_check_reads_a_folder_and_names_both_places_of_a_duplicate(tmp_path):
    (tmp_path / "a.yaml").write_text("rules: { one: { limit: 1/s } }\n", encoding="utf-8")
    (tmp_path / "b.yml").write_text("rules: { two: { limit: 2/s } }\n", encoding="utf-8")
    done = run_ratel("check", tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{tmp_path} is good: 2 rules" in done.stdout
    (tmp_path / "c.yaml").write_text("rules: { one: { limit: 3/s } }\n", encoding="utf-8")
    done = run_ratel("check", tmp_path)
    assert done.returncode == 2 and done.stdout == ""
    assert one_line(done.stderr) == f"{tmp_path}/c.yaml:1:10: rule `one` is already at {tmp_path}/a.yaml:1:10\n"


def test_check_judges_a_configuration_with_the_rules_it_names(tmp_path):
    config, rules = tmp_path / "ratel.yaml", tmp_path / "rules.yaml"
    config.write_text("threads: 1\npassword_file: not/on/this/machine\nrules: rules.yaml\n", encoding="utf-8")
    rules.write_text("rules: { one: { limit: 1/s } }\n", encoding="utf-8")
    done = run_ratel("check", config)
    assert done.returncode == 0 and "1 per second" in done.stdout, done.stderr
    config.write_text("threads: many\nrules: {}\n", encoding="utf-8")
    done = run_ratel("check", config)
    assert done.returncode == 2 and one_line(done.stderr).startswith(f"{config}:1:10: setting `threads`")


def test_ask_brings_a_limit_looks_and_names_what_it_cannot_do(ratel, tmp_path):
    (tmp_path / "password").write_text("sesame\n", encoding="utf-8")
    server = ratel("--password-file", tmp_path / "password")
    ask = ["ask", "--server", server.resp, "--password-file", tmp_path / "password", "--limit", "3/day"]
    assert run_ratel(*ask, "--peek", "k").stdout.startswith("allowed rule=3/day limit=3 remaining=3 ")
    assert run_ratel(*ask, "--cost", "3", "k").stdout.startswith("allowed rule=3/day limit=3 remaining=0 ")
    assert run_ratel(*ask, "k").stdout.startswith("denied rule=3/day limit=3 remaining=0 retry_after=")
    assert "retry_after=never" in run_ratel(*ask, "--cost", "4", "k").stdout
    for bad, word in ((["--cost", "-1", "k"], "-1"), (["login", "k"], "--limit"), ([], "--limit"),
                      (["--timeout", "soon", "k"], "soon")):
        done = run_ratel(*ask, *bad)
        assert done.returncode == 2 and word in one_line(done.stderr), done
    stranger = run_ratel("ask", "--server", server.resp, "--limit", "3/day", "k")
    assert stranger.returncode == 2 and "NOAUTH" in one_line(stranger.stderr)


def test_ask_answers_by_its_exit_code(ratel):
    server = ratel(rules="rules:\n  two: { limit: 2/day }\n")
    ask = ["ask", "--server", server.resp, "two", "user:42"]
    codes = [run_ratel(*ask).returncode for _ in range(3)]
    assert codes == [0, 0, 1]
    unknown = run_ratel("ask", "--server", server.resp, "tow", "user:42")
    assert unknown.returncode == 2 and "two" in one_line(unknown.stderr)
    nobody = run_ratel("ask", "--server", "127.0.0.1:1", "two", "user:42")
    assert nobody.returncode == 2 and "127.0.0.1:1" in one_line(nobody.stderr)


def test_flags_win_over_the_environment_and_that_over_the_file(ratel, tmp_path):
    config = tmp_path / "ratel.yaml"
    config.write_text("threads: 1\nlog_format: json\nrules:\n  one: { limit: 1/day }\n", encoding="utf-8")
    from_file = ratel("--config", config, rules=None)
    assert json.loads(from_file.start_up_line())
    from_environment = ratel("--config", config, rules=None, env={"RATEL_LOG_FORMAT": "logfmt"})
    assert "resp=" in from_environment.start_up_line()
    from_flag = ratel("--config", config, "--log-format", "json", rules=None, env={"RATEL_LOG_FORMAT": "logfmt"})
    assert json.loads(from_flag.start_up_line())
    assert redis_cli(from_flag.resp_port, "RATEL.ALLOW", "one", "k")[0] == "1) (integer) 1"


def test_the_start_up_line_names_what_runs(ratel):
    line = ratel().start_up_line()
    for word in ("0.1.0", "127.0.0.1", "rules", "memory"):
        assert word in line
    assert listener(line, "resp") and listener(line, "http")


def test_without_rules_limits_in_the_question_work(ratel):
    port = ratel(rules=None).resp_port
    assert redis_cli(port, "CL.THROTTLE", "k", 15, 30, 60)[2] == "3) (integer) 15"
    assert redis_cli(port, "RATEL.ALLOW", "LIMIT", "1/day", "k")[0] == "1) (integer) 1"
    assert redis_cli(port, "RATEL.ALLOW", "LIMIT", "1/day", "k")[0] == "1) (integer) 0"


def test_secrets_come_from_files_and_open_the_doors(ratel, tmp_path):
    (tmp_path / "password").write_text("sesame\n", encoding="utf-8")
    (tmp_path / "token").write_text("open\n", encoding="utf-8")
    server = ratel("--password-file", tmp_path / "password", "--token-file", tmp_path / "token",
                   "--resp", "0.0.0.0:0", "--http", "0.0.0.0:0")
    port = server.resp_port
    assert "NOAUTH" in redis_cli(port, "CL.THROTTLE", "k", 1, 1, 1)[0]
    assert redis_cli(port, "-a", "sesame", "--no-auth-warning", "PING") == ["PONG"]

    def status(path, **headers):
        request = urllib.request.Request(f"http://127.0.0.1:{server.http.rsplit(':', 1)[1]}{path}", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=30) as response:
                return response.status
        except urllib.error.HTTPError as error:
            return error.code

    assert status("/metrics") == 401
    assert status("/metrics", Authorization="Bearer closed") == 401
    assert status("/metrics", Authorization="Bearer open") == 200
    assert status("/healthz") == 200
    assert "sesame" not in server.log() and "open\n" not in server.log()
