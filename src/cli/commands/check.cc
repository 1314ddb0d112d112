// onnx-genai check: will this model run here, on which path, why not, and how fast to expect.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/cpu.h"
#include "cli/command.h"
#include "cli/model_flags.h"
#include "cli/size_text.h"
#include "kernels/bandwidth.h"

namespace genai::cli {
namespace {

using nlohmann::ordered_json;

struct Flags {
  ModelFlags model;
  bool json = false;
};

// Decoding one stream reads every weight once per token: the memory's read rate bounds it from above.
double expected_rate(double bytes_per_second, int64_t weight_bytes) {
  return weight_bytes > 0 ? bytes_per_second / static_cast<double>(weight_bytes) : 0;
}

ordered_json examine(LoadedModel& model) {
  const KvLayout& kv = model.decoder->kv_layout();
  const int64_t weights = model.session->weight_bytes();
  const double bandwidth = nxrt::measure_read_bandwidth(*model.workers);
  ordered_json object = {{"runs", true},
                         {"path", model.paged ? "paged" : "dense"},
                         {"load_ms", model.load_ms},
                         {"threads", model.workers->width()},
                         {"kernels", std::string(name_of(nxrt::best_isa()))},
                         {"weights_bytes", weights},
                         {"activation_bytes", model.session->activation_bytes()},
                         {"kv_type", std::string(name_of(model.kv_dtype))},
                         {"kv_bytes_per_token", kv.block_bytes / kBlockTokens},
                         {"context_length", model.decoder->context_length()},
                         {"kv_bytes_full_context", kv.block_bytes * blocks_for(model.decoder->context_length())},
                         {"allowed_memory_bytes", nxrt::allowed_memory()},
                         {"read_bytes_per_second", bandwidth},
                         {"expected_decode_tokens_per_second", expected_rate(bandwidth, weights)}};
  if (!model.paged) object["why_dense"] = model.why_dense;
  return object;
}

void print_text(const ordered_json& object) {
  std::printf("runs here            yes, on the %s path\n", object["path"].get<std::string>().c_str());
  if (object.contains("why_dense"))
    std::printf("why not paged        %s\n", object["why_dense"].get<std::string>().c_str());
  std::printf("kernels              %s, %d threads\n", object["kernels"].get<std::string>().c_str(),
              object["threads"].get<int>());
  std::printf("load                 %.0f ms\n", object["load_ms"].get<double>());
  std::printf("weights              %s\n", size_text(object["weights_bytes"].get<int64_t>()).c_str());
  std::printf("activations          %s at most\n", size_text(object["activation_bytes"].get<int64_t>()).c_str());
  std::printf("KV cache             %s, %s per token, %s for the whole context of %d tokens\n",
              object["kv_type"].get<std::string>().c_str(),
              size_text(object["kv_bytes_per_token"].get<int64_t>()).c_str(),
              size_text(object["kv_bytes_full_context"].get<int64_t>()).c_str(), object["context_length"].get<int>());
  std::printf("memory               %s allowed, read at %.1f GB/s\n",
              size_text(object["allowed_memory_bytes"].get<int64_t>()).c_str(),
              object["read_bytes_per_second"].get<double>() / 1e9);
  std::printf("decode, one stream   at most %.0f tokens/s (read rate ÷ weights)\n",
              object["expected_decode_tokens_per_second"].get<double>());
}

int run(const Flags& flags) {
  LoadedModel model = load_model(flags.model.model, flags.model.load_options());
  const ordered_json object = examine(model);
  if (flags.json) {
    std::printf("%s\n", object.dump(2).c_str());
  } else {
    print_text(object);
  }
  return kOk;
}

}  // namespace

Command check() {
  return {"check", "Will a model run here, and how fast", "onnx-genai check models/smollm2 --threads 2",
          [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<Flags>();
            flags->model.add(app);
            app.add_flag("--json", flags->json, "Print one JSON object");
            return [flags] { return run(*flags); };
          }};
}

}  // namespace genai::cli
