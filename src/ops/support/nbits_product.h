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

// How exactly activations enter the product. Integer terms share one scale per block of K and meet the weights in exact
// integer dot products; `int16` is two int8 terms, the second one holding what the first one rounded away (about 15
// bits). Both read the weights once, so a decode step, bound by memory, costs the same with either.
enum class Activations { f32, int8, int16 };

// MatMulNBits' accuracy_level: 4 allows int8; 2 and 3 (f16, bf16) need more than 8 bits; else f32.
Activations activations_for(int64_t accuracy_level);
std::string_view name_of(Activations activations);  // "f32", "q8", "q16": in the ledger's route

struct NBitsProduct {
  const Kernels& cpu;
  std::shared_ptr<const PackedNBits> weights;
  Activations activations;
  int bias;               // input number of the bias [n]; -1: the operator has none
  std::string op, route;  // for the dispatch ledger

  // input 0: [..., k] of f32, f16 or bf16; output 0: [..., n] of the same type.
  void run(const Args& args, Workers& workers) const;
  int64_t workspace(const Args& args, int width) const;
};

}  // namespace nxrt::ops
