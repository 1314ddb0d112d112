// `attend` over F32: online softmax in tiles of tokens (Milakov and Gimelshein, arXiv 1805.02867). Query heads that
// share keys and values go through a tile together, so that each is loaded once. What a head computes does not depend
// on which heads it goes with.
#pragma once

#include "kernels/kernels.h"
#include "kernels/portable/math.h"
#include "kernels/portable/vectors.h"

namespace nxrt::portable {

inline constexpr int kTileTokens = 64;

struct AttentionCall {
  const float* q;
  int64_t q_stride;
  int64_t head_dim;
  float scale, softcap;
  AttentionState* state;
  float* out;
  int64_t out_stride;
};

// Asks the second-level cache for a row.
template <class T>
void prefetch_row(const void* row, int64_t head_dim) {
  const char* bytes = static_cast<const char*>(row);
  for (int64_t i = 0; i < head_dim * static_cast<int64_t>(sizeof(T)); i += 64) __builtin_prefetch(bytes + i, 0, 2);
}

// scores[h][t] = q[h]·k[t]: four tokens at a time, whose horizontal sums cost little more than one.
template <class F32, class T, int heads>
void score_tile(const AttentionCall& call, const AttentionTokens& tokens, float (*scores)[kTileTokens]) {
  for (int t = 0; t < tokens.count; t += 4) {
    const T* row[4];
    for (int u = 0; u < 4; ++u) row[u] = static_cast<const T*>(tokens.k[t + u < tokens.count ? t + u : t]);
    for (int u = t; u < t + 4 && u < tokens.next; ++u) prefetch_row<T>(tokens.next_k[u], call.head_dim);
    F32 products[heads][4];
    for (int h = 0; h < heads; ++h) {
      for (int u = 0; u < 4; ++u) products[h][u] = F32::zero();
    }
    each_vector<F32>(call.head_dim, [&](auto at) {
      F32 keys[4];
      for (int u = 0; u < 4; ++u) keys[u] = at.load(row[u]);
      for (int h = 0; h < heads; ++h) {
        const F32 query = at.load(call.q + h * call.q_stride);
        for (int u = 0; u < 4; ++u) products[h][u] = fma(query, keys[u], products[h][u]);
      }
    });
    for (int h = 0; h < heads; ++h) sums(products[h], scores[h] + t);
  }
}

// Scores to weights relative to the new maximum; returns what the earlier sums shrink by.
template <class F32>
float weigh_tile(const AttentionCall& call, int64_t tokens, AttentionState& state, float* scores) {
  const F32 lowest = F32::fill(-__builtin_inff()), scale = F32::fill(call.scale);
  const F32 cap = F32::fill(call.softcap), inverse_cap = F32::fill(1.0f / call.softcap);
  F32 top = lowest;
  bool poisoned = false;
  each_vector<F32>(tokens, [&](auto at) {
    F32 s = at.load(scores) * scale;
    if (call.softcap > 0.0f) s = cap * tanh(s * inverse_cap);
    at.store(s, scores);
    top = max(at.keep(s, lowest), top);
    poisoned = poisoned || any(is_nan(s));
  });
  const float new_max = poisoned ? __builtin_nanf("") : __builtin_fmaxf(largest(top), state.max);
  if (new_max == -__builtin_inff()) {  // every score so far has weight 0
    each_vector<F32>(tokens, [&](auto at) { at.store(F32::zero(), scores); });
    return 1.0f;
  }
  F32 total = F32::zero();
  each_vector<F32>(tokens, [&](auto at) {
    const F32 weight = at.keep(exp(at.load(scores) - F32::fill(new_max)), F32::zero());
    at.store(weight, scores);
    total = total + weight;
  });
  float shrink[F32::lanes];
  exp(F32::fill(state.max - new_max)).store(shrink);
  state.max = new_max;
  state.sum = state.sum * shrink[0] + sum(total);
  return shrink[0];
}

// out[h] = out[h] · shrink[h] + Σ weights[h][t] · v[t], along the tokens.
template <class F32, class T, int heads>
void mix_tile(const AttentionCall& call, const AttentionTokens& tokens, const float (*weights)[kTileTokens],
              const float* shrink) {
  const auto mix = [&](auto first, auto... rest) {
    constexpr int width = 1 + sizeof...(rest);
    F32 total[heads][width];
    for (int h = 0; h < heads; ++h) {
      int u = 0;
      const auto begin = [&](auto at) {
        total[h][u++] = at.load(call.out + h * call.out_stride) * F32::fill(shrink[h]);
      };
      (begin(first), ..., begin(rest));
    }
    for (int t = 0; t < tokens.count; ++t) {
      const T* v = static_cast<const T*>(tokens.v[t]);
      const F32 values[width] = {first.load(v), rest.load(v)...};
      if (first.i == 0 && t < tokens.next) prefetch_row<T>(tokens.next_v[t], call.head_dim);
      for (int h = 0; h < heads; ++h) {
        const F32 weight = F32::fill(weights[h][t]);
        for (int u = 0; u < width; ++u) total[h][u] = fma(weight, values[u], total[h][u]);
      }
    }
    for (int h = 0; h < heads; ++h) {
      int u = 0;
      const auto end = [&](auto at) { at.store(total[h][u++], call.out + h * call.out_stride); };
      (end(first), ..., end(rest));
    }
  };
  constexpr int64_t lanes = F32::lanes;
  int64_t i = 0;
  for (; i + 4 * lanes <= call.head_dim; i += 4 * lanes) {
    mix(Whole<F32>{i}, Whole<F32>{i + lanes}, Whole<F32>{i + 2 * lanes}, Whole<F32>{i + 3 * lanes});
  }
  for (; i + lanes <= call.head_dim; i += lanes) mix(Whole<F32>{i});
  if (i < call.head_dim) mix(Part<F32>{i, call.head_dim - i});
}

template <class F32, class T, int heads>
void attend_heads(const AttentionCall& call, const AttentionTokens& tokens) {
  alignas(64) float scores[heads][kTileTokens];
  float shrink[heads];
  for (int t = 0; t < tokens.count; t += kTileTokens) {
    const int count = tokens.count - t < kTileTokens ? tokens.count - t : kTileTokens;
    const int next = t == 0 ? tokens.next : 0;
    const AttentionTokens some = {tokens.k + t, tokens.v + t, count, tokens.next_k, tokens.next_v, next};
    score_tile<F32, T, heads>(call, some, scores);
    for (int h = 0; h < heads; ++h) shrink[h] = weigh_tile<F32>(call, count, call.state[h], scores[h]);
    mix_tile<F32, T, heads>(call, some, scores, shrink);
  }
}

template <class F32, class T>
void attend(const float* q, int64_t q_stride, int heads, const AttentionTokens& tokens, int64_t head_dim, float scale,
            float softcap, AttentionState* state, float* out, int64_t out_stride) noexcept {
  int width = 0;
  for (int h = 0; h < heads; h += width) {
    const AttentionCall call{q + h * q_stride,     q_stride,  head_dim, scale, softcap, state + h,
                             out + h * out_stride, out_stride};
    AttentionTokens some = tokens;
    if (h > 0) some.next = 0;
    width = heads - h < F32::heads ? heads - h : F32::heads;
    if (width == 1) attend_heads<F32, T, 1>(call, some);
    if (width == 2) attend_heads<F32, T, 2>(call, some);
    if constexpr (F32::heads == 4) {
      if (width == 3) attend_heads<F32, T, 3>(call, some);
      if (width == 4) attend_heads<F32, T, 4>(call, some);
    }
  }
}

template <class F32>
void install_attention(Kernels& k) {
  k.attend_f32 = attend<F32, float>;
  k.attend_f16 = attend<F32, Half>;
}

}  // namespace nxrt::portable
