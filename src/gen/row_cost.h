// What a step takes by its number of decode rows: learned from measured steps, reckoned between and beyond them.
//
//   cost.record(4, 12.5);  …  double ms = cost.ms(6);
//
// Threads: one. Errors: none.
#pragma once

#include <array>

namespace genai {

class RowCost {
 public:
  static constexpr int kMostRows = 256;  // more rows cost what these cost

  void record(int rows, double ms);
  bool known() const { return lowest_ <= highest_; }
  double ms(int rows) const;  // rows >= 1; known() must be true

 private:
  struct Measured {
    double ms = 0;
    int steps = 0;
  };
  double share() const;

  std::array<Measured, kMostRows + 1> measured_{};
  int lowest_ = kMostRows + 1, highest_ = 0;  // measured row counts
};

}  // namespace genai
