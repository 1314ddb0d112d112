// Properties of any graph: the planned arena changes no bit, the passes change no result, other shapes reuse the
// session.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <cstring>

#include "exec/session.h"
#include "graph/text.h"
#include "support/op_runner.h"
#include "support/random_graph.h"
#include "support/random_inputs.h"

namespace nxrt::exec {
namespace {

using Results = std::map<std::string, Tensor>;

struct Subject {
  std::string text;
  uint32_t seed;
  Workers& workers;

  std::unique_ptr<Session> prepare(SessionOptions options) const {
    options.verify = true;
    return Session::prepare(parse_graph(text, "random"), "random", workers, options);
  }
  std::map<std::string, Tensor> inputs(int64_t b, int64_t s) const {
    return test::random_inputs(*parse_graph(text, "random"), seed, {{"B", b}, {"S", s}});
  }
};

Subject any_subject(Workers& workers) {
  const auto seed = *rc::gen::arbitrary<uint32_t>();
  const int nodes = *rc::gen::inRange(1, 40);
  return {test::random_graph(seed, nodes), seed, workers};
}

void expect_same_bits(const Results& a, const Results& b) {
  RC_ASSERT(a.size() == b.size());
  for (const auto& [name, tensor] : a) {
    const Tensor& other = b.at(name);
    RC_ASSERT(tensor.shape() == other.shape());
    RC_ASSERT(tensor.bytes() == 0 || std::memcmp(tensor.raw(), other.raw(), static_cast<size_t>(tensor.bytes())) == 0);
  }
}

TEST(RandomGraph, ThePlannedArenaIsBitIdenticalToABufferPerValue) {
  Workers workers(2);
  EXPECT_TRUE(rc::check([&] {
    const Subject subject = any_subject(workers);
    RC_LOG() << subject.text;
    const bool optimize = *rc::gen::arbitrary<bool>();
    const auto planned = subject.prepare({.optimize = optimize});
    const auto apart = subject.prepare({.optimize = optimize, .share_buffers = false});
    for (const auto& [b, s] : {std::pair(1, 3), {2, 5}, {1, 1}, {3, 0}, {2, 17}}) {
      const auto inputs = subject.inputs(b, s);
      expect_same_bits(planned->run(inputs), apart->run(inputs));
    }
    RC_ASSERT(planned->activation_bytes() <= apart->activation_bytes());
  }));
}

TEST(RandomGraph, ThePassesChangeNoResult) {
  Workers workers(1);
  EXPECT_TRUE(rc::check([&] {
    const Subject subject = any_subject(workers);
    RC_LOG() << subject.text;
    const auto inputs = subject.inputs(2, 3);
    const Results plain = subject.prepare({.optimize = false})->run(inputs);
    const Results optimized = subject.prepare({})->run(inputs);
    RC_ASSERT(plain.size() == optimized.size());
    for (const auto& [name, tensor] : plain) {
      RC_ASSERT(tensor.shape() == optimized.at(name).shape());
      for (int64_t i = 0; i < tensor.count(); ++i) {
        const float a = tensor.data<float>()[i], b = optimized.at(name).data<float>()[i];
        RC_ASSERT(std::abs(a - b) <= 1e-4f * std::max(1.0f, std::abs(a)) || (std::isnan(a) && std::isnan(b)) || a == b);
      }
    }
  }));
}

TEST(RandomGraph, ABoundedSessionEqualsAnUnboundedOne) {
  Workers workers(2);
  EXPECT_TRUE(rc::check([&] {
    const Subject subject = any_subject(workers);
    RC_LOG() << subject.text;
    const auto bounded = subject.prepare({.symbol_bounds = {{"B", 2}, {"S", 16}}});
    const int64_t arena = bounded->activation_bytes();
    for (const auto& [b, s] : {std::pair(2, 16), {1, 1}, {2, 3}}) {
      const auto inputs = subject.inputs(b, s);
      expect_same_bits(bounded->run(inputs), subject.prepare({})->run(inputs));
    }
    RC_ASSERT(bounded->activation_bytes() == arena);
  }));
}

}  // namespace
}  // namespace nxrt::exec
