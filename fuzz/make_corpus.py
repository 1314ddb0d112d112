"""Seeds of the fuzz targets of graph and onnx, from the golden models. Run: python fuzz/make_corpus.py"""

import pathlib

HERE = pathlib.Path(__file__).parent
GOLDEN = HERE.parent / "tests" / "golden" / "onnx"

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


def main():
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
