// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011): random numbers as a pure function
// of a key and a counter. So what a sequence draws depends on its seed and position alone, whatever the batch.
#pragma once

#include <array>
#include <cstdint>

namespace genai {

inline std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53u} * counter[0], b = uint64_t{0xCD9E8D57u} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

enum class Draw : uint32_t { token, xtc };  // independent streams of one sequence

// Uniform in [0, 1), 53 bits. `choice` tells the answers of one request apart.
inline double uniform(uint64_t seed, uint64_t position, Draw draw, uint32_t choice) {
  const auto bits = philox(
      {static_cast<uint32_t>(position), static_cast<uint32_t>(position >> 32), static_cast<uint32_t>(draw), choice},
      {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
  return static_cast<double>((uint64_t{bits[0]} << 32 | bits[1]) >> 11) * 0x1p-53;
}

}  // namespace genai
