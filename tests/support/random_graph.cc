#include "support/random_graph.h"

#include <fmt/format.h>

#include <random>
#include <vector>

namespace nxrt::test {
namespace {

// Every value is f32[B, S, columns], so that any two with equal columns can meet.
struct Known {
  std::string name;
  int columns;
};

class Builder {
 public:
  explicit Builder(uint32_t seed) : random_(seed) {}

  std::string build(int nodes) {
    values_ = {{"x", 4}, {"z", 8}};
    for (int i = 0; i < nodes; ++i) add();
    const std::string last = values_.back().name, other = pick().name;
    const bool two = last != other && other != "x" && other != "z";
    return fmt::format(
        "(f32[B, S, 4] x, f32[B, S, 8] z, f32[4] c4 = {{0.5, -1, 2, 0.25}}, f32[8] c8 = {{1, -1, 0.5...}},\n"
        " f32[4, 8] w48 = {{0.5, -0.25, 0.125...}}, f32[8, 4] w84 = {{-0.5, 0.25, 0.0625...}},\n"
        " i64[4] split4 = {{0, 0, 2, 2}}, i64[4] split8 = {{0, 0, 2, 4}}, i64[1] axes = {{-1}},\n"
        " i64[3] join4 = {{0, 0, 4}}, i64[3] join8 = {{0, 0, 8}}) => ({}{}) {{\n{}}}\n",
        last, two ? ", " + other : "", body_);
  }

 private:
  int below(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }
  // Recent values are likelier: long chains with some far uses.
  const Known& pick() {
    const int size = static_cast<int>(values_.size());
    return values_[static_cast<size_t>(below(3) ? std::max(0, size - 1 - below(3)) : below(size))];
  }
  std::string fresh() { return fmt::format("v{}", ++count_); }
  std::string partner(int columns) {
    for (int tries = 0; tries < 4; ++tries) {
      if (const Known& other = pick(); other.columns == columns) return other.name;
    }
    return fmt::format("c{}", columns);
  }
  void line(const std::string& text) { body_ += "  " + text + "\n"; }
  void result(const std::string& name, int columns) { values_.push_back({name, columns}); }

  void add() {
    const Known a = pick();
    const std::string y = fresh();
    switch (below(7)) {
      case 0:
      case 1: {
        static constexpr const char* kUnary[] = {"Neg", "Tanh", "Sigmoid", "Relu", "Abs", "Erf"};
        line(fmt::format("{} = {}({})", y, kUnary[below(6)], a.name));
        return result(y, a.columns);
      }
      case 2: {
        static constexpr const char* kBinary[] = {"Add", "Sub", "Mul", "Max"};
        line(fmt::format("{} = {}({}, {})", y, kBinary[below(4)], a.name, partner(a.columns)));
        return result(y, a.columns);
      }
      case 3: {
        line(fmt::format("{} = MatMul({}, {})", y, a.name, a.columns == 4 ? "w48" : "w84"));
        return result(y, 12 - a.columns);
      }
      case 4: {  // [B, S, c] → [B, S, 2, c/2] → swap the last two → [B, S, c]
        const std::string s = fresh(), t = fresh();
        line(fmt::format("{} = Reshape({}, split{})", s, a.name, a.columns));
        line(fmt::format("{} = Transpose<perm = [0, 1, 3, 2]>({})", t, s));
        line(fmt::format("{} = Reshape({}, join{})", y, t, a.columns));
        return result(y, a.columns);
      }
      case 5: {
        if (a.columns == 8) return line(fmt::format("{} = Neg({})", y, a.name)), result(y, 8);
        line(fmt::format("{} = Concat<axis = 2>({}, {})", y, a.name, a.name));
        return result(y, 8);
      }
      default: {
        const std::string r = fresh();
        line(fmt::format("{} = ReduceMean({}, axes)", r, a.name));
        line(fmt::format("{} = Sub({}, {})", y, a.name, r));
        return result(y, a.columns);
      }
    }
  }

  std::mt19937 random_;
  std::vector<Known> values_;
  std::string body_;
  int count_ = 0;
};

}  // namespace

std::string random_graph(uint32_t seed, int nodes) { return Builder(seed).build(nodes); }

}  // namespace nxrt::test
