"""An HTTP client of OpenAI-compatible servers that notes when each piece of a streamed completion arrives."""
import dataclasses
import http.client
import json
import random
import threading
import time

WORDS = "time year people way day man thing woman life child world school state family student group country".split()


@dataclasses.dataclass
class Reply:
    sent: float = 0
    arrivals: list[float] = dataclasses.field(default_factory=list)  # of pieces with text
    prompt_tokens: int = 0
    new_tokens: int = 0
    error: str = ""

    def first_ms(self):
        return (self.arrivals[0] - self.sent) * 1e3

    def gaps_ms(self):
        return [(b - a) * 1e3 for a, b in zip(self.arrivals, self.arrivals[1:])]


def prompt(words: int, seed: int) -> str:
    """Each of these words is one token of SmolLM2's vocabulary."""
    generator = random.Random(seed)
    return f"Story {seed}: " + " ".join(generator.choices(WORDS, k=words))


def served_model(port: int) -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
    try:
        connection.request("GET", "/v1/models")
        return json.loads(connection.getresponse().read())["data"][0]["id"]
    finally:
        connection.close()


def complete(port: int, text: str, new_tokens: int, reply: Reply, started=None):
    """Fills in `reply`; sets the event `started` when the first piece is there."""
    body = {"model": served_model(port), "prompt": text, "max_tokens": new_tokens, "temperature": 0, "stream": True, "ignore_eos": True,
            "stream_options": {"include_usage": True}}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=100)  # seconds, also between two pieces
    reply.sent = time.monotonic()
    try:
        connection.request("POST", "/v1/completions", json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            reply.error = f"{response.status}: {response.read(200)!r}"
            return
        for line in response:
            if line.startswith(b"data: {"):
                take(json.loads(line[6:]), reply, started)
    except (OSError, http.client.HTTPException) as error:
        reply.error = str(error)
    finally:
        connection.close()


def take(piece, reply, started):
    if any(choice.get("text") for choice in piece.get("choices", [])):
        reply.arrivals.append(time.monotonic())
        if started:
            started.set()
    if piece.get("usage"):
        reply.prompt_tokens, reply.new_tokens = piece["usage"]["prompt_tokens"], piece["usage"]["completion_tokens"]
    if "error" in piece:
        reply.error = str(piece["error"])[:200]


def complete_all(port: int, texts: list[str], new_tokens: int) -> list[Reply]:
    replies = [Reply() for _ in texts]
    threads = [threading.Thread(target=complete, args=(port, text, new_tokens, reply)) for text, reply in zip(texts, replies)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return replies
