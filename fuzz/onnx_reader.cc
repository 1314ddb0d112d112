// An ONNX file from anywhere: it reads, or it is refused; what reads can be written and read again.
#include "onnx/reader.h"

#include <memory>
#include <vector>

#include "onnx/writer.h"
#include "support/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nxrt;
  fuzz::expect_result_or_error([&] {
    const auto bytes = std::as_bytes(std::span(data, size));
    const auto graph = read_model_bytes(bytes, nullptr, {}, "fuzz", {.max_nodes = 10'000});
    const auto again = std::make_shared<const std::string>(model_bytes(*graph));
    read_model_bytes(std::as_bytes(std::span(*again)), again, {}, "again");
  });
  return 0;
}
