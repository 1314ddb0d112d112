// The definition of `attend`: online softmax, token by token (Milakov and Gimelshein, arXiv 1805.02867).
#include <cmath>

#include "kernels/scalar/parts.h"

namespace nxrt::scalar {
namespace {

float value(float x) { return x; }
float value(Half x) { return to_float(x); }

template <class T>
float score(const float* q, const T* k, int64_t dim, float scale, float softcap) noexcept {
  double total = 0.0;
  for (int64_t i = 0; i < dim; ++i) total += static_cast<double>(q[i]) * value(k[i]);
  const float s = static_cast<float>(total) * scale;
  return softcap > 0.0f ? softcap * std::tanh(s / softcap) : s;
}

template <class T>
void attend_one(float s, const T* v, int64_t dim, AttentionState& state, float* out) noexcept {
  if (s == -INFINITY) return;  // weight 0
  const float top = s > state.max || std::isnan(s) ? s : state.max;
  const float shrink = std::exp(state.max - top), weight = std::exp(s - top);
  state.max = top;
  state.sum = state.sum * shrink + weight;
  for (int64_t i = 0; i < dim; ++i) out[i] = out[i] * shrink + weight * value(v[i]);
}

template <class T>
void attend(const float* q, int64_t q_stride, int heads, const AttentionTokens& tokens, int64_t head_dim, float scale,
            float softcap, AttentionState* state, float* out, int64_t out_stride) noexcept {
  for (int h = 0; h < heads; ++h) {
    for (int t = 0; t < tokens.count; ++t) {
      const float s = score(q + h * q_stride, static_cast<const T*>(tokens.k[t]), head_dim, scale, softcap);
      attend_one(s, static_cast<const T*>(tokens.v[t]), head_dim, state[h], out + h * out_stride);
    }
  }
}

}  // namespace

void install_attention(Kernels& k) {
  k.attend_f32 = attend<float>;
  k.attend_f16 = attend<Half>;
}

}  // namespace nxrt::scalar
