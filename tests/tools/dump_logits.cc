// Runs a decoder as the plain ONNX graph it is, past and present tensors included, for tests/e2e/stock_onnxruntime.py.
//
//   dump_logits MODEL.onnx LOGITS < "1 2 3 4"      writes [tokens, vocab] floats
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include "base/cpu.h"
#include "base/workers.h"
#include "exec/session.h"

namespace {

using nxrt::DType;
using nxrt::Tensor;

Tensor logits_of(nxrt::exec::Session& session, const std::vector<int64_t>& ids) {
  const auto length = static_cast<int64_t>(ids.size());
  std::map<std::string, Tensor> inputs;
  for (const nxrt::exec::Port& port : session.inputs()) {
    if (!port.name.starts_with("past_key_values")) continue;
    const auto& dims = *port.type.shape;
    inputs[port.name] = Tensor::zeros(port.type.dtype, {1, *dims[1].constant(), 0, *dims[3].constant()});
  }
  inputs["input_ids"] = Tensor::of<int64_t>({1, length}, ids);
  inputs["attention_mask"] = Tensor::of<int64_t>({1, length}, std::vector<int64_t>(ids.size(), 1));
  return session.run(inputs).at("logits");
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<int64_t> ids(std::istream_iterator<int64_t>(std::cin), {});
  try {
    if (argc != 3) throw nxrt::Error(nxrt::Code::invalid_argument, "usage: dump_logits MODEL.onnx LOGITS < token ids");
    nxrt::Workers workers(nxrt::allowed_cpus());
    const Tensor logits = logits_of(*nxrt::exec::Session::open(argv[1], workers), ids);
    std::ofstream(argv[2], std::ios::binary).write(reinterpret_cast<const char*>(logits.raw()), logits.bytes());
  } catch (const nxrt::Error& error) {
    std::cerr << error.text() << "\n";
    return 1;
  }
}
