"""CL.THROTTLE through redis-cli against a running server: each row of the table in docs/cl-throttle.md, its reply or
the difference it documents.

Seconds are rounded up, so a reply does not change while a call is less than a second late; rows that wait do so in
twice the table's time, which makes it nearly two.
"""

import re
import socket
import time

import pytest

from conftest import ROOT, redis_cli


def throttle(server, words):
    """The reply as `0 16 15 -1 2`, or the text of the error."""
    lines = redis_cli(server.resp_port, "CL.THROTTLE", *words.split(" "))
    numbers = [re.fullmatch(r"\d\) \(integer\) (-?\d+)", line) for line in lines]
    return " ".join(number.group(1) for number in numbers) if all(numbers) else "\n".join(lines).strip()


def error(field, value, least, most):
    return f"(error) ERR invalid {field} `{value}`: must be a whole number from {least} to {most}"


def bad_burst(value):
    return error("max_burst", value, 0, 4294967294)


def bad_count(value):
    return error("count", value, 1, 4294967295)


def bad_period(value):
    return error("period", value, 1, 31622400)


def bad_quantity(value):
    return error("quantity", value, 0, 2147483647)


INT64_MAX = 2**63 - 1

# One server sees all of them, each row with keys of its own.
ROWS = {
    "1, 2": [("k 15 30 60", "0 16 15 -1 2"), ("k 15 30 60 0", "0 16 15 -1 2")],
    "3": [("b 15 30 60 0", "0 16 16 -1 0")],
    "4, 5, 6": [("c 15 30 60 16", "0 16 0 -1 32"), ("c 15 30 60 0", "0 16 0 -1 32"), ("c 15 30 60 1", "1 16 0 2 32")],
    "7": [("d 15 30 60 17", "1 16 16 -1 0"), ("d 15 30 60 0", "0 16 16 -1 0")],
    "22": [("f 10 0 60", bad_count("0")), ("f 10 10 0", bad_period("0"))],
    "23": [(f"p 10 {INT64_MAX} 1", bad_count(INT64_MAX))],
    "24": [("f24 +1 10 60", "0 2 1 -1 6")],
    "25": [("g -1 10 60", bad_burst("-1"))],
    "26": [("h -5 10 60", bad_burst("-5"))],
    "27": [("i 5 -10 60", bad_count("-10")), ("j 5 10 -60", bad_period("-60"))],
    "28": [("m 5 10 60 3", "0 6 3 -1 18"), ("m 5 10 60 -2", bad_quantity("-2")), ("m 5 10 60 0", "0 6 3 -1 18")],
    "29": [("o 5 10 60 -1", bad_quantity("-1")), ("o 5 10 60 0", "0 6 6 -1 0")],
    "30": [(f"o30 5 10 60 {INT64_MAX}", bad_quantity(INT64_MAX)), ("o30 5 10 60 0", "0 6 6 -1 0")],
    "31": [(f"n {INT64_MAX} 10 60", bad_burst(INT64_MAX))],
    "32": [(f"q 10 10 {INT64_MAX}", bad_period(INT64_MAX))],
    "35": [("s 10 2000000 1", "0 11 10 -1 1")],
    "36": [("r 10 1000000000 1", "0 11 10 -1 1")],
    "38b": [("a 6000 6000 1", "0 6001 6000 -1 1")],
    "38c": [("u 1 8000 1 1", "0 2 1 -1 1")],
    "not numbers": [("w 1.5 10 60", bad_burst("1.5")), ("w 1 x 60", bad_count("x"))],
    "arity": [("w 1 10", "(error) ERR wrong number of arguments for 'cl.throttle' command"),
              ("w 1 10 60 1 1", "(error) ERR wrong number of arguments for 'cl.throttle' command")],
}


@pytest.mark.parametrize("row", ROWS)
def test_rows(ratel, row):
    server = ratel(rules=None)
    for words, reply in ROWS[row]:
        assert throttle(server, words) == reply, words


def play(server, *steps):
    """Runs (seconds since the calls at 0, words, reply): never early, and late by what the machine takes."""
    for at_s, words, reply in steps:
        if at_s > 0:
            time.sleep(max(0.0, start + at_s - time.monotonic()))
        assert throttle(server, words) == reply, f"{words} at {at_s} s"
        if at_s == 0:
            start = time.monotonic()


def test_rows_8_to_10_no_burst(ratel):
    play(ratel(rules=None),
         (0, "e 0 1 4", "0 1 0 -1 4"),
         (0, "e 0 1 4", "1 1 0 4 4"),
         (4, "e 0 1 4", "0 1 0 -1 4"))


def test_rows_11_to_21_one_unit_in_two_seconds(ratel):
    play(ratel(rules=None),
         (0, "t 4 1 2 6", "1 5 5 -1 0"),  # 11
         (0, "t 4 1 2", "0 5 4 -1 2"),  # 12
         (0, "t 4 1 2", "0 5 3 -1 4"),
         (0, "t 4 1 2", "0 5 2 -1 6"),
         (0, "t 4 1 2", "0 5 1 -1 8"),
         (0, "t 4 1 2", "0 5 0 -1 10"),
         (0, "t 4 1 2", "1 5 0 2 10"),  # 13
         (6.0, "t 4 1 2", "0 5 2 -1 6"),  # 14
         (6.2, "t 4 1 2", "0 5 1 -1 8"),  # 15
         (8.0, "t 4 1 2", "0 5 1 -1 8"),  # 16
         (16.0, "t 4 1 2", "0 5 4 -1 2"),  # 17
         (19.0, "t 4 1 2", "0 5 4 -1 2"),  # 18
         (19.0, "t 4 1 2 0", "0 5 4 -1 2"),  # 19
         (19.0, "t 4 1 2 2", "0 5 2 -1 6"),  # 20
         (19.0, "t 4 1 2 5", "1 5 2 6 6"))  # 21


def test_row_33_a_thousand_a_second_one_after_the_other(ratel):
    play(ratel(rules=None), (0, "v 0 1000 1", "0 1 0 -1 1"), (0.002, "v 0 1000 1", "0 1 0 -1 1"))


def pipelined(server, words, times):
    """The replies to one write of the same command again and again: that many in an instant redis-cli cannot ask."""
    words = ["CL.THROTTLE", *words.split(" ")]
    command = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
    with socket.create_connection(("127.0.0.1", server.resp_port), timeout=30) as connection:
        stream = connection.makefile("rwb")
        stream.write(command.encode() * times)
        stream.flush()
        replies = []
        for _ in range(times):
            assert stream.readline() == b"*5\r\n"
            replies.append(" ".join(stream.readline().decode().strip().removeprefix(":") for _ in range(5)))
        return replies


def test_row_34_a_denial_never_says_to_come_back_at_once(ratel):
    server = ratel(rules=None)
    assert pipelined(server, "h 0 2000 1", 2) in (["0 1 0 -1 1", "1 1 0 1 1"], ["0 1 0 -1 1"] * 2)
    denied = [reply for reply in pipelined(server, "h 0 2000 1", 5_000) if reply != "0 1 0 -1 1"]
    assert denied and set(denied) == {"1 1 0 1 1"}


def test_rows_37_and_38_at_one_instant(ratel):
    """A unit comes back in 0.2 s, so these are asked in one write each, and once more where a stall fell in between."""
    server = ratel(rules=None)
    expected = ["0 5 4 -1 1", "0 5 3 -1 1", "0 5 2 -1 1", "0 5 1 -1 1", "0 5 0 -1 1", "1 5 0 1 1"]
    assert any(pipelined(server, f"x{attempt} 4 5 1", 6) == expected for attempt in range(20))
    for attempt in range(20):
        key = f"y{attempt}"
        replies = [throttle(server, f"{key} {words}") for words in ("4 5 1 5", "4 5 1 5", "4 5 1 6", "1 5 1 0")]
        if replies == ["0 5 0 -1 1", "1 5 0 1 1", "1 5 0 -1 1", "0 2 0 -1 1"]:
            return
    pytest.fail(f"the last attempt: {replies}")


def test_row_38d_six_thousand_a_second(ratel):
    start = time.monotonic()
    replies = pipelined(ratel(rules=None), "p 5999 6000 1", 20_000)
    took_s = time.monotonic() - start
    allowed = sum(reply.startswith("0 ") for reply in replies)
    assert 6000 <= allowed <= 6000 + 6000 * took_s
    assert {reply for reply in replies if reply.startswith("1 ")} <= {"1 6000 0 1 1"}


def test_row_38e_a_thousand_a_minute(ratel):
    start = time.monotonic()
    replies = pipelined(ratel(rules=None), "p 999 1000 60", 5_000)
    took_s = time.monotonic() - start
    allowed = sum(reply.startswith("0 ") for reply in replies)
    assert 1000 <= allowed <= 1000 + 1000 / 60 * took_s
    assert {reply for reply in replies if reply.startswith("1 ")} == {"1 1000 0 1 60"}


def test_row_39_an_empty_key(ratel):
    assert throttle(ratel(rules=None), " 15 30 60") == "0 16 15 -1 2"


def test_rows_40_and_41_nothing_else_can_be_done_to_a_key(ratel):
    server = ratel(rules=None)
    for words in (["SET", "k", "text"], ["EVAL", "return redis.call('CL.THROTTLE', 'k', 1, 1, 1)", "0"]):
        assert redis_cli(server.resp_port, *words)[0].startswith(f"(error) ERR unknown command '{words[0]}'")


def test_row_42_a_restart_starts_anew(ratel):
    for _ in range(2):
        server = ratel(rules=None)
        assert throttle(server, "k 4 1 60 5") == "0 5 0 -1 300"
        assert server.stop() == 0


def test_no_row_is_left_out():
    documented = re.findall(r"^\| (\d+[a-e]?) \|", (ROOT / "docs/cl-throttle.md").read_text(encoding="utf-8"), re.M)
    tested = [number for row in ROWS for number in row.split(", ") if number[0].isdigit()]
    tested += map(str, [*range(8, 22), 33, 34, 37, 38, "38d", "38e", 39, 40, 41, 42])
    assert sorted(documented) == sorted(tested)
