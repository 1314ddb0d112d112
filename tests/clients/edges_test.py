"""The edges of the served program, from outside: slow and large requests, TLS, origins, keys, several models.

usage: python tests/clients/edges_test.py
"""

import pathlib
import socket
import ssl
import subprocess
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

from server import Server, make_tiny_model

HEAD = b"POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
BODY = b'{"prompt": "a", "max_tokens": 1}'


class EdgeCase(unittest.TestCase):
    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.tiny = make_tiny_model(cls.folder.name)
        cls.server = Server(cls.make_arguments(), cls.tiny, cls.make_tls()).__enter__()

    @classmethod
    def make_arguments(cls):
        return cls.arguments

    @classmethod
    def make_tls(cls):
        return None

    @classmethod
    def tearDownClass(cls):
        cls.server.__exit__()
        cls.folder.cleanup()
        if cls.server.code != 0:
            raise AssertionError(f"the server ended with {cls.server.code}: {cls.server.errors}")

    def dial(self):
        connection = socket.create_connection((self.server.address.hostname, self.server.address.port))
        connection.settimeout(10)
        self.addCleanup(connection.close)
        return connection

    def code_of(self, reply):
        return reply[1]["error"]["code"]

    def assert_alive(self):
        self.assertEqual(self.server.complete("a", 1)[0], 200)


def read_to_end(connection):
    received = b""
    while part := connection.recv(65536):
        received += part
    return received


class SlowRequests(EdgeCase):
    arguments = ["--header-timeout", "1", "--idle-timeout", "2", "--max-connections", "64"]

    def test_headers_that_drip_are_cut(self):
        began = time.monotonic()
        slow = [self.dial() for _ in range(40)]
        for connection in slow:
            connection.sendall(b"POST /v1/completions HT")
        for _ in range(8):  # each piece comes well before the limit, the whole doesn't
            time.sleep(0.2)
            self.assert_alive()
            for connection in slow:
                try:
                    connection.sendall(b"T")
                except OSError:
                    pass
        for connection in slow:
            try:
                received = read_to_end(connection)
            except ConnectionResetError:
                continue
            self.assertTrue(not received or b" 408 " in received, received)
        self.assertLess(time.monotonic() - began, 6)
        self.assert_alive()

    def test_the_reply_says_why(self):
        connection = self.dial()
        connection.sendall(HEAD)
        received = read_to_end(connection)
        self.assertTrue(received.startswith(b"HTTP/1.1 408 "), received)
        self.assertIn(b"request_timeout", received)

    def test_silent_connections_are_closed(self):
        connection = self.dial()
        began = time.monotonic()
        self.assertEqual(read_to_end(connection), b"")
        self.assertGreater(time.monotonic() - began, 1.5)

    def test_silent_connections_keep_nobody_out(self):
        held = [self.dial() for _ in range(64)]
        newcomers = [self.dial() for _ in range(8)]
        began = time.monotonic()
        for newcomer in newcomers:
            newcomer.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        for newcomer in newcomers:
            self.assertIn(b" 200 ", read_to_end(newcomer))
        self.assertLess(time.monotonic() - began, 1.5, "they waited for the silent ones' timeout")
        held[-1].sendall(b"GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        self.assertIn(b" 200 ", read_to_end(held[-1]), "the one that was silent the shortest was closed")


class LargeRequests(EdgeCase):
    arguments = ["--body-limit", "64KiB"]

    def answer(self, request):
        connection = self.dial()
        try:
            connection.sendall(request)
        except (BrokenPipeError, ConnectionResetError):
            pass
        return read_to_end(connection)

    def test_a_body_at_the_limit_is_read(self):
        body = BODY + b" " * (64 * 1024 - len(BODY))
        head = HEAD + b"Connection: close\r\nContent-Length: %d\r\n\r\n"
        self.assertIn(b" 200 ", self.answer(head % len(body) + body))
        self.assertIn(b" 413 ", self.answer(head % (len(body) + 1) + body + b" "))

    def test_an_announced_length_is_refused_before_it_comes(self):
        received = self.answer(HEAD + b"Content-Length: 99999999999\r\n\r\n")
        self.assertTrue(received.startswith(b"HTTP/1.1 413 "), received)
        self.assertIn(b"body_too_large", received)

    def test_a_chunked_body_has_the_same_limit(self):
        chunk = b"8000\r\n" + b" " * 0x8000 + b"\r\n"
        received = self.answer(HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + chunk * 4 + b"0\r\n\r\n")
        self.assertTrue(received.startswith(b"HTTP/1.1 413 "), received[:200])

    def test_headers_have_a_limit(self):
        for name in (b"A" * 40_000 + b": b\r\n", b"A: " + b"b" * 40_000 + b"\r\n", b"A: b\r\n" * 8_000):
            received = self.answer(b"GET /health HTTP/1.1\r\n" + name + b"\r\n")
            self.assertTrue(received.startswith(b"HTTP/1.1 431 "), received[:200])
            self.assertIn(b"headers_too_large", received)

    def test_a_long_target(self):
        received = self.answer(b"GET /" + b"a" * 40_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertRegex(received[:20], rb"HTTP/1.1 4\d\d ")

    def test_no_http(self):
        for noise in (b"\0" * 100, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 200, b"\r\n\r\n\r\n\r\nhello\r\n\r\n"):
            received = self.answer(noise)
            self.assertTrue(not received or received.startswith(b"HTTP/1.1 400 "), received)
        self.assert_alive()

    def test_requests_in_pieces_and_in_a_row(self):
        request = HEAD + b"Content-Length: %d\r\n\r\n" % len(BODY) + BODY
        last = request.replace(b"Host: a\r\n", b"Host: a\r\nConnection: close\r\n")
        connection = self.dial()
        for byte in request:
            connection.sendall(bytes([byte]))
        connection.sendall(request + request + last)
        self.assertEqual(read_to_end(connection).count(b"HTTP/1.1 200 "), 4)


class Tls(EdgeCase):
    @classmethod
    def make_arguments(cls):
        cls.certificate, key = cls.path / "cert.pem", cls.path / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cls.certificate],
                       check=True, capture_output=True)
        return ["--tls-cert", cls.certificate, "--tls-key", key, "--header-timeout", "1"]

    @classmethod
    def make_tls(cls):
        return ssl.create_default_context(cafile=cls.certificate)

    def test_answers(self):
        self.assertTrue(self.server.url.startswith("https://"))
        self.assertEqual(self.server.complete("a", 3)[0], 200)

    def test_streams(self):
        connection = self.server.connect()
        connection.request("POST", "/v1/completions", '{"prompt": "a", "max_tokens": 50, "stream": true, "ignore_eos": true}',
                           {"Content-Type": "application/json"})
        lines = connection.getresponse().read().split(b"\n\n")
        self.assertEqual(lines[-2], b"data: [DONE]")
        self.assertGreater(len(lines), 40)
        connection.close()

    def test_a_client_that_leaves_frees_its_row(self):
        connection = self.server.connect()
        connection.request("POST", "/v1/completions", '{"prompt": "a", "max_tokens": 8000, "stream": true, "ignore_eos": true}',
                           {"Content-Type": "application/json"})
        connection.getresponse().read1(10)
        connection.sock.close()
        connection.close()
        self.assertTrue(self.server.is_idle(2))

    def test_plain_http_is_not_answered(self):
        connection = self.dial()
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n")
        self.assertNotIn(b"200", read_to_end(connection))

    def test_a_handshake_that_never_ends_is_cut(self):
        connection = self.dial()
        connection.sendall(b"\x16\x03\x01")
        began = time.monotonic()
        read_to_end(connection)
        self.assertLess(time.monotonic() - began, 4)

    def test_old_versions_are_refused(self):
        old = ssl.create_default_context(cafile=self.certificate)
        old.minimum_version = ssl.TLSVersion.TLSv1
        old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("ALL:@SECLEVEL=0")
        with self.assertRaises((ssl.SSLError, ConnectionResetError)):
            old.wrap_socket(self.dial(), server_hostname="127.0.0.1")


class OriginsOfPages(EdgeCase):
    arguments = ["--cors-allow-origin", "https://app.example", "--cors-allow-origin", "http://localhost:3000"]

    def headers(self, method, path, headers):
        connection = self.server.connect()
        connection.request(method, path, None, headers)
        response = connection.getresponse()
        response.read()
        connection.close()
        return response.status, {name.lower(): value for name, value in response.getheaders()}

    def test_a_preflight(self):
        status, headers = self.headers("OPTIONS", "/v1/chat/completions", {
            "Origin": "https://app.example", "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, content-type"})
        self.assertEqual(status, 204)
        self.assertEqual(headers["access-control-allow-origin"], "https://app.example")
        self.assertIn("POST", headers["access-control-allow-methods"])
        self.assertIn("authorization", headers["access-control-allow-headers"])

    def test_answers_and_errors_carry_it(self):
        for path, status in (("/v1/models", 200), ("/v1/nothing", 404)):
            got, headers = self.headers("GET", path, {"Origin": "http://localhost:3000"})
            self.assertEqual((got, headers["access-control-allow-origin"]), (status, "http://localhost:3000"))

    def test_other_origins_get_nothing(self):
        for origin in ("https://evil.example", "https://app.example.evil.example", "null", "http://app.example"):
            _, headers = self.headers("GET", "/v1/models", {"Origin": origin})
            self.assertNotIn("access-control-allow-origin", headers)
            status, _ = self.headers("OPTIONS", "/v1/models", {"Origin": origin, "Access-Control-Request-Method": "GET"})
            self.assertEqual(status, 403)


class Keys(EdgeCase):
    @classmethod
    def make_arguments(cls):
        (cls.path / "keys").write_text("# of the test\nfirst-key\n\nsecond-key\n")
        return ["--api-key-file", cls.path / "keys"]

    def send(self, method, path, key=None, body=None, **headers):
        if key:
            headers["Authorization"] = f"Bearer {key}"
        return self.server.request(method, path, body, headers)

    def turn(self, key, session):
        return self.send("POST", "/v1/completions", key, {"prompt": "a", "max_tokens": 1}, **{"X-Session-Id": session})

    def test_who_may(self):
        self.assertEqual(self.send("GET", "/v1/models", "first-key")[0], 200)
        self.assertEqual(self.send("GET", "/v1/models", "second-key")[0], 200)
        self.assertEqual(self.send("GET", "/v1/models", **{"X-Api-Key": "first-key"})[0], 200)
        for key in (None, "first-ke", "first-key2", "# of the test", "FIRST-KEY"):
            for path in ("/v1/models", "/v1/status", "/metrics", "/v1/sessions/any"):
                status, body = self.send("GET", path, key)
                self.assertEqual((status, body["error"]["type"]), (401, "authentication_error"), (key, path))
        self.assertEqual(self.send("GET", "/health")[0], 200)

    def test_a_session_is_its_keys(self):
        self.assertEqual(self.turn("first-key", "mine")[0], 200)
        self.assertEqual(self.send("GET", "/v1/sessions/mine", "first-key")[0], 200)
        for method, path, body in (("GET", "", None), ("DELETE", "", None), ("POST", "/fork", {}),
                                   ("POST", "/rewind", {"position": 0})):
            reply = self.send(method, f"/v1/sessions/mine{path}", "second-key", body)
            never = self.send(method, f"/v1/sessions/none{path}", "second-key", body)
            self.assertEqual((reply[0], self.code_of(reply)), (404, "session_not_found"), path)
            self.assertEqual(reply[1]["error"]["message"].replace("mine", "none"), never[1]["error"]["message"])
        self.assertEqual(self.turn("second-key", "mine")[0], 404)
        self.assertEqual(self.send("GET", "/v1/sessions/mine", "first-key")[1]["turns"], 1)


class SeveralModels(EdgeCase):
    @classmethod
    def make_arguments(cls):
        folders = [arg for name in ("second", "third") for arg in ("--model", f"{name}={cls.tiny}")]
        return [*folders, "--model", f"broken={cls.path}", "--max-loaded-models", "2"]

    def states(self):
        return {model["id"]: model["state"] for model in self.server.status()["models"]}

    def ask(self, model, **headers):
        return self.server.post("/v1/completions", {"model": model, "prompt": "a", "max_tokens": 2}, headers)

    def test_all_are_offered(self):
        offered = [model["id"] for model in self.server.get("/v1/models")[1]["data"]]
        self.assertEqual(offered, ["tiny", "second", "third", "broken"])

    def test_first_requests_share_one_load(self):
        files = lambda: self.server.memory()[1]
        with ThreadPoolExecutor(32) as pool:
            before = files()
            replies = list(pool.map(lambda _: self.ask("second"), range(32)))
        self.assertEqual({reply[0] for reply in replies}, {200})
        self.assertEqual(len({reply[1]["choices"][0]["text"] for reply in replies}), 1)
        self.assertLessEqual(files() - before, 1 + 2, "more than one engine was started")

    def test_the_least_recently_used_one_makes_room(self):
        for name in ("second", "third", "tiny", "second", "third"):
            self.assertEqual(self.ask(name)[0], 200)
            loaded = [model for model, state in self.states().items() if state != "unloaded"]
            self.assertLessEqual(len(loaded), 2)
            self.assertIn(name, loaded)

    def test_a_model_with_sessions_stays(self):
        self.assertEqual(self.ask("third", **{"X-Session-Id": "a"})[0], 200)
        self.assertEqual(self.ask("second", **{"X-Session-Id": "b"})[0], 200)
        reply = self.ask("tiny")
        self.assertEqual((reply[0], self.code_of(reply)), (503, "models_busy"))
        for session in ("a", "b"):
            self.assertEqual(self.server.request("DELETE", f"/v1/sessions/{session}")[0], 204)
        self.assertEqual(self.ask("tiny")[0], 200)

    def test_one_that_cannot_be_loaded_hurts_nobody(self):
        for _ in range(2):
            status, body = self.ask("broken")
            self.assertGreaterEqual(status, 400)
            self.assertNotIn(str(self.path), str(body), "a path of the host reached a client")
            self.assertEqual(self.ask("tiny")[0], 200)

    def test_an_unknown_one(self):
        reply = self.ask("../tiny")
        self.assertEqual((reply[0], self.code_of(reply)), (404, "model_not_found"))


class Refusals(unittest.TestCase):
    def refused(self, *arguments):
        from server import MODEL, program
        done = subprocess.run([program(), "serve", MODEL, "--port", "0", *map(str, arguments)], capture_output=True,
                              text=True, timeout=20)
        self.assertNotEqual(done.returncode, 0)
        return done.stderr

    def test_other_machines_need_a_key(self):
        self.assertIn("--api-key-file", self.refused("--host", "0.0.0.0"))

    def test_half_of_tls(self):
        self.assertIn("--tls-key", self.refused("--tls-cert", __file__))

    def test_a_certificate_that_is_none(self):
        self.assertIn("certificate", self.refused("--tls-cert", __file__, "--tls-key", __file__))

    def test_a_folder_that_cannot_be_written(self):
        self.assertIn("--session-dir", self.refused("--session-dir", "/proc/none"))

    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            self.assertIn("--port", self.refused("--port", taken.getsockname()[1]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
