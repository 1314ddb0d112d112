// Runs the standard's node tests: for each folder named on the command line, runs model.onnx on the inputs in data.onnx
// and compares with its outputs. Prints one line per case, "pass NAME" or "fail NAME: reason", as soon as it is known.
//
// data.onnx holds initializers only: "input/NAME" and "output/NAME", and the scalars "rtol" and "atol".
// tests/tools/onnx_node_tests.py writes the folders and reads the lines.
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>

#include "base/error.h"
#include "kernels/kernels.h"
#include "onnx/reader.h"
#include "support/interpreter.h"
#include "support/op_runner.h"

namespace nxrt::test {
namespace {

struct Case {
  std::map<std::string, Tensor> inputs, outputs;
  double rtol = 1e-3, atol = 1e-7;
};

Case read_data(const std::filesystem::path& file) {
  Case data;
  const auto graph = read_model(file);
  for (const ValueId id : graph->values()) {
    const Value& value = graph->value(id);
    if (!value.constant) continue;
    if (value.name.starts_with("input/")) data.inputs[value.name.substr(6)] = *value.constant;
    if (value.name.starts_with("output/")) data.outputs[value.name.substr(7)] = *value.constant;
    if (value.name == "rtol") data.rtol = value.constant->data<double>()[0];
    if (value.name == "atol") data.atol = value.constant->data<double>()[0];
  }
  return data;
}

bool close(double actual, double expected, const Case& data) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return true;
  return std::abs(actual - expected) <= data.atol + data.rtol * std::abs(expected);
}

// "" when they agree.
std::string difference(const Tensor& actual, const Tensor& expected, const Case& data) {
  if (actual.dtype() != expected.dtype() || !(actual.shape() == expected.shape())) {
    return fmt::format("{}{}, expected {}{}", name_of(actual.dtype()), actual.shape().text(), name_of(expected.dtype()),
                       expected.shape().text());
  }
  if (!is_float(actual.dtype())) {
    const bool equal =
        actual.bytes() == 0 || std::memcmp(actual.raw(), expected.raw(), static_cast<size_t>(actual.bytes())) == 0;
    return equal ? "" : "values differ";
  }
  const Tensor a = to_f32(actual), e = to_f32(expected);
  for (int64_t i = 0; i < a.count(); ++i) {
    const double x = a.data<float>()[i], y = e.data<float>()[i];
    if (!close(x, y, data)) return fmt::format("element {} is {}, expected {}", i, x, y);
  }
  return "";
}

std::string run_case(const std::filesystem::path& folder) {
  const Case data = read_data(folder / "data.onnx");
  const auto graph = read_model(folder / "model.onnx");
  const auto results = interpret(*graph, data.inputs, kernels_for(best_isa()));
  for (const auto& [name, expected] : data.outputs) {
    const auto found = results.find(name);
    if (found == results.end()) return "no output " + name;
    const std::string what = difference(found->second, expected, data);
    if (!what.empty()) return name + ": " + what;
  }
  return "";
}

std::string outcome(const std::filesystem::path& folder) {
  try {
    return run_case(folder);
  } catch (const Error& error) {
    return error.message();
  }
}

}  // namespace
}  // namespace nxrt::test

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path folder = argv[i];
    const std::string reason = nxrt::test::outcome(folder);
    if (reason.empty()) {
      fmt::print("pass {}\n", folder.filename().string());
    } else {
      fmt::print("fail {}: {}\n", folder.filename().string(), reason);
    }
    std::fflush(stdout);
  }
  return 0;
}
