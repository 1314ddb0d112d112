#include "support/op_runner.h"

namespace nxrt::test {
namespace {

OpRun reduction(const char* name, int64_t axis = 0) {
  return {.attributes = {{"reduction", std::string(name)}, {"axis", axis}}};
}

TEST(Scatter, ElementsWithEachReduction) {
  const Tensor x = Tensor::of<float>({1, 5}, {1, 2, 3, 4, 5}), at = Tensor::of<int64_t>({1, 3}, {1, -2, 1});
  const Tensor u = Tensor::of<float>({1, 3}, {10, 2, 20});
  const auto run = [&](const char* how) { return run_op("ScatterElements", {x, at, u}, reduction(how, 1)); };
  expect_equal(run("none"), Tensor::of<float>({1, 5}, {1, 20, 3, 2, 5}));
  expect_equal(run("add"), Tensor::of<float>({1, 5}, {1, 32, 3, 6, 5}));
  expect_equal(run("mul"), Tensor::of<float>({1, 5}, {1, 400, 3, 8, 5}));
  expect_equal(run("max"), Tensor::of<float>({1, 5}, {1, 20, 3, 4, 5}));
  expect_equal(run("min"), Tensor::of<float>({1, 5}, {1, 2, 3, 2, 5}));
  expect_equal(run_op("Scatter", {x, at, u}, {.attributes = {{"axis", int64_t{1}}}}), run("none"));
}

TEST(Scatter, ND) {
  const Tensor x = Tensor::of<int64_t>({2, 2}, {1, 2, 3, 4});
  expect_equal(run_op("ScatterND", {x, Tensor::of<int64_t>({1, 1}, {1}), Tensor::of<int64_t>({1, 2}, {7, 8})}),
               Tensor::of<int64_t>({2, 2}, {1, 2, 7, 8}));
  expect_equal(run_op("ScatterND", {x, Tensor::of<int64_t>({2, 2}, {0, 0, 0, 0}), Tensor::of<int64_t>({2}, {5, 6})},
                      {.attributes = {{"reduction", std::string("add")}}, .in_place = true}),
               Tensor::of<int64_t>({2, 2}, {12, 2, 3, 4}));
}

TEST(Scatter, SkipsIndicesOutOfRange) {
  const Tensor x = Tensor::of<float>({2}, {1, 2}), at = Tensor::of<int64_t>({2}, {5, -9}),
               u = Tensor::of<float>({2}, {8, 9});
  expect_equal(run_op("ScatterElements", {x, at, u}), x);
  expect_equal(run_op("ScatterND", {x, at.reshaped({2, 1}), u}), x);
}

TEST(Scatter, SaysWhatIsWrong) {
  const Tensor x = random_f32({2}), at = Tensor::of<int64_t>({2}, {0, 1});
  expect_error(Code::invalid_argument, "attribute 'reduction' is 'avg'",
               [&] { run_op("ScatterElements", {x, at, x}, reduction("avg")); });
  expect_error(Code::invalid_argument, "input 2 has shape [3], expected [2]",
               [&] { run_op("ScatterElements", {x, at, random_f32({3})}); });
  expect_error(Code::invalid_argument, "the last dim of input 1 is 2, expected 1 to 1",
               [&] { run_op("ScatterND", {x, at, x}); });
}

}  // namespace
}  // namespace nxrt::test
