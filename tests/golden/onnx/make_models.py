"""Small ONNX models that cover the file format, and what the `onnx` package reads in them.

Oracle: the Python package onnx 1.23 (numpy_helper for values, inliner for functions). Input: none, values are fixed.
Run:    python tests/golden/onnx/make_models.py     (rewrites the files beside it)
"""

import json
import pathlib

import numpy as np
import onnx
from google.protobuf import text_format
from onnx import TensorProto, helper, numpy_helper
from onnx.inliner import inline_local_functions

HERE = pathlib.Path(__file__).parent
OPSETS = [helper.make_opsetid("", 21)]


def info(name, dtype=TensorProto.FLOAT, dims=("N",)):
    return helper.make_tensor_value_info(name, dtype, dims)


def model(graph, opsets=OPSETS, **more):
    return helper.make_model(graph, opset_imports=opsets, producer_name="make_models", ir_version=10, **more)


def typed():
    """Every element type in its typed field, and again as raw data."""
    values = {
        "FLOAT": [1.5, -2.0, 3.25], "DOUBLE": [0.1, -1e300, 3.0], "FLOAT16": [1.5, -2.0, 65504.0],
        "BFLOAT16": [1.0, -2.0, 3.0], "INT8": [-128, 127, -1], "UINT8": [0, 255, 7], "INT16": [-32768, 32767, -1],
        "UINT16": [0, 65535, 7], "INT32": [-2147483648, 2147483647, -1], "UINT32": [0, 4294967295, 7],
        "INT64": [-(2**63), 2**63 - 1, -1], "UINT64": [0, 2**64 - 1, 7], "BOOL": [True, False, True],
        "INT4": [-8, 7, -1], "UINT4": [15, 0, 9], "INT2": [-2, 1, 0, -1, 1], "UINT2": [3, 0, 1, 2, 3],
        "COMPLEX64": [1 + 2j, -3j, 4], "COMPLEX128": [1 + 2j, -3j, 4], "FLOAT8E4M3FN": [1.0, -2.0, 448.0],
        "FLOAT8E5M2": [1.0, -2.0, 4.0], "FLOAT4E2M1": [1.0, -6.0, 0.5],
    }
    initializers = []
    for name, numbers in values.items():
        tensor = helper.make_tensor("typed_" + name, getattr(TensorProto, name), [len(numbers)], numbers)
        raw = numpy_helper.from_array(numpy_helper.to_array(tensor), "raw_" + name)
        assert raw.HasField("raw_data") and raw.data_type == tensor.data_type
        initializers += [tensor, raw]
    initializers.append(helper.make_tensor("scalar", TensorProto.FLOAT, [], [7.0]))
    initializers.append(helper.make_tensor("empty", TensorProto.INT64, [0, 3], []))
    identity = helper.make_node("Identity", ["typed_FLOAT"], ["y"])
    return model(helper.make_graph([identity], "typed", [], [info("y", dims=[3])], initializers))


def external():
    rng = np.random.default_rng(1)
    w = rng.standard_normal((8, 5)).astype(np.float32)
    b = rng.standard_normal((5,)).astype(np.float32)
    nodes = [helper.make_node("MatMul", ["x", "w"], ["t"]), helper.make_node("Add", ["t", "b"], ["y"])]
    graph = helper.make_graph(nodes, "external", [info("x", dims=("N", 8))], [info("y", dims=("N", 5))],
                              [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")])
    return model(graph)


def attributes():
    node = helper.make_node(
        "Everything", ["x", "", "x", "", ""], ["y", "", "z", ""], name="all", domain="test.domain", f=1.5, i=-3,
        s="text", t=helper.make_tensor("t", TensorProto.INT64, [2], [5, 6]), floats=[1.0, -0.5], ints=[1, -2, 3],
        strings=["a", "b\u00fc"])
    dims = ("batch", "past + now", "2*batch", "batch-size", None, 3)
    hint = info("z", TensorProto.FLOAT16, ("batch", 4))
    graph = helper.make_graph([node], "attributes", [info("x", dims=dims)], [info("y", dims=None)], value_info=[hint])
    made = model(graph, OPSETS + [helper.make_opsetid("test.domain", 3)])
    helper.set_model_props(made, {"author": "me", "empty": ""})
    return made


def subgraphs():
    """If inside Loop: captures across two levels, and an outer name used as a body's output."""
    then = helper.make_graph([helper.make_node("Add", ["state", "bias"], ["t"])], "then", [], [info("t")])
    other = helper.make_graph([helper.make_node("Identity", ["x"], ["e"])], "else", [], [info("e")])
    body = helper.make_graph(
        [helper.make_node("If", ["flag"], ["next"], then_branch=then, else_branch=other),
         helper.make_node("Identity", ["keep"], ["again"])],
        "body",
        [info("i", TensorProto.INT64, ()), info("keep", TensorProto.BOOL, ()), info("state")],
        [info("again", TensorProto.BOOL, ()), info("next")])
    nodes = [helper.make_node("Relu", ["x"], ["start"]),
             helper.make_node("Loop", ["count", "", "start"], ["y"], name="loop", body=body)]
    graph = helper.make_graph(
        nodes, "subgraphs",
        [info("x"), info("flag", TensorProto.BOOL, ()), info("count", TensorProto.INT64, ())], [info("y")],
        [helper.make_tensor("bias", TensorProto.FLOAT, [1], [2.0])])
    return model(graph)


def functions():
    """Nested functions, attributes by reference with and without default, an omitted input, an output handed through."""
    local = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    alpha = helper.make_node("LeakyRelu", ["a"], ["b"])
    reference = alpha.attribute.add()
    reference.name, reference.ref_attr_name, reference.type = "alpha", "slope", onnx.AttributeProto.FLOAT
    leaky = helper.make_function("local", "Leaky", ["a"], ["b"], [alpha], local, ["slope"])
    nodes = [helper.make_node("Leaky", ["p"], ["t"], domain="local", slope=0.25), helper.make_node("Mul", ["t", "q"], ["u"])]
    scaled = helper.make_function("local", "Scaled", ["p", "q"], ["u", "p"], nodes, local, [],
                                  [helper.make_attribute("unused", 1)])
    nodes = [helper.make_node("Scaled", ["x", "w"], ["s", "same"], name="first", domain="local"),
             helper.make_node("Scaled", ["s", "w"], ["r"], domain="local"),
             helper.make_node("Add", ["r", "same"], ["y"])]
    graph = helper.make_graph(nodes, "functions", [info("x"), info("w")], [info("y")])
    return model(graph, local, functions=[leaky, scaled])


def sparse():
    values = helper.make_tensor("dense", TensorProto.FLOAT, [2], [5.0, -1.0])
    linear = helper.make_tensor("i", TensorProto.INT64, [2], [1, 5])
    pairs = helper.make_tensor("i", TensorProto.INT64, [2, 2], [0, 1, 1, 2])
    graph = helper.make_graph([helper.make_node("Add", ["dense", "dense2"], ["y"])], "sparse", [], [info("y", dims=[2, 3])])
    graph.sparse_initializer.append(helper.make_sparse_tensor(values, linear, [2, 3]))
    values.name = "dense2"
    graph.sparse_initializer.append(helper.make_sparse_tensor(values, pairs, [2, 3]))
    return model(graph)


def unsorted():
    nodes = [helper.make_node("Add", ["b", "c"], ["y"]), helper.make_node("Abs", ["a"], ["c"]),
             helper.make_node("Neg", ["a"], ["b"]), helper.make_node("Relu", ["x"], ["a"])]
    return model(helper.make_graph(nodes, "unsorted", [info("x")], [info("y")]))


def dump_value(value):
    tensor = value.type.tensor_type
    dims = None
    if tensor.HasField("shape"):
        dims = [d.dim_value if d.HasField("dim_value") else d.dim_param or "?" for d in tensor.shape.dim]
    return {"name": value.name, "dtype": tensor.elem_type, "dims": dims}


def dump_tensor(tensor):
    # numpy_helper unpacks small types to a byte each; its raw form is the packed one.
    raw = tensor if tensor.HasField("raw_data") else numpy_helper.from_array(numpy_helper.to_array(tensor), tensor.name)
    return {"name": tensor.name, "dtype": tensor.data_type, "dims": list(tensor.dims), "hex": raw.raw_data.hex()}


def dump(made):
    inlined = inline_local_functions(made)
    dense = [{"name": s.values.name, "dtype": 1, "dims": list(s.dims),
              "hex": np.array([[0, 5, 0], [0, 0, -1]], np.float32).tobytes().hex()} for s in made.graph.sparse_initializer]
    return {
        "inputs": [dump_value(v) for v in made.graph.input],
        "outputs": [dump_value(v) for v in made.graph.output],
        "initializers": [dump_tensor(t) for t in made.graph.initializer] + dense,
        "ops": [n.op_type for n in inlined.graph.node],
    }


def main():
    found = {}
    for make in (typed, external, attributes, subgraphs, functions, sparse, unsorted):
        made, name = make(), make.__name__
        found[name] = dump(made)
        (HERE / f"{name}.textproto").write_text(text_format.MessageToString(made, as_utf8=False))
        if name == "external":
            onnx.save(made, HERE / "external.onnx", save_as_external_data=True, location="external.data",
                      size_threshold=0)
        else:
            (HERE / f"{name}.onnx").write_bytes(made.SerializeToString(deterministic=True))
    (HERE / "models.json").write_text(json.dumps(found, indent=1) + "\n")


main()
