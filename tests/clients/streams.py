"""Streams read by one thread, with the time of every event: what a client sees of the pace of its answer.

    streams = [Stream(server, [5, 6], tokens=100) for _ in range(4)]
    read_all(streams)
    gaps = [gap for stream in streams for gap in stream.gaps()]
"""

import json
import selectors
import socket
import statistics
import time


class Stream:
    """A streaming completion on a connection of its own. `events` are its data lines without "data: "."""

    def __init__(self, server, prompt, tokens, session=None, **more):
        self.socket = socket.create_connection((server.address.hostname, server.address.port))
        body = json.dumps({"prompt": prompt, "max_tokens": tokens, "temperature": 0, "ignore_eos": True, "stream": True,
                           **more})
        name = f"X-Session-Id: {session}\r\n" if session else ""
        self.socket.sendall(f"POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n{name}"
                            f"Content-Length: {len(body)}\r\n\r\n{body}".encode())
        self.status, self.events, self.times, self.rest = None, [], [], b""

    def read(self):
        """Takes what has arrived, or waits for something; False when the stream is over."""
        received = self.socket.recv(65536)
        now = time.monotonic()
        lines = (self.rest + received).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            if self.status is None:
                self.status = int(line.split()[1])
            elif line.startswith(b"data: "):
                self.events.append(line[6:])
                self.times.append(now)
        return bool(received) and not self.done() and (self.status or 200) == 200

    def read_events(self, count):
        while len(self.events) < count and self.read():
            pass

    def read_until(self, fits):
        while not any(map(fits, self.events)) and self.read():
            pass

    def done(self):
        return bool(self.events) and self.events[-1] == b"[DONE]"

    def ended_well(self):
        return self.done() and b'"error"' not in self.events[-2]

    def gaps(self, since=0.0, until=float("inf")):
        """Seconds between one token and the next, of those that arrived in the given time."""
        times = self.times[:-2] if self.done() else self.times  # the end isn't a token
        return [b - a for a, b in zip(times, times[1:]) if since <= b <= until]

    def vanish(self):
        """Leaves as a process does that is killed: with a reset."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.socket.close()


def read_all(streams, until=float("inf")):
    """Reads until each is over, or the time (of time.monotonic) has come."""
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            selector.register(stream.socket, selectors.EVENT_READ, stream)
        while selector.get_map() and time.monotonic() < until:
            for key, _ in selector.select(min(0.1, max(0.0, until - time.monotonic()))):
                if not key.data.read():
                    selector.unregister(key.fileobj)
    for stream in streams:
        if stream.done():
            stream.socket.close()


def summary_ms(seconds):
    """p50, p99 and the largest, in milliseconds."""
    cuts = statistics.quantiles(seconds, n=100)
    return {name: round(value * 1000, 1) for name, value in
            (("p50_ms", cuts[49]), ("p99_ms", cuts[98]), ("max_ms", max(seconds)))}
