#include "gen/kv_type.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "graph/text.h"
#include "passes/pass.h"

namespace genai {
namespace {

using nxrt::DType;

DType type_for(const std::string& text) {
  const auto graph = nxrt::parse_graph(text, "test");
  nxrt::passes::infer_shapes(*graph, "test");
  return kv_type_for(*graph);
}

TEST(KvType, FollowsTheWeights) {
  EXPECT_EQ(type_for("(f32[B, 2] x, f32[2, 2] w = {1...}) => (f32[B, 2] y) { y = MatMul(x, w) }"), DType::f32);
  EXPECT_EQ(type_for("(f16[B, 2] x, f16[2, 2] w = {1...}) => (f16[B, 2] y) { y = MatMul(x, w) }"), DType::f16);
  EXPECT_EQ(type_for("(f32[B, 2] x, bf16[2, 2] w = {1...}) => (f32[B, 2] y) { f = Cast<to = 1>(w)  y = MatMul(x, f) }"),
            DType::f16);
  EXPECT_EQ(type_for("(f32[B, 2] x, i8[2, 2] w = {1...}) => (f32[B, 2] y) { f = Cast<to = 1>(w)  y = MatMul(x, f) }"),
            DType::f16);
}

TEST(KvType, FourBitsAndAFloat32TableAreNarrow) {
  EXPECT_EQ(
      type_for("(i64[B] x, f32[9, 16] table = {1...}, u8[2, 1, 8] w = {1...}, f32[2] s = {1...}) => (f32[B, 2] y) {"
               "  e = Gather(table, x)"
               "  y = com.microsoft.MatMulNBits<K = 16, N = 2, bits = 4, block_size = 16>(e, w, s) }"),
      DType::f16);
}

TEST(KvType, MasksOffsetsAndVectorsAreNoWeights) {
  EXPECT_EQ(type_for("(f32[2, 2] x, u8[2, 2] mask = {1...}, bool[2, 2] other = {1...}, f16[2] norm = {1...},"
                     " i64[2, 2] places = {0...}, f32[2, 2] w = {1...}) => (f32[2, 2] y) {"
                     "  m = Cast<to = 9>(mask)  both = And(m, other)  n = Cast<to = 1>(norm)  g = "
                     "GatherElements(w, places)  p = MatMul(x, g)  c = Where(both, p, x)  y = Mul(c, n) }"),
            DType::f32);
}

TEST(KvType, WordsOfTheUser) {
  EXPECT_EQ(kv_type_named("auto"), std::nullopt);
  EXPECT_EQ(kv_type_named("f32"), DType::f32);
  EXPECT_EQ(kv_type_named("f16"), DType::f16);
  try {
    kv_type_named("f8");
    FAIL();
  } catch (const nxrt::Error& error) {
    EXPECT_THAT(error.text(), testing::HasSubstr("'f8', expected auto, f32 or f16"));
  }
}

}  // namespace
}  // namespace genai
