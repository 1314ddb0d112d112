#include "onnx/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "graph/text.h"
#include "graph/verifier.h"
#include "onnx/reader.h"
#include "support/random_structure.h"

namespace nxrt {
namespace {

namespace fs = std::filesystem;

std::string text_of(const Graph& graph) { return print_graph(graph, {.types = true, .max_elements = 1 << 20}); }

std::unique_ptr<Graph> reread(const std::string& bytes) {
  const auto owner = std::make_shared<const std::string>(bytes);
  return read_model_bytes(std::as_bytes(std::span(*owner)), owner, {}, "written");
}

struct OnnxWriter : ::testing::Test {
  fs::path folder = fs::path(testing::TempDir()) / ("onnx_writer_" + std::to_string(getpid()) +
                                                    testing::UnitTest::GetInstance()->current_test_info()->name());
  OnnxWriter() { fs::create_directories(folder); }
  ~OnnxWriter() override { fs::remove_all(folder); }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
  }
};

RC_GTEST_PROP(OnnxRoundTrip, ReadInvertsWrite, ()) {
  const auto graph = test::random_structure();
  verify(*graph, "random");
  RC_ASSERT(text_of(*reread(model_bytes(*graph))) == text_of(*graph));
}

RC_GTEST_PROP(OnnxRoundTrip, BytesAreDeterministic, ()) {
  const auto graph = test::random_structure();
  RC_ASSERT(model_bytes(*graph) == model_bytes(*graph->clone()));
  RC_ASSERT(model_bytes(*reread(model_bytes(*graph))) == model_bytes(*graph));
}

TEST_F(OnnxWriter, PutsLargeConstantsIntoAnAlignedFile) {
  Graph graph;
  graph.name = "g";
  graph.opsets[""] = 21;
  const Tensor large = Tensor::zeros(DType::u8, {1500});
  graph.add_constant("a", large);
  graph.add_constant("b", Tensor::of<float>({300}, std::vector<float>(300, 2.5f)));
  graph.add_constant("again", large.reshaped({3, 500}));
  graph.add_constant("small", Tensor::of<float>({1}, {7}));
  write_model(graph, folder / "m.onnx", {.external_file = "m.data"});
  EXPECT_THAT(files(), testing::ElementsAre("m.data", "m.onnx"));
  EXPECT_EQ(fs::file_size(folder / "m.data"), 1536u + 1200u) << "aligned to 64, equal bytes stored once";
  EXPECT_EQ(text_of(*read_model(folder / "m.onnx")), text_of(graph));
}

TEST_F(OnnxWriter, RefersToWhatTheCallerWrote) {
  std::ofstream(folder / "own.bin") << std::string("....") << std::string(8, '\x01');
  Graph graph;
  graph.add_constant("w", Tensor::borrow(DType::u8, {8}, nullptr, nullptr));
  write_model(graph, folder / "m.onnx", {.already_external = {{"w", {"own.bin", 4, 8}}}});
  const auto read = read_model(folder / "m.onnx");
  EXPECT_EQ(read->value(read->find_value("w")).constant->data<uint8_t>()[7], 1);
}

TEST_F(OnnxWriter, MayReplaceTheModelItReads) {
  Graph graph;
  graph.name = "g";
  graph.opsets[""] = 21;
  graph.add_constant("w", Tensor::of<float>({300}, std::vector<float>(300, 2.5f)));
  const WriteOptions options{.external_file = "m.data"};
  write_model(graph, folder / "m.onnx", options);
  const auto mapped = read_model(folder / "m.onnx");
  write_model(*mapped, folder / "m.onnx", options);
  EXPECT_EQ(text_of(*read_model(folder / "m.onnx")), text_of(graph));
}

TEST_F(OnnxWriter, LeavesNothingBehindWhenItFails) {
  const auto graph = parse_graph("(x) => (y) { t = Relu@13(x)  y = Relu@14(t) }", "test");
  try {
    write_model(*graph, folder / "m.onnx", {.external_file = "m.data"});
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::unsupported);
    EXPECT_THAT(error.at(), testing::HasSubstr("node 'y'"));
  }
  EXPECT_THAT(files(), testing::IsEmpty());
  EXPECT_THROW(write_model(Graph(), folder / "no" / "m.onnx"), Error);
  EXPECT_THROW(write_model(Graph(), folder / "m.onnx", {.external_file = "../m.data"}), Error);
}

TEST(OnnxWriterNames, BodiesDoNotHideTheirSurroundings) {
  // The body's own 't' and the captured one, renamed outside, must stay apart.
  const auto graph = parse_graph(
      "(bool[] c, f32[N] x) => (r) { u = Abs(x)  r = If<then_branch = (^q = u) => (t) { t = Neg(q) }>(c) }", "test");
  graph->rename(graph->find_value("u"), "t");
  const auto read = reread(model_bytes(*graph));
  EXPECT_THAT(print_graph(*read), testing::HasSubstr("t_1 = Neg(t)"));
}

}  // namespace
}  // namespace nxrt
