#include "kernels/kernels.h"

#include <array>

namespace nxrt {
namespace {

constexpr int kIsaCount = static_cast<int>(Isa::neon) + 1;

Kernels build(Isa isa) {
  Kernels k;
  scalar::install(k);
  k.isa = isa;
  return k;
}

std::array<Kernels, kIsaCount> build_all() {
  std::array<Kernels, kIsaCount> tables;
  for (int i = 0; i < kIsaCount; ++i) tables[i] = build(static_cast<Isa>(i));
  return tables;
}

}  // namespace

const Kernels& kernels_for(Isa isa) {
  static const std::array<Kernels, kIsaCount> tables = build_all();
  return tables[static_cast<int>(isa)];
}

}  // namespace nxrt
