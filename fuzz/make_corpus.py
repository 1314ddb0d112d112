"""Seeds of the fuzz targets, from the golden files and from the tables below. Run: python fuzz/make_corpus.py"""

import json
import pathlib
import struct

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent / "tests" / "golden" / "onnx"
TOKENIZERS = HERE.parent / "tests" / "golden" / "text" / "tokenizer_cases.json"

DIMS = ["?", "0", "64*T + 1", "-T*T + 2*B*T - 3", "'batch-size'*2", "(a + b)*(a - b)", "'it''s'", "9223372036854775807",
        "((((x))))", "a*", "'"]
GRAPHS = [
    "(f32[B, S, 64] x, i64[2] shape = {1, -1}) => (f32[B, S, 64] y) {\n  s = Sigmoid(x)\n  y = Mul(x, s) as \"n\"\n}\n",
    "opset \"\" 17, \"com.microsoft\" 1\nname \"g\" metadata \"k\" \"v\"\n(x) => (z) { z, , w = com.microsoft.Foo@3<axis = -1,"
    " f = 1.5, l = [1.0, 2.0], e = floats[], s = [\"a\", \"\\x00\"], t = f16[2] {1, nan}>(x, , x) }",
    "(bool[] c, f32[N] x) => (r) { r = If<then_branch = () => (x) {}, else_branch = (^q = x) => (t) { t = Neg(q) }>(c) }",
    "(i4[3] w = {-8...}, c64[1] z = {1...}, none[?] u) => (\"w\") {} // comment",
    "(x) => (y) { y = Relu(q) }",
]


def write(target, name, data):
    folder = HERE / "corpus" / target
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)


def gguf_string(text):
    return struct.pack("<Q", len(text)) + text.encode()


def gguf_value(key, kind, payload):
    return gguf_string(key) + struct.pack("<I", kind) + payload


def gguf_strings(key, texts):
    return gguf_value(key, 9, struct.pack("<IQ", 8, len(texts)) + b"".join(map(gguf_string, texts)))


def gguf(tensors, values):
    """A GGUF 3 file: `tensors` are (name, dims, type, bytes); data aligned to 32."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values)) + b"".join(values)
    data = b""
    for name, dims, kind, payload in tensors:
        head += gguf_string(name) + struct.pack(f"<I{len(dims)}QIQ", len(dims), *dims, kind, len(data))
        data += payload + b"\0" * (-len(payload) % 32)
    return head + b"\0" * (-len(head) % 32) + data


def gguf_seeds():
    numbers = {"block_count": 1, "context_length": 64, "embedding_length": 32, "feed_forward_length": 64,
               "attention.head_count": 2, "attention.head_count_kv": 1}
    llama = [gguf_value("general.architecture", 8, gguf_string("llama"))]
    llama += [gguf_value("llama." + key, 4, struct.pack("<I", value)) for key, value in numbers.items()]
    llama.append(gguf_value("llama.attention.layer_norm_rms_epsilon", 6, struct.pack("<f", 1e-5)))
    scalars = [gguf_value(f"scalar.{kind}", kind, struct.pack("<" + code, 1)) for kind, code in enumerate("BbHhIif")]
    scalars += [gguf_value("flag", 7, b"\1"), gguf_value("wide", 12, struct.pack("<d", 0.5))]
    tokens = [gguf_value("tokenizer.ggml.model", 8, gguf_string("gpt2")), gguf_value("tokenizer.ggml.pre", 8, gguf_string("smollm")),
              gguf_strings("tokenizer.ggml.tokens", ["<s>", "</s>", "a", "b", "ab"]), gguf_strings("tokenizer.ggml.merges", ["a b"]),
              gguf_value("tokenizer.ggml.token_type", 9, struct.pack("<IQ5i", 5, 5, 3, 3, 1, 1, 1)),
              gguf_value("tokenizer.ggml.eos_token_id", 4, struct.pack("<I", 1))]
    blocks = [("f32", 0, 4 * 32), ("f16", 1, 2 * 32), ("q4_0", 2, 18), ("q4_1", 3, 20), ("q5_0", 6, 22), ("q5_1", 7, 24), ("q8_0", 8, 34)]
    supers = [("q2_k", 10, 84), ("q3_k", 11, 110), ("q4_k", 12, 144), ("q5_k", 13, 176), ("q6_k", 14, 210)]
    tensors = [(name, [32, 1], kind, bytes(range(size))) for name, kind, size in blocks]
    tensors += [(name, [256], kind, bytes(range(size))) for name, kind, size in supers]
    return {"llama": gguf(tensors[:1], llama + tokens), "scalars": gguf([], scalars), "blocks": gguf(tensors, [])}


def tokenizer_seeds():
    golden = json.loads(TOKENIZERS.read_text())
    for case in golden["cases"]:
        tokenizer = dict(case["tokenizer"])
        if "model" in case:
            tokenizer["model"] = golden["models"][case["model"]]
        data = json.dumps(tokenizer, separators=(",", ":")).encode()
        if len(data) < 4000:
            yield case["name"], data + b"\0" + "Hello wörld <s> 12\n".encode()


def main():
    for name, data in gguf_seeds().items():
        write("convert_gguf", name, data)
        write("convert_gguf", name + "_cut", data[: len(data) * 2 // 3])
    for name, data in tokenizer_seeds():
        write("text_tokenizer_json", name.replace(" ", "_"), data)
    for path in sorted(GOLDEN.glob("*.onnx")):
        data = path.read_bytes()
        write("onnx_reader", path.stem, data)
        write("onnx_reader", path.stem + "_cut", data[: len(data) * 2 // 3])
    for path in sorted(GOLDEN.glob("*.textproto")):
        if path.stem != "typed":  # long, and like the others
            write("onnx_textproto", path.stem, path.read_bytes())
    for i, text in enumerate(DIMS):
        write("graph_dim", str(i), text.encode())
    for i, text in enumerate(GRAPHS):
        write("graph_text", str(i), text.encode())


main()
