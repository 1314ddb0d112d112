"""A session's conversation, and the proof that it consists of its admitted turns in their order.

A turn's answer and its log probabilities depend on every token before it. So the turns, run again one after another in a
fresh session with nobody else about, must give the same tokens and the same log probabilities, one by one.
"""

import itertools
import threading

_names = itertools.count()


def require(good, message):
    if not good:
        raise AssertionError(message)


class Turn:
    def __init__(self, prompt, body):
        self.prompt, self.count = prompt, body["session_token_count"]
        logprobs = body["choices"][0]["logprobs"]
        self.answer = list(zip(logprobs["tokens"], logprobs["token_logprobs"]))


class Conversation:
    """Turns of one session by any number of clients. Each adds `step` tokens: its prompt and its answer."""

    ANSWER = 2

    def __init__(self, name):
        self.name, self.turns, self.lock = name, [], threading.Lock()

    def turn(self, server, prompt, connection=None):
        """One turn; its status, and its body when it was refused. An admitted one is written down."""
        status, body = server.complete(prompt, self.ANSWER, self.name, connection, logprobs=0)
        if status != 200:
            return status, body
        with self.lock:
            self.turns.append(Turn(prompt, body))
        return status, None

    def tokens(self):
        with self.lock:
            return max((turn.count for turn in self.turns), default=0)

    def in_order(self):
        """The admitted turns; each must end where the next begins."""
        turns = sorted(self.turns, key=lambda turn: turn.count)
        end = 0
        for turn in turns:
            end += len(turn.prompt) + self.ANSWER
            require(turn.count == end, f"{self.name}: a turn ends at {turn.count} tokens, {end} expected")
        return turns

    def check_on(self, server, further=()):
        """Runs the admitted turns again, and `further` ones, which the session has had too or is yet to have."""
        again = Conversation(f"again-{next(_names)}")
        for turn in self.in_order():
            status, body = again.turn(server, turn.prompt)
            require(status == 200, f"{self.name} again: {status} {body}")
            require(again.turns[-1].answer == turn.answer,
                    f"{self.name}, turn at {turn.count}: {turn.answer}, alone {again.turns[-1].answer}")
        for prompt in further:
            require(again.turn(server, prompt)[0] == 200, f"{self.name}: a further turn was refused")
        server.request("DELETE", f"/v1/sessions/{again.name}")
        return again
