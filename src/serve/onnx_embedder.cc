#include "serve/onnx_embedder.h"

#include <cmath>
#include <fstream>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "exec/session.h"
#include "text/chat_template.h"

namespace genai::serve {
namespace {
using nxrt::DType;
using nxrt::Tensor;
namespace fs = std::filesystem;
constexpr int kDefaultLength = 512;

enum class Pooling { mean, cls, last };

// An empty object when there is no such file.
Json read_json(const fs::path& path) {
  std::ifstream in(path);
  if (!in) return Json::object();
  const std::string text(std::istreambuf_iterator<char>(in), {});
  Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) throw Error(Code::corrupt, "this is not valid JSON", path.string());
  return json;
}

bool flag(const Json& json, const char* key) {
  const auto it = json.find(key);
  return it != json.end() && it->is_boolean() && it->get<bool>();
}

int count(const Json& json, const char* key, int otherwise) {
  const auto it = json.find(key);
  const bool good =
      it != json.end() && it->is_number_integer() && it->get<int64_t>() > 0 && it->get<int64_t>() < 1'000'000;
  return good ? it->get<int>() : otherwise;
}

Pooling pooling_of(const fs::path& folder) {
  const fs::path file = folder / "1_Pooling" / "config.json";
  const Json config = read_json(file);
  if (config.empty() || flag(config, "pooling_mode_mean_tokens")) return Pooling::mean;
  if (flag(config, "pooling_mode_cls_token")) return Pooling::cls;
  if (flag(config, "pooling_mode_lasttoken")) return Pooling::last;
  throw Error(Code::unsupported, "the pooling mode is neither mean, cls nor last token", file.string());
}

bool normalizes(const fs::path& folder) {
  const Json modules = read_json(folder / "modules.json");
  if (!modules.is_array()) return true;
  for (const Json& module : modules) {
    if (module.is_object() && module.value("type", "").ends_with("Normalize")) return true;
  }
  return false;
}

fs::path graph_in(const fs::path& folder) {
  for (const char* name : {"model.onnx", "onnx/model.onnx", "model_int8.onnx", "model_quantized.onnx"}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  throw Error(Code::not_found, "the folder has no model.onnx", folder.string());
}

class OnnxEmbedder : public Embedder {
 public:
  OnnxEmbedder(const fs::path& folder, int threads)
      : workers_(threads > 0 ? threads : nxrt::allowed_cpus()),
        tokenizer_(Tokenizer::open(folder / "tokenizer.json")),
        session_(nxrt::exec::Session::open(graph_in(folder), workers_, {})),
        pooling_(pooling_of(folder)),
        normalize_(normalizes(folder)) {
    const int positions = count(read_json(folder / "config.json"), "max_position_embeddings", kDefaultLength);
    length_ = std::min(positions, count(read_json(folder / "sentence_bert_config.json"), "max_seq_length", positions));
    if (session_->input_port("input_ids") < 0) {
      throw Error(Code::unsupported, "the encoder has no input 'input_ids'", folder.string());
    }
    for (const char* name : {"sentence_embedding", "last_hidden_state", "token_embeddings"}) {
      if (output_ < 0) output_ = session_->output_port(name);
    }
    output_ = std::max(output_, 0);
  }

  int context_length() const override { return length_; }
  std::vector<TokenId> tokens_of(std::string_view text) const override { return tokenizer_->encode(text); }

  std::vector<float> embed(std::span<const TokenId> tokens) override {
    const std::lock_guard lock(mutex_);
    std::vector<float> vector = pooled(run(tokens));
    double squares = 0;
    for (const float x : vector) squares += double{x} * x;
    if (normalize_ && squares > 0) {
      for (float& x : vector) x = static_cast<float>(x / std::sqrt(squares));
    }
    return vector;
  }

 private:
  const Tensor& run(std::span<const TokenId> tokens) {
    const auto size = static_cast<int64_t>(tokens.size());
    Tensor ids = Tensor::zeros(DType::i64, {1, size}), mask = Tensor::zeros(DType::i64, {1, size});
    for (int64_t i = 0; i < size; ++i) {
      ids.data<int64_t>()[i] = tokens[static_cast<size_t>(i)].value;
      mask.data<int64_t>()[i] = 1;
    }
    const Tensor types = Tensor::zeros(DType::i64, {1, size});
    nxrt::exec::Binding binding;
    binding.input(session_->input_port("input_ids"), ids);
    if (const int port = session_->input_port("attention_mask"); port >= 0) binding.input(port, mask);
    if (const int port = session_->input_port("token_type_ids"); port >= 0) binding.input(port, types);
    session_->run(binding);
    return session_->result(output_);
  }

  // hidden: [1, tokens, width], or [1, width] when the model pools by itself.
  std::vector<float> pooled(const Tensor& hidden) const {
    const nxrt::Shape& shape = hidden.shape();
    const int64_t width = shape[shape.rank() - 1], rows = shape.rank() == 3 ? shape[1] : 1;
    const float* x = hidden.data<float>();  // [rows, width]
    std::vector<float> out(static_cast<size_t>(width));
    if (pooling_ != Pooling::mean || rows == 1) {
      const int64_t row = pooling_ == Pooling::last ? rows - 1 : 0;
      std::copy(x + row * width, x + (row + 1) * width, out.begin());
      return out;
    }
    for (int64_t i = 0; i < width; ++i) {
      double sum = 0;
      for (int64_t r = 0; r < rows; ++r) sum += x[r * width + i];
      out[static_cast<size_t>(i)] = static_cast<float>(sum / static_cast<double>(rows));
    }
    return out;
  }

  nxrt::Workers workers_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::unique_ptr<nxrt::exec::Session> session_;
  const Pooling pooling_;
  const bool normalize_;
  int output_ = -1, length_ = 0;
  std::mutex mutex_;
};

}  // namespace

bool is_embedding_folder(const fs::path& folder) {
  if (fs::exists(folder / "genai_config.json")) return false;
  for (const char* mark : {"1_Pooling/config.json", "modules.json", "sentence_bert_config.json"}) {
    if (fs::exists(folder / mark)) return true;
  }
  return false;
}

std::unique_ptr<Embedder> open_embedder(const fs::path& folder, int threads) {
  return std::make_unique<OnnxEmbedder>(folder, threads);
}

}  // namespace genai::serve
