#include "gen/row_cost.h"

#include <algorithm>

namespace genai {
namespace {

// A row beyond the first takes this share of what a step of one row takes, until two row counts were measured.
constexpr double kFirstShare = 0.25;
constexpr double kLeastShare = 0.01, kMostShare = 1;
constexpr int kSteadySteps = 12;  // the mean of about so many steps counts
constexpr double kHiccup = 2;     // a step that took longer by more than this says so much and no more

double reckon(double ms, int rows, int wanted, double share) {
  return ms * (1 + share * (wanted - 1)) / (1 + share * (rows - 1));
}

}  // namespace

void RowCost::record(int rows, double ms) {
  rows = std::clamp(rows, 1, kMostRows);
  Measured& m = measured_[rows];
  if (m.steps > 1) ms = std::min(ms, kHiccup * m.ms);
  m.steps = std::min(m.steps + 1, kSteadySteps);
  m.ms += (ms - m.ms) / m.steps;
  lowest_ = std::min(lowest_, rows);
  highest_ = std::max(highest_, rows);
}

double RowCost::share() const {
  if (lowest_ == highest_) return kFirstShare;
  const double ratio = measured_[highest_].ms / measured_[lowest_].ms;
  const double rest = (highest_ - 1) - ratio * (lowest_ - 1);
  return rest <= 0 ? kMostShare : std::clamp((ratio - 1) / rest, kLeastShare, kMostShare);
}

double RowCost::ms(int rows) const {
  rows = std::clamp(rows, 1, kMostRows);
  int below = rows, above = rows;
  while (below > 0 && measured_[below].steps == 0) --below;
  while (above <= kMostRows && measured_[above].steps == 0) ++above;
  if (below == rows) return measured_[rows].ms;
  if (below == 0) return reckon(measured_[above].ms, above, rows, share());
  if (above > kMostRows) return reckon(measured_[below].ms, below, rows, share());
  const double part = static_cast<double>(rows - below) / (above - below);
  return measured_[below].ms + part * (measured_[above].ms - measured_[below].ms);
}

}  // namespace genai
