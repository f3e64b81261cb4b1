"""Exact under concurrency: 50 connections with 1,000 questions each on a limit of 10 let exactly 10 pass, every time.

Limits are per day, so that no machine is slow enough for one to refill during a round.
"""

import os
import socket
import threading

import pytest

CONNECTIONS = 50
QUESTIONS = 1000
ROUNDS = 100
LOOPS = [int(loops) for loops in os.environ.get("RATEL_EXACTNESS_LOOPS", "1 2 3 4").split()]
LIMIT = 10
RULES = f"rules:\n  ten: {{ limit: {LIMIT}/day }}\n  many: {{ limit: [1000000/day, {LIMIT}/day] }}\n"

# The rounds take turns with these; each has a key of its own. How a reply begins, and how one that admits does.
QUESTION = [
    (f"CL.THROTTLE round:{{}} {LIMIT - 1} {LIMIT} 86400\r\n", b"*5\r\n:", b"*5\r\n:0"),
    ("RATEL.ALLOW ten round:{}\r\n", b"*7\r\n:", b"*7\r\n:1"),
    ("RATEL.ALLOW many round:{}\r\n", b"*7\r\n:", b"*7\r\n:1"),
]


def ask_at_once(port, question, reply, connections):
    """Every connection sends its questions in one go, all at the same time; returns what each received."""
    barrier = threading.Barrier(connections)
    texts = [b""] * connections

    def one(index, client):
        barrier.wait()
        client.sendall(question * QUESTIONS)
        received = bytearray()
        while received.count(reply) < QUESTIONS:
            chunk = client.recv(1 << 18)
            if not chunk:
                break
            received += chunk
        texts[index] = bytes(received)

    clients = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(connections)]
    threads = [threading.Thread(target=one, args=pair, daemon=True) for pair in enumerate(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for client in clients:
        client.close()
    return texts


@pytest.mark.parametrize("loops", LOOPS)
def test_exactly_the_limit_passes(ratel, loops):
    port = ratel("--threads", loops, rules=RULES).resp_port
    for number in range(ROUNDS):
        question, reply, admitted = QUESTION[number % len(QUESTION)]
        texts = ask_at_once(port, question.format(number).encode(), reply, CONNECTIONS)
        assert [text.count(reply) for text in texts] == [QUESTIONS] * CONNECTIONS
        assert sum(text.count(admitted) for text in texts) == LIMIT, f"round {number}"
