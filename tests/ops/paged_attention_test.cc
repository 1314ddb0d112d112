#include <rapidcheck.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

#include "base/dispatch_ledger.h"
#include "base/process_gate.h"
#include "ops/paged_step.h"
#include "support/every_isa.h"
#include "support/op_runner.h"

namespace nxrt::test {
namespace {

struct Setting {
  int kv_heads = 2, group = 2, head_dim = 16, block_tokens = 16;
  int64_t positions = 64;  // most tokens of a sequence
  int64_t window = -1;
  float softcap = 0.0f;
  bool packed = false, sink = false, norm = false, interleaved = false;
  DType cache = DType::f32;

  int heads() const { return kv_heads * group; }
  int row() const { return (heads() + 2 * kv_heads) * head_dim; }  // of packed Q, K and V
  int result() const { return heads() * head_dim; }

  std::map<std::string, Attribute> attributes() const {
    return {{"num_heads", int64_t{heads()}}, {"kv_num_heads", int64_t{kv_heads}},
            {"do_rotary", int64_t{1}},       {"rotary_interleaved", int64_t{interleaved}},
            {"local_window_size", window},   {"softcap", softcap}};
  }
};

Tensor rows_of(const Tensor& x, int64_t from, int64_t rows, int64_t column, int64_t columns) {
  Tensor y = Tensor::uninitialized(DType::f32, {1, rows, columns});
  const int64_t width = x.shape()[2];
  for (int64_t r = 0; r < rows; ++r) {
    std::memcpy(y.data<float>() + r * columns, x.data<float>() + (from + r) * width + column,
                static_cast<size_t>(columns) * 4);
  }
  return y;
}

// Q, K, V of `setting` out of packed rows: as one input or as three.
std::vector<Tensor> projections(const Setting& s, const Tensor& rows) {
  if (s.packed) return {rows, {}, {}};
  const int64_t n = rows.shape()[1], q = s.result(), kv = s.kv_heads * s.head_dim;
  return {rows_of(rows, 0, n, 0, q), rows_of(rows, 0, n, q, kv), rows_of(rows, 0, n, q + kv, kv)};
}

struct Weights {
  Tensor cos, sin, sink, q_norm, k_norm;
  explicit Weights(const Setting& s)
      : cos(random_f32({s.positions, s.head_dim / 2}, -1, 1, 5)),
        sin(random_f32({s.positions, s.head_dim / 2}, -1, 1, 6)) {
    if (s.sink) sink = random_f32({s.heads()}, -1, 1, 7);
    if (!s.norm) return;
    q_norm = random_f32({s.head_dim}, 0.5, 1.5, 8);
    k_norm = random_f32({s.head_dim}, 0.5, 1.5, 9);
  }
};

// A pool for a few sequences, with their blocks scattered over it and poisoned.
class Pool {
 public:
  Pool(const Setting& s, int sequences, uint32_t seed) : setting_(s), weights_(s) {
    const int64_t part = int64_t{s.kv_heads} * s.block_tokens * s.head_dim * bits_of(s.cache) / 8;
    layers_ = {{2 * part, 3 * part, s.kv_heads, s.head_dim}, {0, part, s.kv_heads, s.head_dim}};
    block_bytes_ = 4 * part;
    const int per_sequence = static_cast<int>(s.positions) / s.block_tokens;
    std::vector<int32_t> ids(static_cast<size_t>(sequences * per_sequence + 3));
    std::iota(ids.begin(), ids.end(), 0);
    std::shuffle(ids.begin(), ids.end(), std::mt19937(seed));
    bytes_.assign(ids.size() * static_cast<size_t>(block_bytes_), std::byte{0xFF});  // NaN
    for (int i = 0; i < sequences; ++i) {
      const auto from = ids.begin() + i * per_sequence;
      blocks_.emplace_back(from, from + per_sequence);
    }
  }

  // One step: rows[i] more packed rows of sequence `which[i]`; answers their results in that order.
  Tensor step(const std::vector<int>& which, const std::vector<Tensor>& rows, const std::vector<int64_t>& past,
              const Kernels& cpu, int width) {
    std::vector<PagedSequence> sequences;
    int64_t first = 0;
    std::vector<float> packed;
    for (size_t i = 0; i < which.size(); ++i) {
      const int64_t n = rows[i].shape()[1];
      sequences.push_back({blocks_[static_cast<size_t>(which[i])].data(), past[i], first, n});
      packed.insert(packed.end(), rows[i].data<float>(), rows[i].data<float>() + rows[i].count());
      first += n;
    }
    PagedStep step{bytes_.data(), block_bytes_, setting_.block_tokens, setting_.cache, layers_, sequences, first};
    std::vector<Tensor> inputs =
        projections(setting_, Tensor::of(Shape{1, first, setting_.row()}, std::span<const float>(packed)));
    inputs.insert(inputs.end(), {weights_.cos, weights_.sin, weights_.sink, weights_.q_norm, weights_.k_norm});
    OpRun how{.domain = "nxrt", .attributes = setting_.attributes(), .cpu = &cpu, .width = width, .paged = &step};
    how.attributes["layer"] = int64_t{1};
    return run_op("PagedAttention", inputs, how);
  }

 private:
  Setting setting_;
  Weights weights_;
  std::vector<PagedLayer> layers_;
  int64_t block_bytes_ = 0;
  std::vector<std::byte> bytes_;
  std::vector<std::vector<int32_t>> blocks_;
};

// All rows of one sequence through GroupQueryAttention as one prompt.
Tensor expected(const Setting& s, const Tensor& rows, const Kernels& cpu) {
  const Weights w(s);
  const int32_t n = static_cast<int32_t>(rows.shape()[1]);
  std::vector<Tensor> inputs = projections(s, rows);
  inputs.insert(inputs.end(), {Tensor(), Tensor(), Tensor::of<int32_t>({1}, {n - 1}), Tensor::of<int32_t>({1}, {n}),
                               w.cos, w.sin, Tensor(), Tensor(), w.sink, Tensor(), Tensor(), w.q_norm, w.k_norm});
  return run_op("GroupQueryAttention", inputs, {.domain = "com.microsoft", .attributes = s.attributes(), .cpu = &cpu});
}

// Feeds every sequence in random chunks, several sequences a step (or one, when alone); the results by sequence.
std::vector<std::vector<float>> play(const Setting& s, const std::vector<Tensor>& all, bool alone, uint32_t seed,
                                     const Kernels& cpu) {
  std::mt19937 random(seed);
  Pool pool(s, static_cast<int>(all.size()), seed);
  std::vector<int64_t> done(all.size(), 0);
  std::vector<std::vector<float>> results(all.size());
  const auto left = [&](size_t i) { return all[i].shape()[1] - done[i]; };
  const auto most = [&] {
    size_t i = 0;
    for (size_t j = 0; j < all.size(); ++j)
      if (left(j) > left(i)) i = j;
    return i;
  };
  while (left(most()) > 0) {
    std::vector<int> which;
    std::vector<Tensor> rows;
    std::vector<int64_t> past;
    for (size_t i = 0; i < all.size(); ++i) {
      const bool takes_part = alone ? i == most() : i == most() || random() % 3 != 0;
      if (left(i) == 0 || !takes_part) continue;
      const int64_t n = random() % 2 ? 1 : std::min<int64_t>(left(i), 1 + static_cast<int64_t>(random() % 20));
      which.push_back(static_cast<int>(i));
      rows.push_back(rows_of(all[i], done[i], n, 0, s.row()));
      past.push_back(done[i]);
      done[i] += n;
    }
    const Tensor y = pool.step(which, rows, past, cpu, 1 + static_cast<int>(random() % 3));
    const float* at = y.data<float>();
    for (size_t i = 0; i < which.size(); ++i) {
      const int64_t n = rows[i].shape()[1] * s.result();
      auto& to = results[static_cast<size_t>(which[i])];
      to.insert(to.end(), at, at + n);
      at += n;
    }
  }
  return results;
}

Setting any_setting() {
  Setting s;
  s.kv_heads = *rc::gen::inRange(1, 4);
  s.group = *rc::gen::inRange(1, 4);
  s.head_dim = 2 * *rc::gen::inRange(1, 20);
  s.block_tokens = *rc::gen::element(4, 16, 32);
  s.window = *rc::gen::element<int64_t>(-1, -1, 1, 5, 17);
  s.softcap = *rc::gen::element(0.0f, 0.0f, 3.0f);
  s.packed = *rc::gen::arbitrary<bool>();
  s.sink = *rc::gen::arbitrary<bool>();
  s.norm = *rc::gen::arbitrary<bool>();
  s.interleaved = *rc::gen::arbitrary<bool>();
  return s;
}

std::vector<Tensor> any_sequences(const Setting& s) {
  std::vector<Tensor> all;
  const int sequences = *rc::gen::inRange(1, 5);
  for (int i = 0; i < sequences; ++i) {
    all.push_back(
        random_f32({1, *rc::gen::inRange<int64_t>(1, 64), s.row()}, -1.5f, 1.5f, 20 + static_cast<uint32_t>(i)));
  }
  return all;
}

}  // namespace

using PagedAttention = EveryIsa;

TEST_P(PagedAttention, EqualsGroupQueryAttentionOnAnySchedule) {
  EXPECT_TRUE(rc::check([&] {
    const Setting s = any_setting();
    const std::vector<Tensor> all = any_sequences(s);
    const auto results = play(s, all, false, *rc::gen::arbitrary<uint32_t>(), cpu());
    for (size_t i = 0; i < all.size(); ++i) {
      const Tensor actual = Tensor::of(Shape{1, all[i].shape()[1], s.result()}, std::span<const float>(results[i]));
      expect_near(actual, expected(s, all[i], cpu()), 3e-5f);
      RC_ASSERT(!testing::Test::HasFailure());
    }
  }));
}

TEST_P(PagedAttention, RowsAreTheSameBitsAloneAndInAnyCompany) {
  EXPECT_TRUE(rc::check([&] {
    Setting s = any_setting();
    s.cache = *rc::gen::element(DType::f32, DType::f16);
    const std::vector<Tensor> all = any_sequences(s);
    const auto together = play(s, all, false, *rc::gen::arbitrary<uint32_t>(), cpu());
    const auto alone = play(s, all, true, *rc::gen::arbitrary<uint32_t>(), cpu());
    for (size_t i = 0; i < all.size(); ++i) {
      RC_ASSERT(std::memcmp(together[i].data(), alone[i].data(), alone[i].size() * 4) == 0);
    }
  }));
}

TEST_P(PagedAttention, HalfCacheStaysCloseToFloat) {
  Setting s;
  const std::vector<Tensor> all = {random_f32({1, 40, s.row()}, -1, 1, 3)};
  const auto exact = play(s, all, false, 1, cpu());
  s.cache = DType::f16;
  const auto half = play(s, all, false, 1, cpu());
  ASSERT_EQ(exact[0].size(), half[0].size());
  bool differs = false;
  for (size_t i = 0; i < exact[0].size(); ++i) {
    EXPECT_NEAR(exact[0][i], half[0][i], 2e-3f);
    differs |= exact[0][i] != half[0][i];
  }
  EXPECT_TRUE(differs) << "the cache was not f16";
}

// Few tiles over many tokens are cut into segments that workers share; the result is that of one worker.
TEST_P(PagedAttention, SegmentsGiveTheSameBitsAsWholeTiles) {
  Setting s;
  s.kv_heads = 3, s.head_dim = 8, s.positions = 4096, s.norm = s.sink = true;
  for (const int64_t window : {int64_t{-1}, int64_t{1500}}) {
    s.window = window;
    const Tensor prompt = random_f32({1, 2500, s.row()}, -1.5f, 1.5f, 3), next = random_f32({1, 3, s.row()}, -1, 1, 4),
                 other = random_f32({1, 1, s.row()}, -1, 1, 5);
    const auto run = [&](int width, bool cut, std::vector<Tensor> rows) {
      Pool pool(s, 2, 7);
      pool.step({0}, {prompt}, {0}, cpu(), 1);
      ledger().reset();
      gates::dispatch_ledger().enable();
      const Tensor y = pool.step(rows.size() == 1 ? std::vector{0} : std::vector{0, 1}, rows, {2500, 0}, cpu(), width);
      gates::dispatch_ledger().disable();
      EXPECT_EQ(ledger().saw("PagedAttention", name_of(GetParam()), "f32 in segments"), cut);
      return y;
    };
    for (const Tensor& rows : {rows_of(next, 0, 1, 0, s.row()), next}) {
      const Tensor whole = run(1, false, {rows}), cut = run(4, true, {rows}), beside = run(3, true, {rows, other});
      const auto bytes = static_cast<size_t>(whole.count()) * 4;
      EXPECT_EQ(std::memcmp(whole.data<float>(), cut.data<float>(), bytes), 0);
      EXPECT_EQ(std::memcmp(whole.data<float>(), beside.data<float>(), bytes), 0);
    }
  }
}

INSTANTIATE_EVERY_ISA(PagedAttention);

TEST(PagedAttentionInfer, NamesWhatIsWrong) {
  Setting s;
  OpRun how{.domain = "nxrt", .attributes = s.attributes()};
  how.attributes["layer"] = int64_t{0};
  how.attributes["num_heads"] = int64_t{3};
  const TensorType q = {DType::f32, SymShape{1, Dim::symbol("T"), 64}, {}};
  expect_error(Code::invalid_argument, "num_heads is 3 and kv_num_heads 2",
               [&] { infer_op("PagedAttention", {q, q, q}, how); });
}

}  // namespace nxrt::test
