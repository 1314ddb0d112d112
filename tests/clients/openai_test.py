"""The official `openai` client against our server, used as its users do. Needs: the openai package (./dev setup).

usage: python tests/clients/openai_test.py
"""

import asyncio
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import openai  # noqa: E402
from server import DEMO, MODEL, Server  # noqa: E402

NAME = MODEL.name
HELLO = [{"role": "user", "content": "hello"}]


class ClientCase(unittest.TestCase):
    arguments = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server(cls.arguments)
        cls.server.__enter__()
        cls.client = openai.OpenAI(base_url=cls.server.url + "/v1", api_key="unused", max_retries=0)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.server.__exit__()
        if cls.server.code != 0:
            raise AssertionError(f"the server ended with {cls.server.code}: {cls.server.errors}")

    def chat(self, **more):
        options = {"model": NAME, "messages": HELLO, "max_tokens": 8, "temperature": 0, **more}
        return self.client.chat.completions.create(**options)

    def complete(self, **more):
        options = {"model": NAME, "prompt": "the dog", "max_tokens": 8, "temperature": 0, **more}
        return self.client.completions.create(**options)


class Chat(ClientCase):
    def test_answers(self):
        answer = self.chat()
        self.assertEqual(answer.object, "chat.completion")
        self.assertEqual(answer.choices[0].message.role, "assistant")
        self.assertIn(answer.choices[0].finish_reason, ("stop", "length"))
        self.assertEqual(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens)
        self.assertEqual(answer.model, NAME)

    def test_greedy_answers_repeat(self):
        self.assertEqual(self.chat().choices[0].message.content, self.chat().choices[0].message.content)

    def test_a_seed_repeats(self):
        first, second = (self.chat(temperature=1.5, seed=5).choices[0].message.content for _ in range(2))
        self.assertEqual(first, second)

    def test_seeds_differ(self):
        texts = {self.chat(temperature=2, seed=seed, max_tokens=16).choices[0].message.content for seed in range(4)}
        self.assertGreater(len(texts), 1)

    def test_max_completion_tokens_wins(self):
        answer = self.chat(max_completion_tokens=3, extra_body={"ignore_eos": True})
        self.assertEqual(answer.usage.completion_tokens, 3)
        self.assertEqual(answer.choices[0].finish_reason, "length")

    def test_streams(self):
        whole = self.chat().choices[0].message.content
        chunks = list(self.chat(stream=True))
        self.assertEqual(chunks[0].choices[0].delta.role, "assistant")
        self.assertEqual("".join(c.choices[0].delta.content or "" for c in chunks), whole)
        self.assertEqual([c.choices[0].finish_reason for c in chunks if c.choices[0].finish_reason],
                         [self.chat().choices[0].finish_reason])
        self.assertEqual(len({c.id for c in chunks}), 1)

    def test_streams_with_usage(self):
        chunks = list(self.chat(stream=True, stream_options={"include_usage": True}))
        self.assertEqual(chunks[-1].choices, [])
        self.assertGreater(chunks[-1].usage.completion_tokens, 0)
        self.assertTrue(all(c.usage is None for c in chunks[:-1]))

    def test_a_stream_can_be_left(self):
        stream = self.chat(stream=True, max_tokens=100, extra_body={"ignore_eos": True})
        next(iter(stream))
        stream.close()
        self.assertTrue(self.server.is_idle())

    def test_several_answers(self):
        answer = self.chat(n=3, temperature=1.5, seed=1)
        self.assertEqual([c.index for c in answer.choices], [0, 1, 2])

    def test_several_answers_stream(self):
        indexes = {c.choices[0].index for c in self.chat(n=3, stream=True)}
        self.assertEqual(indexes, {0, 1, 2})

    def test_logprobs(self):
        answer = self.chat(logprobs=True, top_logprobs=4)
        entries = answer.choices[0].logprobs.content
        self.assertEqual(len(entries), answer.usage.completion_tokens)
        for entry in entries:
            self.assertLessEqual(entry.logprob, 0)
            self.assertEqual(len(entry.top_logprobs), 4)
            self.assertEqual(entry.top_logprobs[0].logprob, max(t.logprob for t in entry.top_logprobs))

    def test_logprobs_stream(self):
        whole = self.chat(logprobs=True).choices[0].logprobs.content
        parts = [e for c in self.chat(logprobs=True, stream=True) if c.choices[0].logprobs
                 for e in c.choices[0].logprobs.content]
        self.assertEqual([e.token for e in parts], [e.token for e in whole])

    def test_a_stop_text(self):
        text = self.chat(max_tokens=30, extra_body={"ignore_eos": True}).choices[0].message.content
        stop = text[len(text) // 2:][:3]
        answer = self.chat(max_tokens=30, stop=[stop], extra_body={"ignore_eos": True})
        self.assertEqual(answer.choices[0].finish_reason, "stop")
        self.assertEqual(answer.choices[0].message.content, text[:text.index(stop)])

    def test_logit_bias(self):
        answer = self.chat(logit_bias={"70": 100}, max_tokens=4)
        self.assertEqual(len(set(answer.choices[0].message.content)), 1)

    def test_penalties(self):
        self.assertTrue(self.chat(frequency_penalty=1.5, presence_penalty=0.5, top_p=0.9).choices)

    def test_further_samplers(self):
        extra = {"top_k": 20, "min_p": 0.05, "typical_p": 0.9, "repetition_penalty": 1.1, "dry_multiplier": 0.5}
        self.assertTrue(self.chat(temperature=1, extra_body=extra).choices)

    def test_content_parts(self):
        parts = [{"role": "user", "content": [{"type": "text", "text": "hel"}, {"type": "text", "text": "lo"}]}]
        self.assertEqual(self.chat(messages=parts).choices[0].message.content, self.chat().choices[0].message.content)

    def test_history(self):
        messages = [*HELLO, {"role": "assistant", "content": "hi"}, {"role": "user", "content": "and"}]
        self.assertGreater(self.chat(messages=messages).usage.prompt_tokens, self.chat().usage.prompt_tokens)

    def test_a_repeated_prompt_is_cached(self):
        long = [{"role": "user", "content": "the quick brown fox jumps over the lazy dog in the sun"}]
        self.chat(messages=long)
        self.assertGreater(self.chat(messages=long).usage.prompt_tokens_details.cached_tokens, 0)

    def test_async_together(self):
        async def run():
            async with openai.AsyncOpenAI(base_url=self.server.url + "/v1", api_key="x", max_retries=0) as client:
                one = lambda: client.chat.completions.create(model=NAME, messages=HELLO, max_tokens=8, temperature=0)
                return await asyncio.gather(*(one() for _ in range(8)))
        self.assertEqual(len({a.choices[0].message.content for a in asyncio.run(run())}), 1)

    def test_async_streams(self):
        async def run():
            async with openai.AsyncOpenAI(base_url=self.server.url + "/v1", api_key="x") as client:
                stream = await client.chat.completions.create(model=NAME, messages=HELLO, stream=True, max_tokens=5)
                return [chunk async for chunk in stream]
        self.assertTrue(asyncio.run(run()))

    def test_raw_response(self):
        raw = self.client.chat.completions.with_raw_response.create(model=NAME, messages=HELLO, max_tokens=2)
        self.assertEqual(raw.headers["content-type"], "application/json")
        self.assertEqual(raw.parse().object, "chat.completion")


class LongAnswers(unittest.TestCase):
    """On the demo's model: the fixture's answers are over before anyone can interrupt them."""

    def test_async_with_cancellation(self):
        with Server(model=DEMO) as server:
            async def run():
                async with openai.AsyncOpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0) as client:
                    task = asyncio.create_task(client.chat.completions.create(
                        model=DEMO.name, messages=HELLO, max_tokens=4000, extra_body={"ignore_eos": True}))
                    while server.status()["models"][0]["rows_running"] == 0:
                        await asyncio.sleep(0.01)
                    task.cancel()
                    with self.assertRaises(asyncio.CancelledError):
                        await task
            asyncio.run(run())
            self.assertTrue(server.is_idle(2))

    def test_a_stream_left_early(self):
        with Server(model=DEMO) as server:
            client = openai.OpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0)
            options = {"model": DEMO.name, "messages": HELLO, "max_tokens": 4000, "extra_body": {"ignore_eos": True}}
            headers = {"X-Session-Id": "left"}
            with client.chat.completions.create(stream=True, extra_headers=headers, **options) as stream:
                next(iter(stream))
                with self.assertRaises(openai.ConflictError) as caught:
                    client.chat.completions.create(extra_headers=headers, **options)
                self.assertEqual(caught.exception.code, "session_busy")
            self.assertTrue(server.is_idle(2))
            self.assertEqual(server.get("/v1/sessions/left")[1]["turns"], 0)


class Sessions(ClientCase):
    def test_a_conversation_lives_on_the_server(self):
        headers = {"X-Session-Id": "talk"}
        first = self.chat(extra_headers=headers)
        second = self.chat(messages=[{"role": "user", "content": "more"}], extra_headers=headers)
        self.assertEqual(second.session_id, "talk")
        self.assertGreater(second.usage.prompt_tokens, first.usage.total_tokens)
        self.assertGreater(second.usage.prompt_tokens_details.cached_tokens, 0)

    def test_a_busy_session_is_a_conflict(self):
        headers = {"X-Session-Id": "busy"}
        stream = self.chat(stream=True, max_tokens=100, extra_headers=headers, extra_body={"ignore_eos": True}, n=1)
        try:
            self.chat(extra_headers=headers)
        except openai.ConflictError as error:
            self.assertEqual(error.code, "session_busy")
            self.assertEqual(error.type, "conflict_error")
        stream.close()
        self.assertTrue(self.server.is_idle())

    def test_next_turns_never_conflict(self):
        headers = {"X-Session-Id": "next"}
        again = {"max_tokens": 1, "messages": [{"role": "user", "content": "a"}], "extra_headers": headers}
        for turn in range(30):
            if turn % 5 == 0 and turn:  # before the fixture's context is full
                self.server.request("DELETE", "/v1/sessions/next")
            list(self.chat(stream=True, **again)) if turn % 2 else self.chat(**again)


class Completions(ClientCase):
    def test_answers(self):
        answer = self.complete()
        self.assertEqual(answer.object, "text_completion")
        self.assertGreater(answer.usage.completion_tokens, 0)

    def test_token_prompts(self):
        self.assertEqual(self.complete(prompt=[5, 6, 7]).usage.prompt_tokens, 3)

    def test_many_prompts(self):
        prompts = ["the " * i + "dog" for i in range(20)]
        answer = self.complete(prompt=prompts)
        self.assertEqual([c.index for c in answer.choices], list(range(20)))
        self.assertEqual(answer.choices[7].text, self.complete(prompt=prompts[7]).choices[0].text)

    def test_streams(self):
        whole = self.complete().choices[0].text
        self.assertEqual("".join(c.choices[0].text for c in self.complete(stream=True)), whole)

    def test_echo(self):
        self.assertTrue(self.complete(echo=True).choices[0].text.startswith("the dog"))

    def test_logprobs(self):
        answer = self.complete(logprobs=3, echo=True)
        logprobs = answer.choices[0].logprobs
        self.assertEqual("".join(logprobs.tokens), answer.choices[0].text)
        self.assertIsNone(logprobs.token_logprobs[0])
        self.assertEqual(len(logprobs.top_logprobs[-1]), 3)


class Errors(ClientCase):
    def test_bad_values(self):
        for field, value in (("temperature", -1), ("n", 0), ("top_p", 2), ("max_tokens", 0)):
            with self.subTest(field), self.assertRaises(openai.BadRequestError) as caught:
                self.chat(**{field: value})
            self.assertEqual(caught.exception.param, field)

    def test_an_unknown_model(self):
        with self.assertRaises(openai.NotFoundError) as caught:
            self.chat(model="gpt-4")
        self.assertEqual(caught.exception.code, "model_not_found")

    def test_too_long(self):
        for stream in (False, True):
            with self.assertRaises(openai.BadRequestError) as caught:
                self.complete(prompt=[5] * 500, stream=stream)
            self.assertEqual(caught.exception.code, "context_length_exceeded")
            self.assertEqual(caught.exception.body["n_prompt_tokens"], 500)

    def test_tools_are_refused_by_name(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.chat(tools=[{"type": "function", "function": {"name": "f", "parameters": {}}}])
        self.assertEqual(caught.exception.param, "tools")

    def test_response_format_is_refused_by_name(self):
        with self.assertRaises(openai.BadRequestError) as caught:
            self.chat(response_format={"type": "json_object"})
        self.assertEqual(caught.exception.param, "response_format")

    def test_no_embeddings(self):
        with self.assertRaises(openai.BadRequestError):
            self.client.embeddings.create(model=NAME, input="a")

    def test_models(self):
        self.assertEqual([m.id for m in self.client.models.list()], [NAME])
        self.assertEqual(self.client.models.retrieve(NAME).id, NAME)
        with self.assertRaises(openai.NotFoundError):
            self.client.models.retrieve("other")


class Keys(unittest.TestCase):
    def test_keys(self):
        import tempfile
        with tempfile.NamedTemporaryFile("w") as file:
            file.write("secret\n")
            file.flush()
            with Server(["--api-key-file", file.name]) as server:
                good = openai.OpenAI(base_url=server.url + "/v1", api_key="secret", max_retries=0)
                bad = openai.OpenAI(base_url=server.url + "/v1", api_key="guess", max_retries=0)
                self.assertEqual([m.id for m in good.models.list()], [NAME])
                with self.assertRaises(openai.AuthenticationError):
                    bad.models.list()

    def test_overload(self):
        with Server(["--rows", "1", "--max-queue", "0"]) as server:
            client = openai.OpenAI(base_url=server.url + "/v1", api_key="x", max_retries=0)
            retrying = openai.OpenAI(base_url=server.url + "/v1", api_key="x", max_retries=5)
            options = {"model": NAME, "messages": HELLO, "max_tokens": 100, "extra_body": {"ignore_eos": True}}
            for _ in range(20):
                with client.chat.completions.create(stream=True, **options) as stream:
                    next(iter(stream))
                    try:
                        client.chat.completions.create(**options)
                    except openai.RateLimitError as error:
                        self.assertEqual(error.response.headers["retry-after"], "1")
                        break
            else:
                self.fail("the second request was never refused")
            self.assertTrue(retrying.chat.completions.create(**options).choices)


if __name__ == "__main__":
    unittest.main(verbosity=2)
