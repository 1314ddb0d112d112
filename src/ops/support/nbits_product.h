// y = x · Wᵀ (+ bias) with W in few bits: what MatMulNBits and BlockQuantizedMatMul run once W is packed.
//
// Rows:   a row's result depends on that row alone.
// Memory: scratch comes from the node's workspace; the weights live as long as the kernel.
#pragma once

#include <memory>
#include <string>

#include "kernels/pack.h"
#include "ops/op.h"

namespace nxrt::ops {

struct NBitsProduct {
  const Kernels& cpu;
  std::shared_ptr<const PackedNBits> weights;
  bool int8_activations;
  int bias;               // input number of the bias [n]; -1: the operator has none
  std::string op, route;  // for the dispatch ledger

  // input 0: [..., k] of f32, f16 or bf16; output 0: [..., n] of the same type.
  void run(const Args& args, Workers& workers) const;
  int64_t workspace(const Args& args, int width) const;
};

}  // namespace nxrt::ops
