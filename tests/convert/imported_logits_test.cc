// Imported packages, run by our session, against the logits of a numpy llama on the GGUF's own tensors.
#include <algorithm>
#include <cmath>

#include "base/workers.h"
#include "convert/fixtures.h"
#include "convert/import.h"
#include "exec/session.h"

namespace genai {
namespace {

using nxrt::DType;
using nxrt::Shape;
using nxrt::Tensor;

Tensor run_prompt(nxrt::exec::Session& session, const std::vector<int64_t>& ids) {
  const int64_t length = static_cast<int64_t>(ids.size());
  std::map<std::string, Tensor> inputs;
  for (const nxrt::exec::Port& port : session.inputs()) {
    if (!port.name.starts_with("past_key_values")) continue;
    const auto& dims = *port.type.shape;
    inputs[port.name] = Tensor::zeros(DType::f32, {1, *dims[1].constant(), 0, *dims[3].constant()});
  }
  inputs["input_ids"] = Tensor::of<int64_t>({1, length}, ids);
  inputs["attention_mask"] = Tensor::of<int64_t>({1, length}, std::vector<int64_t>(ids.size(), 1));
  return session.run(inputs).at("logits");
}

struct Case {
  const char* file;
  Precision precision;
  float tolerance;  // of the largest logit
  const char* name;
};

class ImportedLogits : public testing::TestWithParam<Case> {};

TEST_P(ImportedLogits, EqualTheReference) {
  test::TemporaryFolder top;
  const Case& param = GetParam();
  import_model({.source = test::tiny_gguf(param.file), .target = top.path() / "m", .precision = param.precision},
               nullptr);
  nxrt::Workers workers(1);
  const auto session = nxrt::exec::Session::open(top.path() / "m/model.onnx", workers);
  const nlohmann::json golden = test::golden(std::string(param.file) + ".json");
  const std::vector<float> wanted = golden["logits"];
  const Tensor logits = run_prompt(*session, golden["prompt"]);
  ASSERT_EQ(logits.count(), static_cast<int64_t>(wanted.size()));
  float largest = 0, off = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    largest = std::max(largest, std::abs(wanted[i]));
    off = std::max(off, std::abs(logits.data<float>()[i] - wanted[i]));
  }
  EXPECT_LE(off, param.tolerance * largest);
}

// With few bits activations are rounded to 8 bits as well, which is most of the tolerance.
INSTANTIATE_TEST_SUITE_P(
    , ImportedLogits,
    testing::Values(Case{"q4_1", Precision::f32, 1e-4f, "q4_1_f32"}, Case{"mixed", Precision::f32, 1e-4f, "mixed_f32"},
                    Case{"k", Precision::f32, 1e-4f, "k_f32"}, Case{"qwen3", Precision::f32, 1e-4f, "qwen3_f32"},
                    Case{"mixed", Precision::f16, 5e-3f, "mixed_f16"},
                    Case{"q4_1", Precision::keep, 5e-2f, "q4_1_keep"},
                    Case{"mixed", Precision::keep, 8e-2f, "mixed_keep"}, Case{"k", Precision::keep, 5e-2f, "k_keep"},
                    Case{"qwen3", Precision::keep, 5e-2f, "qwen3_keep"}),
    [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace genai
