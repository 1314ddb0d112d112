// Do the shapes of a run fit together? Inference over symbols can't tell whether N equals M; once the numbers are known
// it can. Each operator is asked again, once for each combination of the symbols it depends on.
//
// Errors: those of infer: Error{invalid_argument} at the node. Memory: remembers at most kMaxRemembered combinations
// per group.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "exec/plan.h"

namespace nxrt::exec {

class ShapeCheck {
 public:
  static constexpr size_t kMaxRemembered = 65'536;
  ShapeCheck(const Graph& graph, const Plan& plan, std::string where);
  void check(std::span<const int64_t> symbols);

 private:
  struct Group {
    std::vector<int> symbols;
    std::vector<int> steps;
    std::set<std::vector<int64_t>> seen;
  };
  void check_step(const Step& step, std::span<const int64_t> symbols) const;

  const Graph& graph_;
  const Plan& plan_;
  std::string where_;
  std::vector<Group> groups_;
};

}  // namespace nxrt::exec
