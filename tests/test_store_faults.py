"""How soon a store that fails or refuses is used again when it is well, and who may use it at all.

Each answer comes by its deadline, whatever happens; nobody is charged twice but where that is documented; and answers
are exact again soon after the store is.
"""

import time

from test_shared_store import MARGIN_S, Asker, shared

MANY = """\
rules:
  many: { limit: 1000000/day, algorithm: fixed_window, on_store_failure: allow }
"""


def kill_clients(store):
    store.cli("CLIENT", "KILL", "TYPE", "normal")


def test_connections_that_are_killed_again_and_again_cost_hardly_an_answer(ratel, stores):
    store = stores.start()
    (server,) = shared(ratel, store, rules=MANY)
    asker = Asker(server)
    inexact = 0
    allowed = 0
    slowest = 0.0
    for number in range(200):
        if number % 5 == 0:
            kill_clients(store)
        began = time.monotonic()
        reply = asker.ask("ALLOW", "many", "k")
        slowest = max(slowest, time.monotonic() - began)
        inexact += reply["source"] != "exact"
        allowed += reply["allowed"]
    assert allowed == 200
    assert slowest < 0.05 + MARGIN_S
    assert inexact <= 10
    # One that was cut off is asked once more, and may have been charged twice: once for each of 40 cuts at most.
    spent = 1_000_000 - asker.ask("PEEK", "many", "k")["remaining"]
    assert 200 - inexact <= spent <= 240
