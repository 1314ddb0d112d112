// Pieces of shape rules that many operators share.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "ops/op.h"

namespace nxrt::ops {

// {input 0's type}, without its elements: most elementwise operators.
std::vector<TensorType> like_input(const NodeView& node);

// Broadcast of inputs 0 and 1; the rank stays unknown when one of theirs is.
std::optional<SymShape> broadcast_inputs(const NodeView& node, int a, int b);

// Applies `f` to the known elements of inputs 0 and 1, broadcast against each other; nothing when they aren't known.
using ElementRule = std::function<Dim(const Dim& a, const Dim& b)>;
std::optional<std::vector<Dim>> combine_elements(const NodeView& node, const ElementRule& f);

// Elements `type` may carry: dropped when too many or when the shape is not their count.
TensorType with_elements(TensorType type, std::optional<std::vector<Dim>> elements);

// Bytes of one element of input i; refuses strings and types smaller than a byte.
int64_t element_bytes(const NodeView& node, int i);

// True when the polynomial is >= 0 for all non-negative symbols: no negative coefficient.
bool surely_nonnegative(const Dim& dim);

// A list of `rank` unknown dims.
SymShape unknown_dims(int rank);

// Axes from an attribute or an integer input (whichever the version has), normalised and checked for repeats. Nothing
// when the input is not known before running; `fallback` when neither is given.
std::optional<std::vector<int>> axes_of(const NodeView& node, int input, int rank);

// Reads an integer tensor (i32 or i64) while running.
int64_t index_at(const Args& args, int input, int64_t i);

}  // namespace nxrt::ops
