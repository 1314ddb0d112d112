// How a matrix product [m, n] is shared among workers: over panels of output columns, and over rows too when there are
// too few panels to go round. Rows are then taken in blocks that stay in cache while the panels stream past.
//
//   each_tile(workers, m, w.panels(), [&](int64_t row, int64_t rows, int64_t panel_begin, int64_t panel_end, int
//   worker) { … });
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/workers.h"

namespace nxrt::ops {

inline constexpr int64_t kTileRows = 128;

template <class F>
void each_tile(Workers& workers, int64_t m, int64_t panels, F&& body) {
  const int64_t wanted = 4 * workers.width();  // units per worker that even out the last one
  const int64_t most = (m + 15) / 16;          // a shard of fewer rows would read the weights for too little work
  const int64_t row_shards = panels >= wanted ? 1 : std::clamp<int64_t>((wanted + panels - 1) / panels, 1, most);
  const int64_t shard_rows = (m + row_shards - 1) / row_shards;
  workers.shards(row_shards * panels, 1, [&](int64_t begin, int64_t end, int worker) {
    while (begin < end) {
      const int64_t shard = begin / panels, stop = std::min(end, (shard + 1) * panels);
      const int64_t last_row = std::min(m, (shard + 1) * shard_rows);
      for (int64_t row = shard * shard_rows; row < last_row; row += kTileRows) {
        body(row, std::min(kTileRows, last_row - row), begin - shard * panels, stop - shard * panels, worker);
      }
      begin = stop;
    }
  });
}

}  // namespace nxrt::ops
