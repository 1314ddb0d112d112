// TensorProto and SparseTensorProto → Tensor.
//
// Memory: raw_data that is aligned for its element type is shared with the file, everything else is copied.
#pragma once

#include <string>

#include "base/tensor.h"
#include "onnx/read_context.h"

namespace nxrt::onnx {

struct NamedTensor {
  std::string name;
  Tensor tensor;
};

// `at`: the place of the tensor's owner, "" for an initializer; errors add the tensor's name.
NamedTensor read_tensor(ReadContext& context, Bytes message, const std::string& at);
NamedTensor read_sparse_tensor(ReadContext& context, Bytes message, const std::string& at);  // made dense

}  // namespace nxrt::onnx
