// Files that lie: each gives an Error that names the place, and none crashes, hangs or allocates without end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "onnx/reader.h"
#include "onnx/textproto.h"
#include "onnx/wire_writer.h"

namespace nxrt {
namespace {

using testing::HasSubstr;

const std::filesystem::path kGolden = NXRT_SOURCE_DIR "/tests/golden/onnx";

std::unique_ptr<Graph> read_bytes(const std::string& bytes, const ReadLimits& limits = {}) {
  const auto owner = std::make_shared<const std::string>(bytes);
  return read_model_bytes(std::as_bytes(std::span(*owner)), owner, kGolden, "m.onnx", limits);
}

const std::string kHead = "ir_version: 10 opset_import { version: 21 } opset_import { domain: 'local' version: 1 } ";

std::unique_ptr<Graph> read_text(const std::string& rest, const ReadLimits& limits = {}) {
  return read_bytes(onnx::textproto_to_wire(kHead + rest, "m.textproto"), limits);
}

template <class F>
void expect_refused(F&& read, Code code, const std::string& what, const std::string& at) {
  try {
    read();
    ADD_FAILURE() << "read, expected: " << what;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.text();
    EXPECT_THAT(error.message(), HasSubstr(what));
    EXPECT_THAT(error.at(), HasSubstr(at));
    EXPECT_THAT(error.at(), HasSubstr("m."));
  }
}

struct Hostile {
  const char* text;
  Code code;
  const char *what, *at;
};
class HostileModel : public testing::TestWithParam<Hostile> {};

TEST_P(HostileModel, IsRefused) {
  const Hostile& model = GetParam();
  expect_refused([&] { read_text(model.text); }, model.code, model.what, model.at);
}

INSTANTIATE_TEST_SUITE_P(
    , HostileModel,
    testing::Values(
        Hostile{"", Code::corrupt, "no graph", ""},
        Hostile{"graph {} opset_import { version: 20 }", Code::corrupt, "imported as opset 21 and 20", "opset_import"},
        Hostile{"graph {} opset_import { domain: 'd' }", Code::corrupt, "opset 0 of domain 'd'", "opset_import"},
        Hostile{"graph { node { op_type: 'A' domain: 'other' output: 'y' } }", Code::corrupt,
                "opset of domain 'other' is not imported", "node 'y' (A)"},
        Hostile{"graph { node { output: 'y' } }", Code::corrupt, "names no operator", "node 'y'"},
        Hostile{"graph { node { op_type: 'A' input: 'q' output: 'y' } }", Code::corrupt, "input 'q' is no input",
                "'y' (A)"},
        Hostile{"graph { node { op_type: 'A' input: 'b' output: 'a' } node { op_type: 'B' input: 'a' output: 'b' } }",
                Code::corrupt, "depends on its own output", "node 'a' (A)"},
        Hostile{"graph { node { op_type: 'A' input: 'a' output: 'a' } }", Code::corrupt, "depends on its own",
                "'a' (A)"},
        Hostile{"graph { node { op_type: 'A' output: 'a' } node { op_type: 'B' output: 'a' } }", Code::corrupt,
                "value 'a' has two producers", "node 'a' (B)"},
        Hostile{"graph { input { name: 'a' } node { op_type: 'A' output: 'a' } }", Code::corrupt, "defined twice",
                "'a'"},
        Hostile{"graph { input { name: 'a' } input { name: 'a' } }", Code::corrupt, "defined twice", "input 'a'"},
        Hostile{"graph { output { name: 'y' } }", Code::corrupt, "nothing produces", "output 'y'"},
        Hostile{"graph { input { name: 'x' type { tensor_type { elem_type: 99 } } } }", Code::unsupported,
                "element type 99", "value 'x'"},
        Hostile{"graph { input { name: 'x' type { tensor_type { shape { dim { dim_value: -2 } } } } } }", Code::corrupt,
                "dim -2 is negative", "value 'x'"},
        Hostile{"graph { input { name: 'x' type { sequence_type {} } } }", Code::unsupported, "is a sequence",
                "input 'x'"},
        Hostile{"graph { initializer { name: 'w' data_type: 77 dims: 1 } }", Code::unsupported, "element type 77",
                "'w'"},
        Hostile{"graph { initializer { name: 'w' data_type: 8 dims: 1 string_data: 'a' } }", Code::unsupported,
                "string tensors", "tensor 'w'"},
        Hostile{"graph { initializer { name: 'w' data_type: 1 dims: -1 } }", Code::corrupt, "dim -1 is negative",
                "'w'"},
        Hostile{"graph { initializer { name: 'w' data_type: 1 dims: 0 dims: 4611686018427387904 dims: 4 } }",
                Code::corrupt, "does not fit 63 bits", "'w'"},
        Hostile{"graph { initializer { name: 'w' data_type: 11 dims: 4611686018427387904 } }", Code::corrupt,
                "too large", "'w'"},
        Hostile{"graph { initializer { name: 'w' data_type: 1 dims: 99999999999 float_data: 1 } }",
                Code::out_of_capacity, "can justify", ""},
        Hostile{"graph { initializer { name: 'w' data_type: 1 dims: [1,1,1,1,1,1,1,1,1] } }", Code::unsupported,
                "rank is 9", "'w'"},
        Hostile{"graph { initializer { name: 'w' data_type: 1 dims: 2 raw_data: 'abc' } }", Code::corrupt,
                "raw data has 3 bytes, but f32[2] needs 8", "'w'"},
        Hostile{"graph { initializer { name: 'w' data_type: 1 dims: 2 float_data: 1 } }", Code::corrupt,
                "found 1 stored values, but f32[2] needs 2", "'w'"},
        Hostile{"graph { initializer { name: 'w' data_type: 2 dims: 1 int32_data: 256 } }", Code::corrupt,
                "256 does not fit 8 bits", "'w'"},
        Hostile{"graph { initializer { name: 'w' data_type: 9 dims: 1 raw_data: '\\x02' } }", Code::corrupt,
                "neither 0 nor 1", "'w'"},
        Hostile{"graph { initializer { name: 'w' data_type: 1 raw_data: 'abcd' float_data: 1 } }", Code::corrupt,
                "raw data and typed data", "'w'"},
        Hostile{"graph { sparse_initializer { values { name: 's' data_type: 1 dims: 1 float_data: 1 } indices { "
                "data_type: 7 "
                "dims: 1 int64_data: 6 } dims: 6 } }",
                Code::corrupt, "sparse index 6 is outside [0, 6)", "sparse tensor 's'"},
        Hostile{
            "graph { sparse_initializer { values { name: 's' data_type: 1 dims: 0 } indices { data_type: 7 dims: 0 } "
            "dims: 99999999999 } }",
            Code::out_of_capacity, "can justify", ""},
        Hostile{
            "graph { node { op_type: 'A' output: 'y' attribute { name: 'a' i: 1 type: INT } attribute { name: 'a' i: 2 "
            "type: INT } } }",
            Code::corrupt, "attribute 'a' is given twice", "node 'y'"},
        Hostile{"graph { node { op_type: 'A' output: 'y' attribute { name: 'a' } } }", Code::corrupt, "has no value",
                "attribute 'a'"},
        Hostile{"graph { node { op_type: 'A' output: 'y' attribute { name: 'a' ref_attr_name: 'b' } } }", Code::corrupt,
                "outside one", "node 'y'"},
        Hostile{"graph { node { op_type: 'A' output: 'y' attribute { name: 'a' type: TYPE_PROTO } } }",
                Code::unsupported, "type 13", "attribute 'a'"},
        Hostile{
            "graph { node { op_type: 'A' output: 'y' attribute { name: 'a' type: GRAPH g { node { op_type: 'B' input: "
            "'y' output: 'z' } } } } }",
            Code::corrupt, "depends on its own output", "node 'y' (A)"}),
    [](const auto& test) { return "Case" + std::to_string(test.index); });

TEST(HostileFunctions, ThatCallThemselves) {
  expect_refused(
      [] {
        read_text(
            "functions { name: 'F' domain: 'local' opset_import { domain: 'local' version: 1 } output: 'y' "
            "node { op_type: 'F' domain: 'local' output: 'y' } } "
            "graph { node { op_type: 'F' domain: 'local' output: 'y' } }");
      },
      Code::corrupt, "function 'F' calls itself", "node 'y' (F)");
}

TEST(HostileFunctions, WithTooManyArguments) {
  expect_refused(
      [] {
        read_text(
            "functions { name: 'F' domain: 'local' output: 'y' } graph { node { op_type: 'F' domain: 'local' output: "
            "['y', 'z'] } }");
      },
      Code::corrupt, "the call has 0 inputs and 2 outputs", "node 'y' (F)");
}

TEST(HostileFunctions, WithoutTheirOutput) {
  expect_refused(
      [] {
        read_text(
            "functions { name: 'F' domain: 'local' output: 'y' } graph { node { op_type: 'F' domain: 'local' output: "
            "'z' } }");
      },
      Code::corrupt, "never defines its output 'y'", "node 'z' (F)");
}

// f9 calls f8 ten times, which calls f7 ten times …: ten billion nodes from two kilobytes.
TEST(HostileFunctions, ThatMultiply) {
  std::string text =
      "functions { name: 'f0' domain: 'local' opset_import { version: 21 } output: 'y' node { op_type: 'A' output: 'y' "
      "} } ";
  for (int level = 1; level < 10; ++level) {
    text += "functions { name: 'f" + std::to_string(level) +
            "' domain: 'local' opset_import { domain: 'local' version: 1 } output: 'v0'";
    for (int i = 0; i < 10; ++i) {
      text += " node { op_type: 'f" + std::to_string(level - 1) + "' domain: 'local' output: 'v" + std::to_string(i) +
              "' }";
    }
    text += " } ";
  }
  text += "graph { node { op_type: 'f9' domain: 'local' output: 'y' } }";
  expect_refused([&] { read_text(text); }, Code::out_of_capacity, "can justify", "");
  expect_refused([&] { read_text(text, {.max_nodes = 1000}); }, Code::out_of_capacity, "more than 1000 nodes", "node");
}

TEST(HostileWire, Truncations) {
  expect_refused([] { read_bytes("\x08"); }, Code::corrupt, "truncated", "m.onnx > byte 1");
  expect_refused([] { read_bytes("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"); }, Code::corrupt,
                 "longer than 64 bits", "byte 1");
  expect_refused([] { read_bytes("\x3a\xff\xff\xff\xff\x0f"); }, Code::corrupt, "4294967295 bytes long, but 0 are left",
                 "byte 0");
  expect_refused([] { read_bytes(std::string("\x00\x00", 2)); }, Code::corrupt, "field number 0", "byte 0");
  expect_refused([] { read_bytes("\x0b"); }, Code::corrupt, "wire type 3", "byte 0");
  expect_refused([] { read_bytes("\x08\x0a\x42\x02\x10\x15\x3a\x02\x12\x05"); }, Code::corrupt,
                 "5 bytes long, but 0 are left", "byte 8");
  expect_refused([] { read_bytes("\x38\x01"); }, Code::corrupt, "field 7 is no message", "byte 0");
  expect_refused([] { read_bytes("\x08\x0a\x42\x02\x10\x15\x3a\x04\x12\x02\xc0\x80"); }, Code::corrupt,
                 "not valid UTF-8", "byte 8");
}

TEST(HostileWire, DeepBodies) {
  onnx::WireWriter graph;
  for (int i = 0; i < 500; ++i) {
    onnx::WireWriter attribute, node, outer;
    attribute.text(1, "b");
    attribute.message(6, graph);
    attribute.integer(20, 5);
    node.text(4, "If");
    node.message(5, attribute);
    outer.message(1, node);
    graph = outer;
  }
  onnx::WireWriter model, opset;
  opset.integer(2, 21);
  model.integer(1, 10);
  model.message(8, opset);
  model.message(7, graph);
  expect_refused([&] { read_bytes(model.bytes()); }, Code::out_of_capacity, "nested more than 64", "");
}

struct BadExternal {
  const char *entries, *what;
  Code code;
};
class HostileExternal : public testing::TestWithParam<BadExternal> {};

TEST_P(HostileExternal, IsRefused) {
  std::string text = "graph { initializer { name: 'w' data_type: 1 dims: 5 data_location: EXTERNAL ";
  text += GetParam().entries;
  expect_refused([&] { read_text(text + " } }"); }, GetParam().code, GetParam().what, "tensor 'w'");
}

#define ENTRY(key, value) "external_data { key: '" key "' value: '" value "' } "
INSTANTIATE_TEST_SUITE_P(
    , HostileExternal,
    testing::Values(
        BadExternal{"", "without a location", Code::corrupt},
        BadExternal{ENTRY("location", "../../../CMakeLists.txt"), "does not stay inside", Code::invalid_argument},
        BadExternal{ENTRY("location", "/etc/passwd"), "does not stay inside", Code::invalid_argument},
        BadExternal{ENTRY("location", "absent.data"), "does not exist", Code::not_found},
        BadExternal{ENTRY("location", "external.data") ENTRY("offset", "x"), "external offset is 'x'", Code::corrupt},
        BadExternal{ENTRY("location", "external.data") ENTRY("offset", "-4"), "external offset is '-4'", Code::corrupt},
        BadExternal{ENTRY("location", "external.data") ENTRY("offset", "4 "), "external offset is '4 '", Code::corrupt},
        BadExternal{ENTRY("location", "external.data") ENTRY("offset", "99999999999999999999"), "expected a number",
                    Code::corrupt},
        BadExternal{ENTRY("location", "external.data") ENTRY("length", "16"), "16 bytes long, but f32[5] needs 20",
                    Code::corrupt},
        BadExternal{ENTRY("location", "external.data") ENTRY("offset", "164"), "lies outside", Code::corrupt},
        BadExternal{ENTRY("location", "external.data") ENTRY("offset", "9223372036854775807"), "lies outside",
                    Code::corrupt}),
    [](const auto& test) { return "Case" + std::to_string(test.index); });
#undef ENTRY

// Ways to flip a bit of every byte (all of them in small files), and every length to cut at: an Error or a graph, under
// the sanitizers nothing else.
class MutatedModel : public testing::TestWithParam<std::string> {};

TEST_P(MutatedModel, IsReadOrRefused) {
  std::ifstream file(kGolden / (GetParam() + ".onnx"), std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  ASSERT_FALSE(bytes.empty());
  int read = 0, refused = 0;
  const auto attempt = [&](const std::string& mutated) {
    try {
      read_bytes(mutated);
      ++read;
    } catch (const Error& error) {
      EXPECT_NE(error.code(), Code::internal) << error.text();
      ++refused;
    }
  };
  for (size_t i = 0; i < bytes.size(); ++i) {
    attempt(bytes.substr(0, i));
    for (int bit = 0; bit < 8; ++bit) {
      if (bytes.size() > 300 && bit != static_cast<int>(i % 8) && bit != 7) continue;
      std::string mutated = bytes;
      mutated[i] = static_cast<char>(mutated[i] ^ (1 << bit));
      attempt(mutated);
    }
  }
  EXPECT_GT(read, 0);
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(, MutatedModel,
                         testing::Values("typed", "external", "attributes", "subgraphs", "functions", "sparse",
                                         "unsorted"),
                         [](const auto& test) { return test.param; });

TEST(Textproto, ErrorsNameLineAndColumn) {
  const auto at = [](const std::string& text) {
    try {
      onnx::textproto_to_wire(text, "m.textproto");
    } catch (const Error& error) {
      return error.at() + ": " + error.message();
    }
    return std::string("no error");
  };
  EXPECT_EQ(at("graph {\n  nodes {}\n}"), "m.textproto:2:3: GraphProto has no field 'nodes'");
  EXPECT_EQ(at("ir_version 3"), "m.textproto:1:12: found '3', expected ':'");
  EXPECT_EQ(at("ir_version: x"), "m.textproto:1:13: found 'x', expected an integer");
  EXPECT_EQ(at("graph {"), "m.textproto:1:8: found the end, expected a field of GraphProto or '}'");
  EXPECT_EQ(at("domain: 'a"), "m.textproto:1:9: the string that begins here does not end");
  EXPECT_EQ(at("domain: '\\q'"), "m.textproto:1:11: unknown escape in a string");
  EXPECT_EQ(at("}"), "m.textproto:1:1: found '}', expected the name of a field");
  std::string deep = "graph { node { attribute {";
  for (int i = 0; i < 500; ++i) deep += " g { node { attribute {";
  EXPECT_THAT(at(deep), HasSubstr("nested more than 256 deep"));
}

}  // namespace
}  // namespace nxrt
