"""Ends of the server, asked for or not, and what its sessions are afterwards."""

import signal
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from conversation import Conversation, require
from server import Server
from streams import Stream, read_all

SESSIONS = 50


def restart(options):
    """kill -9 during 50 concurrent turns, three times: every session is at its last finished turn"""
    talks = [Conversation(f"kept-{number}") for number in range(SESSIONS)]
    pending = [None] * SESSIONS  # the prompt of the turn that was running when the server died
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--session-dir", folder, "--rows", "16"]
        for kill in range(1 if options.short else 3):
            with Server(arguments, options.model) as server:
                recover(server, talks, pending)
                with ThreadPoolExecutor(SESSIONS) as pool:
                    turns = [pool.submit(talk_on, server, talks[n], pending, n) for n in range(SESSIONS)]
                    wait_for_turns(talks, (kill + 1) * (2 if options.short else 8) * SESSIONS)
                    server.kill()
                    for turn in turns:
                        turn.result()
        with Server(arguments, options.model) as server:
            recover(server, talks, pending)
            for number in range(0, SESSIONS, 7):  # what they say next shows what they remember
                talk = talks[number]
                again = talk.check_on(server, further=[[9]])
                require(talk.turn(server, [9])[0] == 200 and talk.turns[-1].answer == again.turns[-1].answer,
                        f"{talk.name} goes on differently than its turns alone")
    return {"sessions": SESSIONS, "turns": sum(len(talk.turns) for talk in talks)}


def wait_for_turns(talks, count):
    end = time.monotonic() + 100
    while sum(len(talk.turns) for talk in talks) < count:
        require(time.monotonic() < end, "the turns don't get on")
        time.sleep(0.01)


def talk_on(server, talk, pending, number):
    connection = server.connect()
    for turn in range(600):  # until the server dies, or the context is nearly full
        pending[number] = [(turn * 7 + number) % 240 + 5]
        try:
            status, body = talk.turn(server, pending[number], connection)
        except (OSError, ValueError, EOFError):
            return
        except Exception as error:  # http.client's own, of an answer that was cut
            require(type(error).__module__ == "http.client", error)
            return
        require(status == 200, body)
        pending[number] = None


def recover(server, talks, pending):
    """Each session is at its last seen turn, or at the one that ended without its client seeing it."""
    for number, talk in enumerate(talks):
        status, session = server.get(f"/v1/sessions/{talk.name}")
        seen = len(talk.turns)
        if status == 404:
            require(seen == 0, f"{talk.name} is lost")
            continue
        require(session["turns"] in ((seen, seen + 1) if pending[number] else (seen,)), f"{session} after {seen} turns")
        if session["turns"] > seen:  # nobody has read its answer: take back the turn, then say it again
            status, _ = server.post(f"/v1/sessions/{talk.name}/rewind", {"position": talk.tokens()})
            require(status == 200, "the turn can't be taken back")
        pending[number] = None
    return talks


def stop(options):
    """SIGTERM while streams run: they end, or are ended with an error event; exit code 0; a second one ends it at once"""
    return {"drained_ms": drained(options), "cut_ms": cut(options), "second_signal_ms": second_signal(options)}


def running_streams(server, tokens, session=None):
    streams = [Stream(server, [number + 5], tokens, session if number == 0 else None) for number in range(8)]
    for stream in streams:
        stream.read_events(3)
    server.process.send_signal(signal.SIGTERM)
    return streams, time.monotonic()


def ending(server, began):
    server.process.wait(20)
    return round((time.monotonic() - began) * 1000)


def drained(options):
    with Server(["--drain-seconds", "60"], options.tiny) as server:
        streams, began = running_streams(server, 2000)
        time.sleep(0.1)
        try:
            server.connect(1).connect()
            raise AssertionError("a stopping server accepts a connection")
        except OSError:
            read_all(streams)
        require(all(stream.ended_well() for stream in streams), "a stream was cut though it had time")
        took = ending(server, began)
    require(server.code == 0, f"exit code {server.code}")
    return took


def cut(options):
    with tempfile.TemporaryDirectory() as folder:
        arguments = ["--session-dir", folder, "--drain-seconds", "0"]
        with Server(arguments, options.tiny) as server:
            talk = Conversation("cut")
            require(talk.turn(server, [8])[0] == 200, "the first turn was refused")
            streams, began = running_streams(server, 8000, "cut")
            read_all(streams)
            for stream in streams:
                require(stream.done() and b'"stopping"' in stream.events[-2], f"a stream ended with {stream.events[-2:]}")
            took = ending(server, began)
        require(server.code == 0 and took < 3000, f"exit code {server.code} after {took} ms")
        with Server(arguments, options.tiny) as server:
            again = talk.check_on(server, further=[[9]])  # the turn that was cut never was
            require(talk.turn(server, [9])[0] == 200 and talk.turns[-1].answer == again.turns[-1].answer,
                    "the session is not at its last finished turn")
    return took


def second_signal(options):
    with Server(["--drain-seconds", "60"], options.tiny) as server:
        streams, began = running_streams(server, 8000)
        time.sleep(0.2)
        server.process.send_signal(signal.SIGTERM)
        took = ending(server, began)
        for stream in streams:
            stream.socket.close()
    require(server.code == 130 and took < 1200, f"exit code {server.code} after {took} ms")
    return took
