// Splits m rows into register blocks of at most `largest` (8, 6 or 4) rows, each block's size a compile-time constant.
// A row's arithmetic is the same in every block, so the split never shows in a result.
#pragma once

#include <cstdint>

namespace nxrt::portable {

template <int n>
struct Count {
  static constexpr int value = n;
};

template <int largest, class Body>
void each_row_block(int64_t m, Body body) {
  int64_t i = 0;
  for (; m - i >= largest; i += largest) body(i, Count<largest>{});
  if constexpr (largest > 4) {
    if (m - i >= 4) body(i, Count<4>{}), i += 4;
  }
  if (m - i >= 2) body(i, Count<2>{}), i += 2;
  if (m - i >= 1) body(i, Count<1>{});
}

}  // namespace nxrt::portable
