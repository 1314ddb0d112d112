#include "exec/weights.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "exec/session.h"
#include "graph/text.h"
#include "onnx/writer.h"
#include "support/op_runner.h"
#include "support/random_inputs.h"

namespace nxrt::exec {
namespace {

constexpr const char* kProduct =
    "(f32[B, 256] x, f32[256, 128] w = {0.5...}, f32[128] b = {1...}) => (f32[B, 128] y) { m = MatMul(x, w)  y = "
    "Add(m, b) }";

const Tensor& constant(const Session& session, const char* name) {
  return *session.graph().value(session.graph().find_value(name)).constant;
}

TEST(Weights, HeapCopiesThatAKernelHoldsPackedAreFreed) {
  Workers workers(1);
  auto session = Session::prepare(parse_graph(kProduct, "test"), "test", workers);
  EXPECT_EQ(constant(*session, "w").raw(), nullptr);
  EXPECT_EQ(constant(*session, "w").shape(), (Shape{256, 128}));
  EXPECT_NE(constant(*session, "b").raw(), nullptr) << "read by every run";
  const int64_t least = (256 * 128 + 128) * 4;
  EXPECT_GE(session->weight_bytes(), least);
  EXPECT_LE(session->weight_bytes(), least + least / 8);
  const Tensor y = session->run(test::random_inputs(session->graph(), 1)).at("y");
  EXPECT_EQ(session->run(test::random_inputs(session->graph(), 1)).at("y").data<float>()[0], y.data<float>()[0]);
}

TEST(Weights, AMappedFileStaysReadableAfterItsPagesAreDropped) {
  const auto path = std::filesystem::temp_directory_path() / "nxrt_weights_test.onnx";
  write_model(*parse_graph(kProduct, "test"), path);
  Workers workers(1);
  auto session = Session::open(path, workers);
  const Tensor& w = constant(*session, "w");
  if (w.raw()) {  // in place in the mapping; a misaligned initializer is copied and then freed
    for (int64_t i = 0; i < w.count(); i += 1000) EXPECT_EQ(w.data<float>()[i], 0.5f);
  }
  auto plain = Session::prepare(parse_graph(kProduct, "test"), "test", workers);
  const auto inputs = test::random_inputs(plain->graph(), 1);
  test::expect_equal(session->run(inputs).at("y"), plain->run(inputs).at("y"));
  std::filesystem::remove(path);
}

TEST(Weights, AMisalignedConstantIsCopied) {
  auto graph = parse_graph("(f32[2] x, f32[2] w = {1, 2}) => (f32[2] y) { y = Add(x, w) }", "test");
  std::vector<std::byte> bytes(16);
  Value& w = graph->value(graph->find_value("w"));
  auto* odd = bytes.data() + 1;
  std::memcpy(odd, w.constant->raw(), 8);
  w.constant = Tensor::borrow(DType::f32, {2}, odd, nullptr);
  align_constants(*graph);
  EXPECT_NE(w.constant->raw(), odd);
  test::expect_equal(*w.constant, Tensor::of<float>({2}, {1, 2}));
}

TEST(Weights, AConstantThatIsAlsoAnOutputStays) {
  Workers workers(1);
  auto session = Session::prepare(
      parse_graph(
          "(f32[B, 256] x, f32[256, 128] w = {0.5...}) => (f32[B, 128] y, f32[256, 128] w) { y = MatMul(x, w) }",
          "test"),
      "test", workers);
  EXPECT_EQ(session->run(test::random_inputs(session->graph(), 1)).at("w").data<float>()[7], 0.5f);
}

}  // namespace
}  // namespace nxrt::exec
