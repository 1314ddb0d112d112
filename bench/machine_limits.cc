// What this machine can do at most, as JSON: memory read, float multiply-adds, int8 dot products.
//
//   machine_limits [--read-only] THREADS…
//
// Every measured speed is given beside the limit that binds it. AMX is named among the instruction sets, its limit is
// not measured.
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/cpu.h"
#include "base/workers.h"
#include "kernels/bandwidth.h"

namespace nxrt {
namespace {

constexpr int64_t kRounds = 20'000'000;  // of 8 independent chains: enough to hide an instruction's latency

// Chains of multiply-adds that neither memory nor the front end can hold up; the sums keep the compiler from dropping
// them.
__attribute__((target("avx512f"))) float fma_avx512(int64_t rounds) {
  __m512 sums[8];
  for (auto& sum : sums) sum = _mm512_set1_ps(1e-20f);
  const __m512 x = _mm512_set1_ps(0.999f);
  for (int64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 8
    for (auto& sum : sums) sum = _mm512_fmadd_ps(sum, x, x);
  float total = 0;
  for (const auto& sum : sums) total += _mm512_reduce_add_ps(sum);
  return total;
}

__attribute__((target("avx2,fma"))) float fma_avx2(int64_t rounds) {
  __m256 sums[8];
  for (auto& sum : sums) sum = _mm256_set1_ps(1e-20f);
  const __m256 x = _mm256_set1_ps(0.999f);
  for (int64_t i = 0; i < rounds; ++i)
#pragma GCC unroll 8
    for (auto& sum : sums) sum = _mm256_fmadd_ps(sum, x, x);
  float total = 0;
  for (const auto& sum : sums) total += _mm256_cvtss_f32(sum);
  return total;
}

__attribute__((target("avx512f,avx512vnni"))) float dot_vnni(int64_t rounds) {
  __m512i sums[8];
  for (auto& sum : sums) sum = _mm512_setzero_si512();
  const __m512i x = _mm512_set1_epi8(1);
  for (int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 8
    for (auto& sum : sums) {
      sum = _mm512_dpbusd_epi32(sum, x, x);
      __asm__("" : "+v"(sum));  // or the compiler would multiply the rounds out
    }
  }
  int total = 0;
  for (const auto& sum : sums) total += _mm512_reduce_add_epi32(sum);
  return static_cast<float>(total);
}

// Operations per second of all workers together; a chain's step counts `operations`.
double rate(Workers& workers, float (*chains)(int64_t), double operations) {
  volatile float sink = 0;
  double best = 0;
  for (int pass = 0; pass < 3; ++pass) {
    const auto begin = std::chrono::steady_clock::now();
    workers.everyone([&](int) { sink = chains(kRounds); });
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    best = std::max(best, operations * 8 * kRounds * workers.width() / seconds.count());
  }
  return best;
}

void print_limits(int threads, bool read_only) {
  Workers workers(threads);
  std::printf(R"({"threads": %d, "read_bytes_per_second": %.0f)", threads, measure_read_bandwidth(workers));
  if (read_only) return static_cast<void>(std::printf("}"));
  if (has(Isa::avx2)) std::printf(R"(, "avx2_fma_flops": %.0f)", rate(workers, fma_avx2, 16));
  if (has(Isa::avx512)) std::printf(R"(, "avx512_fma_flops": %.0f)", rate(workers, fma_avx512, 32));
  if (has(Isa::vnni)) std::printf(R"(, "vnni_int8_ops": %.0f)", rate(workers, dot_vnni, 128));
  std::printf("}");
}

}  // namespace
}  // namespace nxrt

int main(int argc, char** argv) {
  using namespace nxrt;
  std::printf(R"({"cpu": "%s", "allowed_cpus": %d, "allowed_memory_bytes": %lld, "instruction_sets": [)",
              cpu_model().c_str(), allowed_cpus(), static_cast<long long>(allowed_memory()));
  const char* comma = "";
  for (const Isa isa : available()) {
    std::printf("%s\"%s\"", comma, std::string(name_of(isa)).c_str());
    comma = ", ";
  }
  std::printf("], \"limits\": [");
  const bool read_only = argc > 1 && std::string_view(argv[1]) == "--read-only";
  const int first = read_only ? 2 : 1;
  for (int i = first; i < argc; ++i) {
    if (i > first) std::printf(", ");
    print_limits(std::max(1, std::atoi(argv[i])), read_only);
  }
  std::printf("]}\n");
  return 0;
}
