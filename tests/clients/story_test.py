"""What a new user does: start the server, ask it with curl and with the Python client, talk from two terminals, stop it
while an answer streams, start it again and go on. On the demo's model.

usage: python tests/clients/story_test.py
"""

import json
import signal
import subprocess
import tempfile
import unittest

import openai
from server import DEMO, Server

QUESTION = "My name is Ada. What is a lake?"


def curl(url, *arguments):
    done = subprocess.run(["curl", "-sS", "-w", "\n%{http_code}", url, *arguments], capture_output=True, text=True, check=True)
    body, status = done.stdout.rsplit("\n", 1)
    return int(status), json.loads(body)


def chat_with_curl(server, text, *arguments, **more):
    body = json.dumps({"messages": [{"role": "user", "content": text}], "max_tokens": 24, "temperature": 0, **more})
    return curl(f"{server.url}/v1/chat/completions", "-H", "Content-Type: application/json", "-d", body, *arguments)


class Story(unittest.TestCase):
    def test_it(self):
        with tempfile.TemporaryDirectory() as folder:
            arguments = ["--session-dir", folder]
            with Server(arguments, DEMO) as server:
                self.ask(server)
                told = self.talk_from_two_terminals(server)
                self.stop_while_it_answers(server)
            self.assertEqual((server.code, server.errors), (0, "stopped\n"))
            with Server(arguments, DEMO) as server:
                self.go_on(server, told)
            self.assertEqual(server.code, 0)

    def ask(self, server):
        status, body = chat_with_curl(server, "Why is the sky blue?")
        self.assertEqual(status, 200)
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="none")
        same = client.chat.completions.create(model=client.models.list().data[0].id, max_tokens=24, temperature=0,
                                              messages=[{"role": "user", "content": "Why is the sky blue?"}])
        self.assertEqual(body["choices"][0]["message"]["content"], same.choices[0].message.content)
        self.assertIn("sky", same.choices[0].message.content.lower())

    def talk_from_two_terminals(self, server):
        terminal = ["-H", "X-Session-Id: ada"]
        client = openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0)
        stream = client.chat.completions.create(
            model=DEMO.name, messages=[{"role": "user", "content": QUESTION}], stream=True, max_tokens=60, temperature=0,
            extra_headers={"X-Session-Id": "ada"}, extra_body={"ignore_eos": True})
        next(iter(stream))
        status, body = chat_with_curl(server, "Are you there?", *terminal)
        self.assertEqual((status, body["error"]["type"], body["error"]["code"]), (409, "conflict_error", "session_busy"))
        self.assertIn("ada", body["error"]["message"])
        self.assertRegex(body["error"]["message"], "wait|again|end")
        told = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
        self.assertGreater(len(told), 20)
        self.assertEqual(curl(f"{server.url}/v1/sessions/ada")[1]["turns"], 1)
        return told

    def stop_while_it_answers(self, server):
        reader = subprocess.Popen(
            ["curl", "-sSN", f"{server.url}/v1/chat/completions", "-H", "Content-Type: application/json", "-H",
             "X-Session-Id: ada", "-d", json.dumps({"messages": [{"role": "user", "content": "Tell me a long story."}],
                                                    "stream": True, "max_tokens": 40, "ignore_eos": True})],
            stdout=subprocess.PIPE, text=True)
        for _ in range(6):
            reader.stdout.readline()
        server.process.send_signal(signal.SIGINT)
        rest = reader.stdout.read()
        self.assertTrue(rest.endswith("data: [DONE]\n\n"), rest[-200:])
        self.assertNotIn('"error"', rest, "an answer that fits into the drain was cut")
        self.assertEqual((reader.wait(10), server.process.wait(10)), (0, 0))
        reader.stdout.close()

    def go_on(self, server, told):
        status, session = curl(f"{server.url}/v1/sessions/ada")
        self.assertEqual((status, session["turns"]), (200, 2))
        status, body = chat_with_curl(server, "What is my name?", "-H", "X-Session-Id: ada")
        self.assertEqual(status, 200)
        usage = body["usage"]
        self.assertGreater(usage["prompt_tokens_details"]["cached_tokens"], usage["prompt_tokens"] - 40,
                           "what it knew before the restart was computed again")
        whole = [{"role": "user", "content": QUESTION}, {"role": "assistant", "content": told + "?"}]
        body = json.dumps({"messages": whole})
        status, refused = curl(f"{server.url}/v1/chat/completions", "-H", "Content-Type: application/json", "-H",
                               "X-Session-Id: ada", "-d", body)
        self.assertEqual((status, refused["error"]["code"]), (409, "session_history_mismatch"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
