"""Writes the expected results of the com.microsoft, pkg.nxrt and internal operators beside this file.

Oracle:  onnxruntime 1.32.0, CPUExecutionProvider, graph optimizations off, one node per model. Two exceptions, which no
         onnxruntime kernel defines: MatMulNBits with accuracy_level 4 (numpy: rows quantized to int8 per block, scale
         max|x|/127, exact integer sums) and BlockQuantizedMatMul (gguf 0.19.0's dequantize, then numpy).
Input:   random, seed 7. NaN in an expected output means "unspecified".
Run:     build/venv/bin/python tests/golden/ops/make_contrib_golden.py

<Op>.json: [{name, domain, op, attributes, constants, inputs: [tensor or null], outputs: [tensor], tolerance}], a tensor
being {dtype, shape, at} with its little-endian bytes at byte `at` of <Op>.bin.
"""
import json
import pathlib

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

assert ort.__version__ == "1.32.0", ort.__version__
HERE = pathlib.Path(__file__).parent
rng = np.random.default_rng(7)

DTYPES = {"float32": ("f32", TensorProto.FLOAT), "float16": ("f16", TensorProto.FLOAT16),
          "int32": ("i32", TensorProto.INT32), "int64": ("i64", TensorProto.INT64), "uint8": ("u8", TensorProto.UINT8)}


class Packed4:
    """A 4-bit tensor: its values, one per element."""

    def __init__(self, values, signed):
        self.values, self.signed, self.shape = values, signed, values.shape
        flat = (values.astype(np.int64) & 15).reshape(-1)
        flat = np.append(flat, 0) if flat.size % 2 else flat
        self.bytes = (flat[0::2] | flat[1::2] << 4).astype(np.uint8).tobytes()

    def name(self):
        return "i4" if self.signed else "u4"

    def onnx(self):
        return TensorProto.INT4 if self.signed else TensorProto.UINT4


class Golden:
    def __init__(self, op):
        self.op, self.cases, self.bytes = op, [], b""

    def tensor(self, x):
        if x is None:
            return None
        name, raw = (x.name(), x.bytes) if isinstance(x, Packed4) else (DTYPES[str(x.dtype)][0], x.tobytes())
        at = len(self.bytes)
        self.bytes += raw
        return {"dtype": name, "shape": list(x.shape), "at": at}

    def add(self, name, attributes, inputs, outputs, constants=(), tolerance=1e-5, domain="com.microsoft", op=None):
        self.cases.append({"name": name, "domain": domain, "op": op or self.op, "attributes": attributes,
                           "constants": list(constants), "inputs": [self.tensor(x) for x in inputs],
                           "outputs": [self.tensor(y) for y in outputs], "tolerance": tolerance})

    def run(self, name, attributes, inputs, outputs=1, constants=(), tolerance=1e-5, domain="com.microsoft", op=None,
            stored=None, adjust=lambda ys: ys):
        """`stored`: the inputs to keep when they differ from what the oracle is given."""
        ys = oracle(op or self.op, domain, attributes, inputs, outputs)
        self.add(name, attributes, stored or inputs, adjust(ys), constants, tolerance, domain, op)

    def write(self):
        lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in self.cases)
        (HERE / f"{self.op}.json").write_text(f"[\n{lines}\n]\n")
        (HERE / f"{self.op}.bin").write_bytes(self.bytes)
        print(f"{self.op}: {len(self.cases)} cases, {len(self.bytes)} bytes")


def oracle(op, domain, attributes, inputs, outputs):
    feeds, infos, names, initializers = {}, [], [], []
    for i, x in enumerate(inputs):
        names.append("" if x is None else f"x{i}")
        if x is None:
            continue
        if isinstance(x, Packed4):
            initializers.append(helper.make_tensor(f"x{i}", x.onnx(), x.shape, x.bytes, raw=True))
            continue
        feeds[f"x{i}"] = x
        infos.append(helper.make_tensor_value_info(f"x{i}", DTYPES[str(x.dtype)][1], x.shape))
    while names and not names[-1]:
        names.pop()
    wanted = list(range(outputs)) if isinstance(outputs, int) else outputs
    outs = ["" if i not in wanted else f"y{i}" for i in range(max(wanted) + 1)]
    node = helper.make_node(op, names, outs, domain=domain, **attributes)
    graph = helper.make_graph([node], "g", infos, [onnx.ValueInfoProto(name=o) for o in outs if o], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)],
                              ir_version=10)
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"]).run(None, feeds)


def rand(*shape, dtype=np.float32, scale=1.0):
    return (rng.standard_normal(shape) * scale).astype(dtype)


def norms():
    g = Golden("SimplifiedLayerNormalization")
    for dtype in (np.float32, np.float16):
        tol = 1e-5 if dtype == np.float32 else 2e-3
        for shape in ((2, 3, 17), (1, 64), (5, 1)):
            g.run(f"{dtype.__name__} {shape}", {"epsilon": 1e-5, "axis": -1}, [rand(*shape, dtype=dtype), rand(shape[-1], dtype=dtype)],
                  tolerance=tol, domain="")
    g.run("axis 1", {"axis": 1, "epsilon": 1e-3}, [rand(3, 4, 5), rand(4, 5)], domain="")
    g.write()

    g = Golden("SkipLayerNormalization")
    for rms in (False, True):
        op = "SkipSimplifiedLayerNormalization" if rms else "SkipLayerNormalization"
        for dtype in (np.float32, np.float16):
            tol = 2e-5 if dtype == np.float32 else 5e-3
            for n, bias, total in ((33, False, False), (64, True, True), (7, True, False)):
                x, skip, gamma = rand(2, 3, n, dtype=dtype), rand(2, 3, n, dtype=dtype), rand(n, dtype=dtype)
                ins = [x, skip, gamma] + ([] if rms else [rand(n, dtype=dtype)]) + ([rand(n, dtype=dtype)] if bias else [])
                g.run(f"{op} {dtype.__name__} {n}", {"epsilon": 1e-5}, ins, [0, 3] if total else 1, tolerance=tol, op=op,
                      adjust=lambda ys, t=total: [ys[0], None, None, ys[1]] if t else ys)
    for skip_shape in ((1, 3, 8), (3, 8)):
        g.run(f"shared skip {skip_shape}", {}, [rand(2, 3, 8), rand(*skip_shape), rand(8), rand(8)])
    g.write()


def activations():
    g = Golden("Activations")
    wide = np.concatenate([np.linspace(-12, 12, 600), [0.0, -0.0, 1e-8, 50, -50, 88]]).astype(np.float32)
    for op in ("Gelu", "QuickGelu", "FastGelu"):
        g.run(f"{op}", {}, [wide], op=op, tolerance=2e-6)
        if op != "Gelu":
            g.run(f"{op} f16", {}, [wide[::4].astype(np.float16)], op=op, tolerance=4e-3)
    g.run("QuickGelu alpha", {"alpha": 0.5}, [rand(3, 7, scale=3)], op="QuickGelu", tolerance=2e-6)
    g.run("FastGelu bias", {}, [rand(2, 3, 5, scale=3), rand(5)], op="FastGelu", tolerance=3e-6)
    g.run("BiasGelu", {}, [rand(2, 3, 600, scale=3), rand(600)], op="BiasGelu", tolerance=3e-6)
    x, up = rand(5, 113, scale=4), rand(5, 113)
    silu = (x.astype(np.float64) / (1 + np.exp(-x.astype(np.float64))))
    g.add("Silu", {}, [x], [silu.astype(np.float32)], domain="nxrt", op="Silu", tolerance=2e-6)
    g.add("SiluMul", {}, [x, up], [(silu * up).astype(np.float32)], domain="nxrt", op="SiluMul", tolerance=2e-6)
    g.write()


def rotary():
    g = Golden("RotaryEmbedding")
    for dtype in (np.float32, np.float16):
        tol = 1e-5 if dtype == np.float32 else 4e-3
        for inter in (0, 1):
            b, s, h, d = 2, 3, 3, 12
            angle = rand(16, d // 2)
            cos, sin = np.cos(angle).astype(dtype), np.sin(angle).astype(dtype)
            name = f"{dtype.__name__} interleaved {inter}"
            x = rand(b, s, h * d, dtype=dtype)
            ids = rng.integers(0, 16, (b, s)).astype(np.int64)
            g.run(name, {"interleaved": inter}, [x, ids, cos, sin], tolerance=tol)
            g.run(name + " offset", {"interleaved": inter}, [x, np.array([5], np.int64), cos, sin], tolerance=tol)
            g.run(name + " 4d", {"interleaved": inter}, [rand(b, h, s, d, dtype=dtype), ids, cos, sin], tolerance=tol)
            g.run(name + " partial", {"interleaved": inter, "num_heads": h, "rotary_embedding_dim": 8},
                  [x, ids, np.ascontiguousarray(cos[:, :4]), np.ascontiguousarray(sin[:, :4])], tolerance=tol)
    g.write()


def pack_bits(q, bits):
    """Values along the last axis, low bits first, each row padded to a byte."""
    per = 8 // bits
    q = np.concatenate([q, np.zeros(q.shape[:-1] + (-q.shape[-1] % per,), q.dtype)], -1)
    parts = q.reshape(q.shape[:-1] + (-1, per)).astype(np.uint8)
    return np.bitwise_or.reduce(parts << (np.arange(per, dtype=np.uint8) * bits), axis=-1).astype(np.uint8)


def int8_rows(x, block):
    """x as the product of exact integers and scales: what int8 activations mean."""
    pad = -x.shape[-1] % block
    b = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, pad)]).reshape(x.shape[:-1] + (-1, block)).astype(np.float32)
    scale = np.max(np.abs(b), -1, keepdims=True) / np.float32(127)
    ratio = np.divide(b, scale, out=np.zeros_like(b), where=scale > 0)
    q = np.sign(ratio) * np.floor(np.abs(ratio) + 0.5)
    return (q.astype(np.float64) * scale).reshape(x.shape[:-1] + (-1,))[..., :x.shape[-1]]


def matmul_nbits():
    g = Golden("MatMulNBits")
    cases = [(bits, block, zp, level, dtype) for bits in (4, 8) for block in (16, 32, 128) for zp in (None, "u8", "float")
             for level in (0, 4) for dtype in (np.float32,)]
    cases += [(2, 32, zp, level, np.float32) for zp in (None, "u8") for level in (0, 4)]
    cases += [(4, 64, None, 0, np.float16), (4, 32, "u8", 4, np.float16), (8, 256, None, 4, np.float32), (4, 256, "u8", 1, np.float32)]
    for i, (bits, block, zp, level, dtype) in enumerate(cases):
        m, n, k = ((1, 19, 96), (5, 33, 80), (2, 16, 40))[i % 3]
        blocks = -(-k // block)
        q = rng.integers(0, 1 << bits, (n, blocks, block))
        scales = (rng.uniform(0.02, 0.1, (n, blocks)) * np.where(rng.random((n, blocks)) < 0.1, -1, 1)).astype(dtype)
        x, points, stored = rand(m, k, dtype=dtype), np.full((n, blocks), 1 << (bits - 1)), None
        if zp == "u8":
            points = rng.integers(0, 1 << bits, (n, blocks))
            stored = pack_bits(points, bits)
        elif zp == "float":
            points = rng.uniform(0, 1 << bits, (n, blocks)).astype(dtype)
            stored = points
        bias = rand(n, dtype=dtype) if i % 4 == 0 else None
        attributes = {"K": k, "N": n, "bits": bits, "block_size": block, "accuracy_level": level}
        inputs = [x, pack_bits(q, bits), scales, stored, None, bias]
        name = f"int{bits} b{block} zero point {zp} level {level} {dtype.__name__}"
        tol = 1e-4 if dtype == np.float32 else 5e-3
        w = ((q - points[..., None]) * scales[..., None].astype(np.float64)).reshape(n, -1)[:, :k]
        rows = int8_rows(x, block) if level == 4 else x.astype(np.float64)
        y = (rows @ w.T + (bias if bias is not None else 0)).astype(dtype)
        if level != 4 and bits != 2 and not (bits == 8 and zp == "float"):  # what its kernels lack
            (seen,) = oracle("MatMulNBits", "com.microsoft", attributes, inputs, 1)
            assert np.allclose(seen.astype(np.float64), y, rtol=5e-3, atol=5e-3), (name, np.abs(seen - y).max())
        g.add(name, attributes, inputs, [y], [1, 2, 3] if stored is not None else [1, 2], tol)
    g.write()


def block_quantized():
    import gguf
    g = Golden("BlockQuantizedMatMul")
    for name, kind in (("mxfp4", gguf.GGMLQuantizationType.MXFP4), ("iq4_nl", gguf.GGMLQuantizationType.IQ4_NL)):
        size = 17 if name == "mxfp4" else 18
        for m, n, k, bias in ((1, 18, 64, False), (4, 16, 96, True)):
            blocks = rng.integers(0, 256, (n, k // 32, size)).astype(np.uint8)
            if name == "mxfp4":
                blocks[..., 0] = rng.integers(118, 130, blocks.shape[:-1])
            else:
                blocks[..., :2] = rng.uniform(-0.01, 0.01, blocks.shape[:-1]).astype(np.float16)[..., None].view(np.uint8)
            w = gguf.quants.dequantize(blocks.reshape(n, -1), kind).astype(np.float64)
            x, b = rand(m, k), rand(n) if bias else None
            y = x.astype(np.float64) @ w.T + (b if bias else 0)
            g.add(f"{name} {m}x{n}x{k}", {"K": k, "N": n, "format": name, "block_layout_version": 1}, [x, blocks, b],
                  [y.astype(np.float32)], [1], 1e-4, "pkg.nxrt")
    g.write()


def gather():
    g = Golden("GatherBlockQuantized")
    for bits in (2, 4, 8):
        for zp in (False, True):
            v, h, block = 11, 48, 16
            blocks = h // block
            q, scales = rng.integers(0, 1 << bits, (v, h)), rand(v, blocks, scale=0.1)
            points = pack_bits(rng.integers(0, 1 << bits, (v, blocks)), bits) if zp else None
            ids = rng.integers(-v, v, (2, 3)).astype(np.int64)
            g.run(f"u8 {bits} bits zero point {zp}", {"bits": bits, "block_size": block, "gather_axis": 0, "quantize_axis": 1},
                  [pack_bits(q, bits), ids, scales, points], constants=[0, 2, 3] if zp else [0, 2])
    for signed in (False, True):
        for gather_axis, quantize_axis, zp in ((0, 2, True), (1, 2, False), (2, 1, True), (0, 1, False), (0, 2, False)):
            shape = (3, 18, 5) if quantize_axis == 1 else (3, 5, 18)
            blocks = tuple(-(-s // 16) if i == quantize_axis else s for i, s in enumerate(shape))
            low, high = (-8, 8) if signed else (0, 16)
            data = Packed4(rng.integers(low, high, shape), signed)
            points = Packed4(rng.integers(low, high, blocks), signed) if zp else None
            ids = rng.integers(0, shape[gather_axis], (2, 2)).astype(np.int32)
            scales = rand(*blocks, dtype=np.float16 if zp else np.float32)
            g.run(f"{data.name()} axes {gather_axis} {quantize_axis} zero point {zp}",
                  {"block_size": 16, "gather_axis": gather_axis, "quantize_axis": quantize_axis},
                  [data, ids, scales, points], tolerance=2e-3 if zp else 1e-5, constants=[0, 2])
    g.write()


def fused_matmul():
    g = Golden("FusedMatMul")
    for ta in (0, 1):
        for tb in (0, 1):
            a = rand(2, 1, *((5, 9) if ta else (9, 5)))
            b = rand(3, *((17, 5) if tb else (5, 17)))
            g.run(f"transA {ta} transB {tb}", {"transA": ta, "transB": tb, "alpha": 0.25}, [a, b])
    g.run("one row", {}, [rand(1, 7), rand(7, 33)])
    g.write()


def rotary_caches(positions, half, dtype):
    angle = np.arange(positions)[:, None] / 100.0 ** (np.arange(half) / half)
    return np.cos(angle).astype(dtype), np.sin(angle).astype(dtype)


def gqa_case(g, name, past, new, dtype=np.float32, heads=4, kv=2, dim=16, packed=False, capacity=None, half=None,
             positions=None, bias=None, sink=False, valid=None, tolerance=None, **attributes):
    """past, new: tokens of each row before this step, and of this step (right-padded to the longest)."""
    b, s = len(past), max(new)
    total = [p + n for p, n in zip(past, new)]
    most = max(total)
    first = all(p == 0 for p in past) and valid is None
    attributes = {"num_heads": heads, "kv_num_heads": kv, **attributes}
    q, k, v = (rand(b, s, n * dim, dtype=dtype) for n in (heads, kv, kv))
    inputs = [np.concatenate([q, k, v], -1), None, None] if packed else [q, k, v]
    stored = list(inputs)
    past_capacity = capacity or (0 if first else max(past))
    for _ in range(2):
        clean = rand(b, kv, past_capacity, dim, dtype=dtype)
        dirty = clean.copy()
        for i, p in enumerate(past):  # what lies beyond a row's past must not matter
            clean[i, :, p:], dirty[i, :, p:] = 0, np.nan
        inputs.append(clean), stored.append(dirty)
    rest = [np.array([t - 1 for t in total], np.int32), np.array([most if valid is None else max(most, capacity or 0)], np.int32)]
    rest += list(rotary_caches(64, half or dim // 2, dtype)) if attributes.get("do_rotary") else [None, None]
    rest += [positions, bias, rand(heads, dtype=dtype) if sink else None, None, None, None, None, valid]
    inputs += rest
    stored += rest
    while inputs[-1] is None:
        inputs.pop(), stored.pop()

    def unspecified(ys):
        for i, (n, t) in enumerate(zip(new, total)):
            ys[0][i, n:] = np.nan
            ys[1][i, :, t:], ys[2][i, :, t:] = np.nan, np.nan
        return ys

    g.run(name, attributes, inputs, 3, stored=stored, adjust=unspecified,
          tolerance=tolerance or (2e-5 if dtype == np.float32 else 4e-3))


def gqa():
    g = Golden("GroupQueryAttention")
    rotary_on = {"do_rotary": 1, "rotary_interleaved": 0}
    for dtype in (np.float32, np.float16):
        n = dtype.__name__ + " "
        gqa_case(g, n + "prompt", [0], [7], dtype)
        gqa_case(g, n + "prompt rotary packed", [0, 0], [9, 9], dtype, packed=True, **rotary_on)
        gqa_case(g, n + "prompt right padded", [0, 0, 0], [5, 9, 1], dtype, capacity=12, **rotary_on)
        gqa_case(g, n + "token ragged shared capacity", [3, 11, 0, 1], [1, 1, 1, 1], dtype, capacity=16, **rotary_on)
        gqa_case(g, n + "chunk", [5], [4], dtype, capacity=9, packed=True, **rotary_on)
    gqa_case(g, "token growing cache", [6], [1], **rotary_on)
    gqa_case(g, "chunk growing cache", [6], [3])
    gqa_case(g, "interleaved", [0], [6], do_rotary=1, rotary_interleaved=1)
    gqa_case(g, "partial rotary", [4], [1], capacity=8, dim=32, half=8, do_rotary=1)
    gqa_case(g, "one kv head, three heads", [2], [5], heads=3, kv=1, dim=24)
    gqa_case(g, "scale", [0], [5], scale=0.7)
    gqa_case(g, "softcap", [3], [1], softcap=2.0, scale=1.5)
    gqa_case(g, "softcap prompt", [0], [5], softcap=2.0, scale=1.5)
    for window in (1, 3, 4):
        gqa_case(g, f"window {window} prompt", [0], [8], local_window_size=window)
        gqa_case(g, f"window {window} chunk", [6], [3], capacity=12, local_window_size=window, **rotary_on)
        gqa_case(g, f"window {window} token", [9, 2], [1, 1], capacity=12, local_window_size=window)
    gqa_case(g, "smooth softmax", [0], [6], smooth_softmax=1)
    gqa_case(g, "smooth softmax off", [0], [6], smooth_softmax=-1)
    gqa_case(g, "head sink", [5], [1], capacity=8, sink=True)
    gqa_case(g, "head sink prompt", [0], [5], sink=True)
    gqa_case(g, "bias", [0, 0], [5, 5], bias=rand(2, 4, 5, 5))
    gqa_case(g, "bias shared, softcap", [6], [2], softcap=3.0, bias=rand(1, 1, 2, 8))
    gqa_case(g, "position ids token", [6, 3], [1, 1], capacity=8, positions=np.array([[9], [2]], np.int64), **rotary_on)
    gqa_case(g, "position ids prompt", [0], [4], positions=np.array([[3, 4, 5, 6]], np.int64), **rotary_on)
    gqa_case(g, "bidirectional", [0], [6], causal=0)
    gqa_case(g, "query lengths", [3, 0, 6], [2, 4, 1], capacity=12, valid=np.array([2, 4, 1], np.int32), **rotary_on)
    gqa_case(g, "long", [150], [3], heads=2, kv=1, dim=16, capacity=160)
    g.write()


def mha():
    g = Golden("MultiHeadAttention")

    def case(name, b=2, s=3, l=5, h=2, d=8, dv=None, past=0, attributes=None, dtype=np.float32, **extra):
        dv = dv or d
        inputs = [rand(b, s, h * d, dtype=dtype), rand(b, l, h * d, dtype=dtype), rand(b, l, h * dv, dtype=dtype)]
        inputs += [extra.get("bias"), extra.get("mask"), extra.get("score_bias")]
        if past:
            inputs += [rand(b, h, past, d), rand(b, h, past, dv)]
        outputs = 3 if past or extra.get("present") else 1
        g.run(name, {"num_heads": h, **(attributes or {})}, inputs, outputs, tolerance=2e-5 if dtype == np.float32 else 4e-3)

    case("plain")
    case("more rows than a tile", s=19, l=21)
    case("value size", dv=6)
    case("scale", attributes={"scale": 0.9})
    case("projection bias", bias=rand(48))
    case("unidirectional", s=4, l=4, attributes={"unidirectional": 1})
    case("past", s=1, l=1, past=6, attributes={"unidirectional": 1})
    case("past chunk", s=3, l=3, past=4, attributes={"unidirectional": 1})
    case("key lengths", mask=np.array([2, 5], np.int32))
    case("key flags", mask=np.array([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1]], np.int32))
    case("row flags", mask=rng.integers(0, 2, (2, 3, 5)).astype(np.int32))
    case("flags and bias", mask=np.array([[1, 1, 0, 1, 0], [0, 1, 1, 1, 1]], np.int32), score_bias=rand(1, 2, 3, 5))
    case("score bias", score_bias=rand(2, 1, 3, 5))
    case("filter value", mask=np.array([[1, 0, 0, 1, 0], [0, 1, 1, 0, 1]], np.int32), attributes={"mask_filter_value": -2.0})
    x = rand(2, 3, 16)
    g.run("cross", {"num_heads": 2}, [x, rand(2, 2, 5, 8), rand(2, 2, 5, 8)])
    g.write()


if __name__ == "__main__":
    import sys
    wanted = sys.argv[1:]
    for make in (norms, activations, rotary, matmul_nbits, block_quantized, gather, fused_matmul, gqa, mha):
        if not wanted or make.__name__ in wanted:
            make()
