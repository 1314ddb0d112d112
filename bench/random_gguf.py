"""A llama-shaped GGUF file of random Q4_0 weights (token table Q8_0): what llama.cpp runs beside a random package.

    write(config.json of the package, FILE.gguf)
"""
import json
import pathlib

import gguf
import numpy

Q4_0, Q8_0 = gguf.GGMLQuantizationType.Q4_0, gguf.GGMLQuantizationType.Q8_0
BLOCK = 32
BYTES = {Q4_0: 2 + BLOCK // 2, Q8_0: 2 + BLOCK}  # a half-precision scale and the numbers


def blocks(random, kind, rows, columns):
    """uint8 [rows, bytes of a row]; the scale keeps the variance of a product of `columns` terms."""
    made = random.integers(0, 256, (rows, columns // BLOCK, BYTES[kind]), dtype=numpy.uint8)
    spread = 4.6 if kind == Q4_0 else 73.9
    scale = numpy.float16(1 / (spread * columns**0.5))
    made[:, :, :2] = numpy.frombuffer(scale.tobytes(), dtype=numpy.uint8)
    return made.reshape(rows, -1)


def tensors(config):
    """(name, rows, columns, kind) of each matrix; columns 0: a norm."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    q, kv = (config[heads] * config["head_dim"] for heads in ("num_attention_heads", "num_key_value_heads"))
    yield "token_embd.weight", config["vocab_size"], hidden, Q8_0
    for layer in range(config["num_hidden_layers"]):
        for name, rows, columns in (("attn_q", q, hidden), ("attn_k", kv, hidden), ("attn_v", kv, hidden),
                                    ("attn_output", hidden, q), ("ffn_gate", inner, hidden), ("ffn_up", inner, hidden),
                                    ("ffn_down", hidden, inner), ("attn_norm", hidden, 0), ("ffn_norm", hidden, 0)):
            yield f"blk.{layer}.{name}.weight", rows, columns, Q4_0
    yield "output_norm.weight", hidden, 0, Q4_0
    if not config["tie_word_embeddings"]:
        yield "output.weight", config["vocab_size"], hidden, Q4_0


def add_shape(writer, config):
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_head_count_kv(config["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    writer.add_rope_freq_base(config["rope_theta"])
    writer.add_vocab_size(config["vocab_size"])


def add_tokenizer(writer, vocabulary):
    tokens = ["<|endoftext|>"] + [f"[{i}]" for i in range(1, vocabulary)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([gguf.TokenType.CONTROL] + [gguf.TokenType.NORMAL] * (vocabulary - 1))
    writer.add_token_merges(["[ 1"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(0)


def write(config_file: pathlib.Path, target: pathlib.Path):
    config = json.loads(config_file.read_text())
    random = numpy.random.default_rng(0)
    partial = target.with_suffix(".partial")
    writer = gguf.GGUFWriter(partial, "llama", use_temp_file=True)
    add_shape(writer, config)
    add_tokenizer(writer, config["vocab_size"])
    for name, rows, columns, kind in tensors(config):
        if columns == 0:
            writer.add_tensor(name, numpy.ones(rows, dtype=numpy.float32))
        else:
            writer.add_tensor(name, blocks(random, kind, rows, columns), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    partial.rename(target)
