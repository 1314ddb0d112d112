// Small integer tensors as lists of dims: how Shape → Gather → Concat → Reshape chains are followed before running.
#pragma once

#include <optional>
#include <vector>

#include "base/tensor.h"
#include "graph/tensor_type.h"

namespace nxrt::ops {

// The elements of an integer or bool tensor with at most kMaxPropagatedElements elements; nothing otherwise.
std::optional<std::vector<Dim>> elements_of(const Tensor& tensor);

}  // namespace nxrt::ops
