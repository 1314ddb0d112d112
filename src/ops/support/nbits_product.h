// yᵢ = x · Wᵢᵀ (+ biasᵢ) with Wᵢ in few bits: what MatMulNBits, its group and BlockQuantizedMatMul run once the Wᵢ are
// packed. The parts share x: it is quantized once, and workers share out the columns of all of them at once.
//
// Rows:   a row's result depends on that row alone.
// Memory: scratch comes from the node's workspace; the weights live as long as the kernel.
#pragma once

#include <memory>
#include <string>
#include <vector>

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

struct NBitsPart {
  std::shared_ptr<const PackedNBits> weights;  // k and block are those of every part
  int bias = -1;                               // input number of the bias [n]; -1: the operator has none
};

struct NBitsProduct {
  static constexpr int kMostParts = 8;
  const Kernels& cpu;
  std::vector<NBitsPart> parts;
  Activations activations;
  std::string op, route;  // for the dispatch ledger
  bool gated = false;     // two parts, gate and up, and one output: silu(gate) · up

  // input 0: [..., k] of f32, f16 or bf16; output i: [..., nᵢ] of the same type.
  void run(const Args& args, Workers& workers) const;
  int64_t workspace(const Args& args, int width) const;
};

}  // namespace nxrt::ops
