#include "gen/dense_model.h"

#include <algorithm>
#include <cstring>

#include "base/half.h"

namespace genai {
using nxrt::DType;
using nxrt::kNoValue;
using nxrt::Shape;
using nxrt::Tensor;
namespace {

template <class F>
Tensor integers(DType dtype, int64_t count, F value) {
  Tensor tensor = Tensor::uninitialized(dtype, {1, count});
  for (int64_t i = 0; i < count; ++i) {
    if (dtype == DType::i32) {
      tensor.data<int32_t>()[i] = static_cast<int32_t>(value(i));
    } else {
      tensor.data<int64_t>()[i] = value(i);
    }
  }
  return tensor;
}

}  // namespace

DenseModel::DenseModel(std::unique_ptr<nxrt::Graph> graph, const DecoderPorts& ports, const std::string& where,
                       nxrt::Workers& workers, const Options& options, const nxrt::exec::SessionOptions& session)
    : options_(options) {
  const auto name = [&](nxrt::ValueId id) { return id == kNoValue ? std::string() : graph->value(id).name; };
  struct Names {
    std::string past, present;
    DType dtype;
    KvHeads heads;
  };
  std::vector<Names> caches;
  for (const CachePorts& layer : ports.layers) {
    const std::optional<KvHeads> heads = cache_heads(*graph, layer);
    if (!heads)
      throw Error(Code::unsupported, "the cache input '" + name(layer.past_key) + "' has an unknown head size", where);
    const DType dtype = graph->value(layer.past_key).type.dtype;
    caches.push_back({name(layer.past_key), name(layer.present_key), dtype, *heads});
    no_layout_.dtype = dtype;
    caches.push_back({name(layer.past_value), name(layer.present_value), dtype, *heads});
  }
  const std::string ids = name(ports.input_ids), mask = name(ports.attention_mask),
                    positions = name(ports.position_ids);
  const std::string logits = name(ports.logits);
  session_ = nxrt::exec::Session::prepare(std::move(graph), where, workers, session);
  input_ids_ = session_->input_port(ids);
  attention_mask_ = session_->input_port(mask);
  position_ids_ = session_->input_port(positions);
  logits_ = session_->output_port(logits);
  for (const Names& cache : caches) {
    cache_ports_.push_back(
        {session_->input_port(cache.past), session_->output_port(cache.present), cache.dtype, cache.heads});
  }
  const auto& shape = session_->outputs()[static_cast<size_t>(logits_)].type.shape;
  const std::optional<int64_t> vocab = shape && shape->rank() == 3 ? (*shape)[2].constant() : std::nullopt;
  if (!vocab) throw Error(Code::unsupported, "the size of the vocabulary is not known from the graph", where);
  vocab_size_ = static_cast<int>(*vocab);
}

void DenseModel::forward(const Step& step, std::span<float> logits) {
  if (step.sequences.size() != 1) throw Error(Code::internal, "a dense step has one sequence");
  const StepSequence& sequence = step.sequences[0];
  Cache& cache = cache_at(sequence);
  bind_tokens(sequence);
  const int64_t total = sequence.past + static_cast<int64_t>(sequence.tokens.size());
  Cache next{.tokens = total, .tensors = {}};
  for (size_t i = 0; i < cache_ports_.size(); ++i) {
    const CachePort& port = cache_ports_[i];
    next.tensors.push_back(Tensor::uninitialized(port.dtype, {1, port.heads.kv_heads, total, port.heads.head_dim}));
    binding_.input(port.past, cache.tensors[i]);
    binding_.output(port.present, next.tensors.back());
  }
  session_->run(binding_);
  copy_logits(sequence, logits);
  cache = std::move(next);
}

// The cache of exactly `past` tokens: a longer one (the same rows are written again) is cut.
DenseModel::Cache& DenseModel::cache_at(const StepSequence& sequence) {
  Cache& cache = caches_[sequence.id];
  if (cache.tensors.empty()) {
    for (const CachePort& port : cache_ports_) {
      cache.tensors.push_back(Tensor::zeros(port.dtype, {1, port.heads.kv_heads, 0, port.heads.head_dim}));
    }
  }
  if (cache.tokens < sequence.past) {
    throw Error(Code::internal, "a step continues at token " + std::to_string(sequence.past) + ", its cache has " +
                                    std::to_string(cache.tokens));
  }
  if (cache.tokens > sequence.past) cache = cut(cache, sequence.past);
  return cache;
}

void DenseModel::bind_tokens(const StepSequence& sequence) {
  const auto dtype = [&](int port) { return session_->inputs()[static_cast<size_t>(port)].type.dtype; };
  const auto rows = static_cast<int64_t>(sequence.tokens.size());
  binding_.input(input_ids_, integers(dtype(input_ids_), rows,
                                      [&](int64_t i) { return sequence.tokens[static_cast<size_t>(i)].value; }));
  if (attention_mask_ >= 0) {
    binding_.input(attention_mask_, integers(dtype(attention_mask_), sequence.past + rows, [](int64_t) { return 1; }));
  }
  if (position_ids_ >= 0) {
    binding_.input(position_ids_, integers(dtype(position_ids_), rows, [&](int64_t i) { return sequence.past + i; }));
  }
}

void DenseModel::copy_logits(const StepSequence& sequence, std::span<float> logits) const {
  const Tensor& result = session_->result(logits_);  // [1, rows, vocab]; some exports give the last row alone
  const int64_t rows = result.shape()[1], wanted = sequence.logits_rows;
  if (wanted > rows) {
    throw Error(Code::unsupported,
                "the model returns logits of its last token alone, " + std::to_string(wanted) + " rows are needed");
  }
  const int64_t first = (rows - wanted) * vocab_size_, count = wanted * vocab_size_;
  if (result.dtype() == DType::f32) {
    std::copy_n(result.data<float>() + first, count, logits.begin());
  } else {
    const auto* half = static_cast<const nxrt::Half*>(result.raw()) + first;
    std::transform(half, half + count, logits.begin(), [](nxrt::Half h) { return to_float(h); });
  }
}

DenseModel::Cache DenseModel::cut(const Cache& cache, int64_t position) const {
  if (position == cache.tokens) return cache;
  Cache shorter{.tokens = position, .tensors = {}};
  for (const Tensor& tensor : cache.tensors) {
    const Shape& shape = tensor.shape();
    Tensor kept = Tensor::uninitialized(tensor.dtype(), {1, shape[1], position, shape[3]});
    const int64_t token_bytes = bytes_of(tensor.dtype(), shape[3]);
    for (int64_t head = 0; head < shape[1]; ++head) {
      std::memcpy(static_cast<std::byte*>(kept.raw_mutable()) + head * position * token_bytes,
                  static_cast<const std::byte*>(tensor.raw()) + head * shape[2] * token_bytes,
                  static_cast<size_t>(position * token_bytes));
    }
    shorter.tensors.push_back(std::move(kept));
  }
  return shorter;
}

void DenseModel::rewind(SequenceId id, int64_t position) {
  const auto found = caches_.find(id);
  if (found != caches_.end() && position < found->second.tokens) found->second = cut(found->second, position);
}

void DenseModel::fork(SequenceId from, SequenceId to, int64_t position) {
  const auto found = caches_.find(from);
  if (found != caches_.end()) caches_[to] = cut(found->second, std::min(position, found->second.tokens));
}

}  // namespace genai
