// The textproto form of a model.
#include "onnx/textproto.h"

#include "support/fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nxrt;
  fuzz::expect_result_or_error([&] { onnx::textproto_to_wire(fuzz::text_of(data, size), "fuzz"); });
  return 0;
}
