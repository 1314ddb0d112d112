#include <limits>

#include "support/every_isa.h"
#include "support/op_runner.h"

namespace nxrt::test {
namespace {

OpRun to(DType dtype) { return {.attributes = {{"to", static_cast<int64_t>(dtype)}}}; }

using Cast = EveryIsa;

TEST_P(Cast, HalvesBothWays) {
  const Tensor x = random_f32({3, 67}, -70000, 70000);
  for (const DType half : {DType::f16, DType::bf16}) {
    OpRun narrow = to(half), widen = to(DType::f32);
    narrow.cpu = widen.cpu = &cpu();
    const Tensor y = run_op("Cast", {x}, narrow);
    expect_equal(y, cast_from_f32(x, half));
    expect_equal(run_op("Cast", {y}, widen), to_f32(y));
  }
}
INSTANTIATE_EVERY_ISA(Cast);

TEST(CastRules, NumbersAndBool) {
  const Tensor x = Tensor::of<float>({5}, {-1.9f, 0, 0.5f, 2.9f, 300});
  expect_equal(run_op("Cast", {x}, to(DType::i64)), Tensor::of<int64_t>({5}, {-1, 0, 0, 2, 300}));
  expect_equal(run_op("Cast", {x}, to(DType::u8)), Tensor::of<uint8_t>({5}, {255, 0, 0, 2, 44}));
  expect_equal(run_op("Cast", {x}, to(DType::boolean)), Tensor::of<bool>({5}, {true, false, true, true, true}));
  expect_equal(run_op("Cast", {Tensor::of<bool>({2}, {true, false})}, to(DType::f32)), Tensor::of<float>({2}, {1, 0}));
  expect_equal(run_op("Cast", {Tensor::of<int64_t>({1}, {1LL << 40})}, to(DType::f64)),
               Tensor::of<double>({1}, {1099511627776.0}));
  expect_equal(run_op("CastLike", {x, Tensor::of<int32_t>({1}, {0})}), Tensor::of<int32_t>({5}, {-1, 0, 0, 2, 300}));
  expect_equal(run_op("Cast", {x}, to(DType::f32)), x);
}

TEST(CastRules, WildFloatsDoNotTrap) {
  const float inf = std::numeric_limits<float>::infinity();
  run_op("Cast", {Tensor::of<float>({3}, {inf, -inf, std::numeric_limits<float>::quiet_NaN()})}, to(DType::i32));
  const Tensor h = run_op("Cast", {Tensor::of<double>({1}, {1e300})}, to(DType::f16));
  EXPECT_EQ(to_f32(h).data<float>()[0], inf);
}

TEST(CastRules, SaysWhatIsWrong) {
  expect_error(Code::unsupported, "a cast from f32 to string",
               [] { run_op("Cast", {random_f32({1})}, to(DType::string)); });
  expect_error(Code::invalid_argument, "attribute 'to' is 99, which is no element type",
               [] { run_op("Cast", {random_f32({1})}, {.attributes = {{"to", int64_t{99}}}}); });
}

TEST(CastRules, KeepsElementsOfIntegers) {
  const TensorType x{DType::i32, SymShape{}, std::vector<Dim>{Dim::symbol("S")}};
  EXPECT_EQ((*infer_op("Cast", {x}, to(DType::i64))[0].elements)[0].text(), "S");
}

}  // namespace
}  // namespace nxrt::test
