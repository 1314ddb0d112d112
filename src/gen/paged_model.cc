#include "gen/paged_model.h"

#include <algorithm>

#include "base/half.h"

namespace genai {
using nxrt::DType;
using nxrt::Shape;
using nxrt::Tensor;
namespace {

static_assert(sizeof(BlockId) == sizeof(int32_t), "block tables are passed on as they are");

void put(Tensor& tensor, int64_t at, int64_t value) {
  if (tensor.dtype() == DType::i32) {
    tensor.data<int32_t>()[at] = static_cast<int32_t>(value);
  } else {
    tensor.data<int64_t>()[at] = value;
  }
}

Tensor view(const Tensor& tensor, const Shape& shape) {
  return Tensor::borrow(tensor.dtype(), shape, tensor.raw(), tensor.owner());
}

Tensor port_buffer(const nxrt::exec::Session& session, int port, int rows) {
  if (port < 0) return {};
  const DType dtype = session.inputs()[static_cast<size_t>(port)].type.dtype;
  if (dtype != DType::i64 && dtype != DType::i32) {
    throw Error(Code::unsupported, "the input '" + session.inputs()[static_cast<size_t>(port)].name + "' is " +
                                       std::string(name_of(dtype)) + ", expected i64 or i32");
  }
  return Tensor::zeros(dtype, {rows});
}

}  // namespace

PagedModel::PagedModel(PagedDecoder decoder, const std::string& where, nxrt::Workers& workers, const Options& options,
                       nxrt::exec::SessionOptions session)
    : options_(options), vocab_size_(decoder.vocab_size), layout_(make_kv_layout(decoder.layers, options.kv_dtype)) {
  session.symbol_bounds[PagedDecoder::kRows] = options.max_step_rows;
  session.symbol_bounds[PagedDecoder::kLogitRows] = options.max_step_rows;
  const std::string input_ids = decoder.input_ids, position_ids = decoder.position_ids;
  const std::string logit_rows = decoder.logit_rows, logits = decoder.logits;
  session_ = nxrt::exec::Session::prepare(std::move(decoder.graph), where, workers, session);
  input_ids_ = session_->input_port(input_ids);
  position_ids_ = session_->input_port(position_ids);
  logit_rows_ = session_->input_port(logit_rows);
  logits_ = session_->output_port(logits);
  ids_ = port_buffer(*session_, input_ids_, options.max_step_rows);
  positions_ = port_buffer(*session_, position_ids_, options.max_step_rows);
  rows_ = port_buffer(*session_, logit_rows_, options.max_step_rows);
}

void PagedModel::forward(const Step& step, std::span<float> logits) {
  pack(step);
  int64_t logit_rows = 0;
  for (const StepSequence& sequence : step.sequences) logit_rows += sequence.logits_rows;
  if (paged_.rows < 1 || paged_.rows > options_.max_step_rows ||
      static_cast<int64_t>(logits.size()) < logit_rows * vocab_size_) {
    throw Error(Code::internal, "a step of " + std::to_string(paged_.rows) + " rows, expected 1 to " +
                                    std::to_string(options_.max_step_rows));
  }
  bind(paged_.rows, logit_rows, logits);
  session_->run(binding_);
  const Tensor& result = session_->result(logits_);
  if (result.dtype() != DType::f32) {
    const auto* half = static_cast<const nxrt::Half*>(result.raw());
    std::transform(half, half + logit_rows * vocab_size_, logits.begin(), [](nxrt::Half h) { return to_float(h); });
  }
}

void PagedModel::pack(const Step& step) {
  sequences_.clear();
  int64_t row = 0, logit = 0;
  for (const StepSequence& sequence : step.sequences) {
    const auto rows = static_cast<int64_t>(sequence.tokens.size());
    if (row + rows > options_.max_step_rows) {
      throw Error(Code::internal, "a step has more than " + std::to_string(options_.max_step_rows) + " rows");
    }
    sequences_.push_back({.blocks = reinterpret_cast<const int32_t*>(sequence.blocks.data()),
                          .past = sequence.past,
                          .first_row = row,
                          .rows = rows});
    for (int64_t r = 0; r < rows; ++r) {
      put(ids_, row + r, sequence.tokens[static_cast<size_t>(r)].value);
      if (positions_) put(positions_, row + r, sequence.past + r);
    }
    for (int64_t r = rows - sequence.logits_rows; r < rows; ++r) put(rows_, logit++, row + r);
    row += rows;
  }
  paged_ = {.pool = step.pool,
            .block_bytes = layout_.block_bytes,
            .block_tokens = kBlockTokens,
            .dtype = layout_.dtype,
            .layers = layout_.layers,
            .sequences = sequences_,
            .rows = row};
}

void PagedModel::bind(int64_t rows, int64_t logit_rows, std::span<float> logits) {
  binding_.input(input_ids_, view(ids_, {1, rows}));
  if (position_ids_ >= 0) binding_.input(position_ids_, view(positions_, {1, rows}));
  binding_.input(logit_rows_, view(rows_, {logit_rows}));
  if (session_->outputs()[static_cast<size_t>(logits_)].type.dtype == DType::f32) {
    binding_.output(logits_, Tensor::borrow(DType::f32, {1, logit_rows, vocab_size_}, logits.data(), {}));
  }
  binding_.paged(&paged_);
}

}  // namespace genai
