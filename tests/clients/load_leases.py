"""What the right to a turn promises, seen by many clients at once."""

import itertools
import random
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from conversation import Conversation, require
from server import Server
from streams import Stream

FULL = 6000  # tokens after which clients go on in another session; the context holds 8,192


class Talks:
    """As many conversations as sessions at a time; one that is nearly full is followed by a new one."""

    def __init__(self, count):
        self.lock, self.number = threading.Lock(), itertools.count()
        self.live = [self.begin() for _ in range(count)]
        self.over = []

    def begin(self):
        return Conversation(f"hammer-{next(self.number)}")

    def pick(self, index):
        with self.lock:
            if self.live[index].tokens() > FULL:
                self.over.append(self.live[index])
                self.live[index] = self.begin()
            return self.live[index]


def nothing_left(server):
    """Every session closed: no lease, permit, row or block is held."""
    require(server.is_idle(), f"something is still held: {server.status()}")
    now = server.status()
    kv = now["models"][0]["kv"]
    require(now["sessions"]["live"] == 0, f"sessions live on: {now}")
    require(kv["blocks_used"] == kv["blocks_cached"], f"blocks are still used: {kv}")
    require(now["permits_free"] == now["models"][0]["rows"] + 256, f"a permit is missing: {now}")


def hammer(options):
    """64 clients on 8 sessions: every answer is 200 or 409, conversations are the admitted turns, nothing is left"""
    counts = {200: 0, 409: 0}
    with Server(["--rows", "8", "--max-sessions", "1000"], options.tiny) as server:
        talks = Talks(8)
        end = time.monotonic() + (5 if options.short else options.seconds)

        def client(number):
            connection, chance, own = server.connect(), random.Random(number), {200: 0, 409: 0}
            while time.monotonic() < end:
                talk = talks.pick(chance.randrange(8))
                status, body = talk.turn(server, [chance.randrange(1, 500)], connection)
                require(status in own, f"{status} {body}")
                require(status == 200 or body["error"]["code"] == "session_busy", body)
                own[status] += 1
            return own

        with ThreadPoolExecutor(64) as pool:
            for own in pool.map(client, range(64)):
                counts = {status: counts[status] + own[status] for status in counts}
        require(min(counts.values()) > 50, f"too few answers to say anything: {counts}")
        all_talks = [talk for talk in talks.over + talks.live if talk.turns]
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda talk: check(server, talk), all_talks))
        nothing_left(server)
    return {"admitted": counts[200], "refused": counts[409], "conversations": len(all_talks)}


def check(server, talk):
    _, session = server.get(f"/v1/sessions/{talk.name}")
    require(session["turns"] == len(talk.turns) and session["token_count"] == talk.tokens(), session)
    again = talk.check_on(server, further=[[7]])
    require(talk.turn(server, [7])[0] == 200, f"{talk.name} is still busy")
    require(talk.turns[-1].answer == again.turns[-1].answer, f"{talk.name} goes on differently than its turns alone")
    server.request("DELETE", f"/v1/sessions/{talk.name}")


def next_turns(options):
    """1,000 next turns fired at once after the terminal event of a stream, and after the JSON body: no 409"""
    count = 50 if options.short else 250  # of each of the four clients

    def client(server, number, streamed, lonely):
        connection, turns = server.connect(), Conversation(f"next-{streamed}-{lonely}-{number}")
        for turn in range(count):
            if streamed:
                stream = Stream(server, [turn % 500 + 1], 1, turns.name)
                stream.read_until(lambda event: b'"finish_reason":"' in event)
                require(stream.status == 200, f"turn {turn}: {stream.status}")
            status, body = turns.turn(server, [turn % 500 + 1], connection)  # another connection than the stream's
            require(status == 200, f"turn {turn}: {status} {body}")
            if streamed:
                stream.socket.close()
        server.request("DELETE", f"/v1/sessions/{turns.name}")

    with Server(["--rows", "8"], options.tiny) as server:
        for streamed in (False, True):
            client(server, 0, streamed, True)
            with ThreadPoolExecutor(4) as pool:
                list(pool.map(lambda number: client(server, number, streamed, False), range(4)))
        nothing_left(server)
    return {"after_json": 5 * count, "after_event": 5 * count}
