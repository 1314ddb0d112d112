// Any bytes as a GGUF file: metadata, tokenizer, configuration and the first block of every tensor.
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/error.h"
#include "convert/ggml_blocks.h"
#include "convert/gguf_file.h"
#include "convert/gguf_tokenizer.h"
#include "convert/llama_config.h"

namespace {

template <class Action>
void tolerate_errors(const Action& action) {
  try {
    action();
  } catch (const nxrt::Error&) {  // the promised answer to bad bytes
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace genai;
  tolerate_errors([&] {
    const auto file = GgufFile::parse({reinterpret_cast<const std::byte*>(data), size}, nullptr, "fuzz.gguf");
    tolerate_errors([&] { read_llama_config(*file); });
    tolerate_errors([&] { read_gguf_tokenizer(*file); });
    std::array<float, 256> out;
    for (const GgufTensor& tensor : file->tensors()) {
      dequantize(tensor.type, tensor.data.data(), info_of(tensor.type).block_elements, out.data());
    }
  });
  return 0;
}
