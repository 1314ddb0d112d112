// Transpose, ai.onnx 1: output dim d is input dim perm[d]; without perm the dims are reversed.
#include <fmt/format.h>

#include "ops/support/infer.h"
#include "ops/support/strided_copy.h"

namespace nxrt::ops {
namespace {

std::vector<int> permutation(const NodeView& node) {
  const int rank = node.rank(0);
  std::vector<int64_t> given;
  for (int d = rank - 1; d >= 0; --d) given.push_back(d);
  given = node.ints("perm", given);
  std::vector<bool> seen(static_cast<size_t>(rank));
  std::vector<int> perm;
  for (const int64_t p : given) {
    if (p < 0 || p >= rank || seen[static_cast<size_t>(p)]) break;
    seen[static_cast<size_t>(p)] = true;
    perm.push_back(static_cast<int>(p));
  }
  if (perm.size() != static_cast<size_t>(rank) || given.size() != perm.size()) {
    node.fail(fmt::format("attribute 'perm' is no permutation of the {} dims of input 0", rank));
  }
  return perm;
}

std::vector<TensorType> infer(const NodeView& node) {
  element_bytes(node, 0);
  if (!node.has_shape(0)) return {{node.input(0).dtype, {}, {}}};
  std::vector<Dim> dims;
  for (const int p : permutation(node)) dims.push_back(node.shape(0)[p]);
  TensorType type{node.input(0).dtype, SymShape(dims), {}};
  if (dims.size() <= 1) return {with_elements(std::move(type), node.elements(0))};
  return {std::move(type)};
}

Kernel prepare(const NodeView& node, Prepare&) {
  return [perm = permutation(node), size = element_bytes(node, 0)](const Args& args, Workers& workers) {
    const auto from = strides_of(args.shape(0)), to = strides_of(args.out_shape(0));
    StridedCopy copy;
    for (size_t d = 0; d < perm.size(); ++d) {
      copy.add(args.out_shape(0)[static_cast<int>(d)], from[static_cast<size_t>(perm[d])], to[d]);
    }
    copy.run(args.in(0), args.out(0), size, workers);
  };
}

}  // namespace

std::span<const OpDef> transpose() {
  static constexpr OpDef kTable[] = {{.name = "Transpose", .since = 1, .infer = infer, .prepare = prepare}};
  return kTable;
}

}  // namespace nxrt::ops
