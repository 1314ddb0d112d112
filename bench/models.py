"""The models that are measured, made once in build/bench: the same weights for every program, each in its own format.

smollm2  SmolLM2-135M-Instruct, the demo's GGUF file rounded to symmetric 4-bit blocks (Q4_0, token table Q8_0), the form
         that every peer has its fastest code for; our package and ONNX Runtime's are the import of that file
demo     the demo's GGUF file as it is (4-bit blocks with offsets)
long     smollm2's shape with random weights and a context of 40,960 tokens
1B, 7B   shapes with random weights: ours by `import --random-weights`, llama.cpp's by random_gguf.py
"""
import json
import pathlib
import shutil
import subprocess

from job import Unable

RANDOM = ("long", "1B", "7B")
LONG_CONTEXT = 40960


class Models:
    def __init__(self, program: pathlib.Path, folder: pathlib.Path, demo_gguf: pathlib.Path):
        self.program, self.folder, self.demo_gguf = program, folder, demo_gguf
        folder.mkdir(parents=True, exist_ok=True)

    def package(self, model: str, activations: str = "int8") -> pathlib.Path:
        """Our ONNX folder; onnxruntime-genai and the reference implementation read it too."""
        target = self.folder / f"{model}-{activations}"
        if not target.exists():
            source = ["--random-weights", self.shape(model)] if model in RANDOM else [self.gguf(model)]
            self.run("import", *source, "-o", target, "--activations", activations)
        return target

    def gguf(self, model: str) -> pathlib.Path:
        if model == "demo":
            return self.demo_gguf
        if model == "long":
            return self.gguf("smollm2")  # llama.cpp takes any context; the weights don't change the speed
        target = self.folder / f"{model}.gguf"
        if not target.exists():
            self.random_gguf(model, target) if model in RANDOM else self.round_demo(target)
        return target

    def shape(self, model: str) -> str:
        if model != "long":
            return model
        config = json.loads((self.package("smollm2") / "config.json").read_text())
        file = self.folder / "long.json"
        file.write_text(json.dumps(config | {"max_position_embeddings": LONG_CONTEXT}))
        return str(file)

    def random_gguf(self, model: str, target: pathlib.Path):
        import random_gguf
        random_gguf.write(self.package(model) / "config.json", target)

    def round_demo(self, target: pathlib.Path):
        try:
            from peers.llama_cpp import llama
            llama("llama-quantize", "--allow-requantize", "--pure", "--token-embedding-type", "q8_0", self.demo_gguf,
                  target, "q4_0")
        except Unable:  # without llama.cpp's tools the others share the file as it is
            shutil.copyfile(self.demo_gguf, target)

    def run(self, *arguments):
        command = [self.program, *arguments]
        done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
        if done.returncode != 0:
            raise Unable(f"{' '.join(map(str, command))}: {done.stderr.strip().splitlines()[0]}")

    def bytes_per_token(self, model: str) -> int:
        """What one stream has to read for a token: 4-bit matrices at 4.5 bits with their scales, 8-bit tables at 8.5."""
        config = json.loads((self.package(model) / "config.json").read_text())
        hidden, inner = config["hidden_size"], config["intermediate_size"]
        q, kv = (config[heads] * config["head_dim"] for heads in ("num_attention_heads", "num_key_value_heads"))
        layers = config["num_hidden_layers"] * (hidden * (2 * q + 2 * kv) + 3 * hidden * inner)
        head = config["vocab_size"] * hidden
        return int(layers * 4.5 / 8 + head * (8.5 if config["tie_word_embeddings"] else 4.5) / 8)
