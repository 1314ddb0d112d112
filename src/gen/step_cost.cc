#include "gen/step_cost.h"

#include <algorithm>

namespace genai {
namespace {
constexpr double kFall = 0.3;  // a cheaper step is believed slowly, a dearer one at once: the bound is what counts
constexpr int kGrowth = 2;     // from chunk to chunk: the price of a row was learnt at another size and context

void learn(double& estimate, double measured) {
  estimate = measured > estimate ? measured : estimate + kFall * (measured - estimate);
}
}  // namespace

int StepCost::prompt_rows(int decode_rows) const {
  const int room = max_rows_ - decode_rows;
  if (decode_rows == 0 || max_step_ms_ <= 0) return room;
  const int tried = std::max(kFirstRows, kGrowth * last_chunk_);
  const double rows = prompt_row_ms_ > 0 ? (kAim * max_step_ms_ - decode_ms_) / prompt_row_ms_ : tried;
  return std::clamp(static_cast<int>(std::min<double>(rows, tried)), std::min(kLeastRows, room), room);
}

void StepCost::record(int decode_rows, int prompt_rows, double ms) {
  last_chunk_ = decode_rows > 0 ? prompt_rows : 0;
  if (prompt_rows == 0) {
    learn(decode_ms_, ms);
  } else {
    const double rest = decode_rows > 0 ? ms - decode_ms_ : ms;
    learn(prompt_row_ms_, std::max(rest, 0.05 * ms) / prompt_rows);
  }
}

}  // namespace genai
