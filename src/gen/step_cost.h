// How many prompt rows fit into a step without making running streams wait longer than `max_step_ms`. Learns from
// measured steps: what a decode-only step takes, and what each prompt row adds (more as the context grows).
//
//   int rows = cost.prompt_rows(decode_rows);  …  cost.record(decode_rows, prompt_rows, elapsed_ms);
//
// Threads: one. Errors: none.
#pragma once

namespace genai {

class StepCost {
 public:
  static constexpr int kLeastRows = 4;   // a prompt always makes progress
  static constexpr int kFirstRows = 32;  // of the first chunk beside running streams
  // Of max_step_ms, what a step is planned to take: steps vary, and the bound is on nearly all of them.
  static constexpr double kAim = 0.8;

  StepCost(double max_step_ms, int max_step_rows) : max_step_ms_(max_step_ms), max_rows_(max_step_rows) {}
  int prompt_rows(int decode_rows) const;  // nobody decodes: nobody waits, so all rows
  void record(int decode_rows, int prompt_rows, double ms);
  double decode_ms() const { return decode_ms_; }
  double prompt_row_ms() const { return prompt_row_ms_; }

 private:
  double max_step_ms_;
  int max_rows_;
  int last_chunk_ = 0;        // prompt rows beside running streams in the latest step
  double decode_ms_ = 0;      // of a step without prompt rows
  double prompt_row_ms_ = 0;  // each prompt row on top; 0: not measured
};

}  // namespace genai
