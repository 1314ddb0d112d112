// Kernels beside the limits of the machine: memory bandwidth for one row, arithmetic for many.
//
//   kernels_bench --benchmark_filter=Decode
//
// Weights are larger than any cache where a real decode would stream them; `of_read` is the share of the measured read
// bandwidth. Compare runs of one minute only, as ratios.
#include <benchmark/benchmark.h>

#include <map>
#include <random>
#include <vector>

#include "base/cpu.h"
#include "kernels/bandwidth.h"
#include "kernels/kernels.h"
#include "kernels/pack.h"

namespace nxrt {
namespace {

constexpr int64_t kK = 576, kN = 1536, kMatrices = 600;

std::vector<float> random_floats(int64_t n) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> uniform(-1.0f, 1.0f);
  std::vector<float> values(static_cast<size_t>(n));
  for (float& v : values) v = uniform(engine);
  return values;
}

double read_bandwidth(Workers& workers) {
  static std::map<int, double> measured;
  const auto [place, fresh] = measured.try_emplace(workers.width(), 0.0);
  if (fresh) place->second = measure_read_bandwidth(workers);
  return place->second;
}

PackedNBits random_weights(int bits, int64_t block, int64_t n, int64_t k, Workers& workers) {
  const int64_t blocks = (k + block - 1) / block;
  std::vector<uint8_t> q(static_cast<size_t>(n * blocks * block * bits / 8), uint8_t{0x5a});
  const std::vector<uint16_t> scales(static_cast<size_t>(n * blocks), uint16_t{0x2000});
  return pack_nbits({.bits = bits, .block = block, .n = n, .k = k, .q = q.data(), .half_scales = scales.data()},
                    workers);
}

struct Activations {
  std::vector<int8_t> q;
  std::vector<float> scales;
  std::vector<float> sums;
  QuantizedRows rows;
  Activations(const Kernels& cpu, int64_t m, int64_t k, int64_t block) {
    const int64_t blocks = (k + block - 1) / block;
    const std::vector<float> x = random_floats(m * k);
    q.resize(static_cast<size_t>(m * blocks * block));
    scales.resize(static_cast<size_t>(m * blocks));
    sums.resize(static_cast<size_t>(m * blocks));
    for (int64_t i = 0; i < m; ++i) {
      cpu.quantize_row(&x[i * k], k, block, &q[i * blocks * block], &scales[i * blocks], &sums[i * blocks], nullptr);
    }
    rows = {q.data(), scales.data(), sums.data(), m, k, block};
  }
};

void report_bandwidth(benchmark::State& state, Workers& workers, int64_t bytes) {
  const double passed = static_cast<double>(bytes) * static_cast<double>(state.iterations());
  state.counters["bytes/s"] = benchmark::Counter(passed, benchmark::Counter::kIsRate);
  state.counters["of_read"] = benchmark::Counter(passed / read_bandwidth(workers), benchmark::Counter::kIsRate);
}

// One thread, per second of CPU: it holds on a busy machine too.
void read_memory(benchmark::State& state) {
  const auto sum = kernels_for(best_isa()).sum;
  const std::vector<float> data(size_t{1} << 27, 1.0f);
  for (auto _ : state) benchmark::DoNotOptimize(sum(data.data(), static_cast<int64_t>(data.size())));
  state.counters["bytes/s"] =
      benchmark::Counter(0x1p29 * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(read_memory)->Unit(benchmark::kMillisecond);

// ISA, rows, bits, block: one thread, per second of CPU.
void decode_nbits_one(benchmark::State& state) {
  const Kernels& cpu = kernels_for(static_cast<Isa>(state.range(0)));
  Workers workers(1);
  const PackedNBits w = random_weights(static_cast<int>(state.range(2)), state.range(3), kN * kMatrices, kK, workers);
  const Activations x(cpu, state.range(1), kK, state.range(3));
  std::vector<float> c(static_cast<size_t>(state.range(1) * w.n));
  for (auto _ : state) cpu.gemm_nbits_q8(x.rows, w, 0, w.panels(), c.data(), w.n);
  state.counters["bytes/s"] = benchmark::Counter(
      static_cast<double>(w.bytes()) * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}
BENCHMARK(decode_nbits_one)
    ->Args({3, 1, 4, 32})
    ->Args({3, 2, 4, 32})
    ->Args({3, 4, 4, 32})
    ->Args({3, 1, 8, 32})
    ->Args({3, 1, 4, 128})
    ->Args({2, 1, 4, 32})
    ->Args({1, 1, 4, 32})
    ->Args({1, 1, 8, 32})
    ->Unit(benchmark::kMillisecond);

// ISA, threads, rows, bits, block.
void decode_nbits(benchmark::State& state) {
  const Kernels& cpu = kernels_for(static_cast<Isa>(state.range(0)));
  Workers workers(static_cast<int>(state.range(1)));
  read_bandwidth(workers);
  const PackedNBits w = random_weights(static_cast<int>(state.range(3)), state.range(4), kN * kMatrices, kK, workers);
  const Activations x(cpu, state.range(2), kK, state.range(4));
  std::vector<float> c(static_cast<size_t>(state.range(2) * w.n));
  for (auto _ : state) {
    workers.shards(w.panels(), 1,
                   [&](int64_t begin, int64_t end, int) { cpu.gemm_nbits_q8(x.rows, w, begin, end, c.data(), w.n); });
  }
  report_bandwidth(state, workers, w.bytes());
}
// Threads, columns: many matrices one after the other, as the layers of a model: what a dispatch and a new stream cost.
void decode_matrices(benchmark::State& state) {
  const Kernels& cpu = kernels_for(Isa::vnni);
  Workers workers(static_cast<int>(state.range(0)));
  read_bandwidth(workers);
  const int64_t n = state.range(1), count = (int64_t{200} << 20) / (n * kK * 9 / 16);
  std::vector<PackedNBits> w;
  int64_t bytes = 0;
  for (int64_t i = 0; i < count; ++i) bytes += w.emplace_back(random_weights(4, 32, n, kK, workers)).bytes();
  const Activations x(cpu, 1, kK, 32);
  std::vector<float> c(static_cast<size_t>(n));
  for (auto _ : state) {
    for (const PackedNBits& one : w) {
      workers.shards(one.panels(), 1,
                     [&](int64_t begin, int64_t end, int) { cpu.gemm_nbits_q8(x.rows, one, begin, end, c.data(), n); });
    }
  }
  report_bandwidth(state, workers, bytes);
  state.counters["us/matrix"] =
      benchmark::Counter(static_cast<double>(count) * static_cast<double>(state.iterations()) / 1e6,
                         benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(decode_matrices)->ArgsProduct({{1, 2}, {576, 1536, 3072}})->UseRealTime()->Unit(benchmark::kMillisecond);

void decode_cases(benchmark::internal::Benchmark* b) {
  for (const int isa : {static_cast<int>(Isa::vnni), static_cast<int>(Isa::avx512), static_cast<int>(Isa::avx2)}) {
    for (const int threads : {1, 2}) b->Args({isa, threads, 1, 4, 32});
    b->Args({isa, 2, 4, 4, 32})->Args({isa, 2, 1, 8, 32})->Args({isa, 2, 1, 4, 128});
  }
}
BENCHMARK(decode_nbits)->Apply(decode_cases)->UseRealTime()->Unit(benchmark::kMillisecond);

// ISA, bits, block: float activations, one thread.
void decode_nbits_f32(benchmark::State& state) {
  const Kernels& cpu = kernels_for(static_cast<Isa>(state.range(0)));
  Workers workers(1);
  const PackedNBits w = random_weights(static_cast<int>(state.range(1)), state.range(2), kN * 60, kK, workers);
  const std::vector<float> a = random_floats(kK);
  std::vector<float> c(static_cast<size_t>(w.n));
  for (auto _ : state) cpu.gemm_nbits_f32(a.data(), kK, 1, w, 0, w.panels(), c.data(), w.n);
  report_bandwidth(state, workers, w.bytes());
}
BENCHMARK(decode_nbits_f32)->Args({3, 4, 32})->Args({3, 8, 32})->Args({1, 4, 32})->Unit(benchmark::kMillisecond);

void report_operations(benchmark::State& state, double multiplications) {
  state.counters["op/s"] =
      benchmark::Counter(2.0 * multiplications * static_cast<double>(state.iterations()), benchmark::Counter::kIsRate);
}

// ISA, rows, bits: one thread.
void prefill_nbits(benchmark::State& state) {
  const Kernels& cpu = kernels_for(static_cast<Isa>(state.range(0)));
  Workers workers(1);
  const int64_t m = state.range(1);
  const PackedNBits w = random_weights(static_cast<int>(state.range(2)), 32, kN, kK, workers);
  const Activations x(cpu, m, kK, 32);
  std::vector<float> c(static_cast<size_t>(m * kN));
  for (auto _ : state) cpu.gemm_nbits_q8(x.rows, w, 0, w.panels(), c.data(), kN);
  report_operations(state, static_cast<double>(m * kN * kK));
}
BENCHMARK(prefill_nbits)->Args({3, 512, 4})->Args({3, 512, 8})->Args({3, 8, 4})->Args({2, 512, 4})->Args({1, 512, 4});

// ISA, rows, where b lies (0 packed, 1 plain, 2 transposed): one thread.
void gemm_f32(benchmark::State& state) {
  const Kernels& cpu = kernels_for(static_cast<Isa>(state.range(0)));
  Workers workers(1);
  const int64_t m = state.range(1), where = state.range(2);
  const std::vector<float> a = random_floats(m * kK), b = random_floats(kN * kK);
  const PackedFloats w = pack_floats({b.data(), DType::f32, kN, kK, kN}, workers);
  std::vector<float> c(static_cast<size_t>(m * kN));
  for (auto _ : state) {
    if (where == 0) cpu.gemm_f32(a.data(), kK, m, w, 0, w.panels(), c.data(), kN);
    if (where > 0)
      cpu.gemm_f32_plain(a.data(), kK, b.data(), where == 1 ? kN : kK, where == 2, c.data(), kN, m, kN, kK);
  }
  report_operations(state, static_cast<double>(m * kN * kK));
}
BENCHMARK(gemm_f32)->ArgsProduct({{3, 1}, {1, 8, 256}, {0, 1, 2}});

// ISA, heads that share keys and values, head size: 1024 tokens, one thread.
void attend(benchmark::State& state) {
  const Kernels& cpu = kernels_for(static_cast<Isa>(state.range(0)));
  const int heads = static_cast<int>(state.range(1));
  const int64_t dim = state.range(2), tokens = 1024;
  const std::vector<float> q = random_floats(heads * dim), kv = random_floats(tokens * dim);
  std::vector<Half> half(kv.size());
  cpu.float_to_half(kv.data(), half.data(), tokens * dim);
  std::vector<const void*> rows;
  for (int64_t t = 0; t < tokens; ++t) rows.push_back(&half[t * dim]);
  std::vector<float> out(q.size());
  for (auto _ : state) {
    AttentionState running[16] = {};
    cpu.attend_f16(q.data(), dim, heads, {rows.data(), rows.data(), 1024}, dim, 0.1f, 0.0f, running, out.data(), dim);
  }
  report_operations(state, static_cast<double>(2 * heads * tokens * dim));
}
BENCHMARK(attend)->Args({3, 1, 64})->Args({3, 3, 64})->Args({3, 8, 128})->Args({1, 3, 64});

// ISA, kernel: one row of 576.
void unary(benchmark::State& state) {
  const Kernels& cpu = kernels_for(static_cast<Isa>(state.range(0)));
  std::vector<float> x = random_floats(kK), y(x.size());
  for (auto _ : state) {
    cpu.unary[state.range(1)](x.data(), y.data(), kK);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kK);
}
BENCHMARK(unary)->ArgsProduct({{3, 1, 0},
                               {static_cast<int>(Unary::exp), static_cast<int>(Unary::tanh),
                                static_cast<int>(Unary::silu), static_cast<int>(Unary::gelu_erf)}});

}  // namespace
}  // namespace nxrt

BENCHMARK_MAIN();
