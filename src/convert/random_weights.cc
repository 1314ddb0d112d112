#include "convert/random_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "base/half.h"

namespace genai {

using nxrt::DType;
using nxrt::ValueId;

namespace {

// SplitMix64 (Steele, Lea, Flood 2014), begun at a hash (FNV-1a) of the tensor's name.
class Generator {
 public:
  Generator(uint64_t seed, const std::string& name) : state_(0xcbf29ce484222325u ^ seed * 0x9e3779b97f4a7c15u) {
    for (const char c : name) state_ = (state_ ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  }
  uint64_t bits() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  float between(float low, float high) { return low + (high - low) * static_cast<float>(bits() >> 40) * 0x1p-24f; }
  void fill(std::vector<uint8_t>& bytes) {
    for (size_t i = 0; i < bytes.size(); i += 8) {
      const uint64_t random = bits();
      std::memcpy(bytes.data() + i, &random, std::min<size_t>(8, bytes.size() - i));
    }
  }

 private:
  uint64_t state_;
};

// The scale at which a product of `columns` terms keeps the variance of its input: q is uniform over 2^bits values.
float keeping_variance(int64_t columns, int bits) {
  const double levels = std::exp2(bits);
  return static_cast<float>(1 / std::sqrt((levels * levels - 1) / 12 * static_cast<double>(columns)));
}

}  // namespace

RandomWeights::RandomWeights(const LlamaConfig& config, uint64_t seed, const std::filesystem::path& folder,
                             std::function<void(int64_t)> advance)
    : WeightStore(folder, std::move(advance)), architecture_(config.architecture), seed_(seed) {}

bool RandomWeights::has(const std::string& tensor) const {
  if (architecture_ == "qwen2") {
    return tensor.ends_with("attn_q.bias") || tensor.ends_with("attn_k.bias") || tensor.ends_with("attn_v.bias");
  }
  return architecture_ == "qwen3" && tensor.ends_with("_norm.weight");
}

void RandomWeights::advance(int64_t parameters) {
  parameters_ += parameters;
  advance_(parameters);
}

ValueId RandomWeights::vector(const std::string& tensor, const std::string& name, const MatrixRequest& request) {
  Generator random(seed_, tensor);
  const float middle = tensor.ends_with(".bias") ? 0.0f : 1.0f;
  std::vector<float> values(static_cast<size_t>(request.rows));
  for (float& value : values) value = middle + random.between(-0.1f, 0.1f);
  const ValueId value = place(name, DType::f32, {request.rows});
  data_.write(offset_of(value), values.data(), request.rows * 4);
  advance(request.rows);
  return value;
}

StoredMatrix RandomWeights::matrix(const std::string& tensor, const std::string& name, const MatrixRequest& request) {
  const int bits = request.use == MatrixUse::gathered ? 8 : 4;
  StoredMatrix to{request.rows, request.columns, true, {bits, 32, ZeroPoints::implied}};
  place_nbits(to, name, request.use);
  const int64_t row_bytes = to.form.row_bytes(to.columns), row_blocks = to.form.row_blocks(to.columns);
  const int64_t chunk = std::clamp<int64_t>(kChunkBytes / row_bytes, 1, to.rows);
  const float scale = keeping_variance(to.columns, bits);
  Generator random(seed_, tensor);
  std::vector<uint8_t> q;
  std::vector<float> scales;
  for (int64_t begin = 0; begin < to.rows; begin += chunk) {
    const int64_t rows = std::min(chunk, to.rows - begin);
    q.resize(static_cast<size_t>(rows * row_bytes));
    scales.resize(static_cast<size_t>(rows * row_blocks));
    random.fill(q);
    // Values of half precision, as scales of real files are: packing them loses nothing.
    for (float& s : scales) s = nxrt::to_float(nxrt::to_half(scale * random.between(0.75f, 1.25f)));
    data_.write(offset_of(to.q) + begin * row_bytes, q.data(), rows * row_bytes);
    data_.write(offset_of(to.scales) + begin * row_blocks * 4, scales.data(), rows * row_blocks * 4);
    advance(rows * to.columns);
  }
  return to;
}

}  // namespace genai
