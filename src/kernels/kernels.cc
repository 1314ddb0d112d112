#include "kernels/kernels.h"

#include <array>

namespace nxrt {
namespace {

constexpr int kIsaCount = static_cast<int>(Isa::neon) + 1;

// Each table is the weaker one with the stronger ISA's functions on top. AMX has no kernels of its own yet, so its
// table is VNNI's; NEON's is the scalar one.
Kernels build([[maybe_unused]] Isa isa) {
  Kernels k;
  scalar::install(k);
#if defined(__x86_64__)
  const bool x86 = isa != Isa::neon;
  if (x86 && isa >= Isa::avx2) avx2::install(k);
  if (x86 && isa >= Isa::avx512) avx512::install(k);
  if (x86 && isa >= Isa::vnni) vnni::install(k);
#endif
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
