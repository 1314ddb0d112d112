#include "cli/model_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>

#include "base/cpu.h"
#include "cli/size_text.h"
#include "cli/validators.h"
#include "gen/kv_type.h"

namespace genai::cli {
namespace {

// Of the allowed memory, when --kv-memory says nothing.
constexpr double kDefaultKvShare = 0.25;

nxrt::Isa isa_named(const std::string& name) {
  for (const nxrt::Isa isa : nxrt::available()) {
    if (name_of(isa) == name) return isa;
  }
  std::string all;
  for (const nxrt::Isa isa : nxrt::available()) all += (all.empty() ? "" : ", ") + std::string(name_of(isa));
  throw CLI::ValidationError("--isa", "'" + name + "' is not one this machine has: " + all);
}

}  // namespace

int64_t kv_budget(const ModelFlags& flags, const DecoderModel& decoder, int streams) {
  const int64_t memory = nxrt::allowed_memory();
  if (!flags.kv_memory.empty()) {
    const std::optional<int64_t> bytes = parse_size(flags.kv_memory, memory);
    if (!bytes)
      throw CLI::ValidationError("--kv-memory",
                                 "'" + flags.kv_memory + "' is not a size: 512MiB, 2GiB, or a fraction like 0.25");
    if (*bytes <= memory) return *bytes;
    throw Error(Code::out_of_capacity,
                "the KV cache was given " + size_text(*bytes) + ", this process may use " + size_text(memory),
                "--kv-memory", "give it less");
  }
  const int64_t full = decoder.kv_layout().block_bytes * (blocks_for(decoder.context_length()) + 1) * streams;
  return std::max(std::min(full, static_cast<int64_t>(kDefaultKvShare * static_cast<double>(memory))),
                  decoder.kv_layout().block_bytes);
}

void ModelFlags::add(CLI::App& app) {
  app.add_option("MODEL", model, "Model folder (or the .onnx in it)")->required();
  app.add_option("--threads", threads, "Compute threads; 0: every CPU this process may use")
      ->check(CLI::Range(0, 1024));
  app.add_option("--isa", isa, "Force an instruction set: scalar, avx2, avx512, vnni");
  app.add_option("--context", context, "Most tokens of a sequence; 0: the model's")->check(not_negative());
  app.add_option("--kv-memory", kv_memory, "Memory of the KV cache: 512MiB, 2GiB, or a fraction of the allowed memory");
  app.add_option("--kv-type", kv_type,
                 "Element type of the KV cache; auto: f32 for float32 weights, f16 for narrower ones")
      ->check(CLI::IsMember({"auto", "f32", "f16"}))
      ->capture_default_str();
  app.add_option("--max-step-rows", max_step_rows, "Tokens per step")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app.add_option("--max-step-ms", max_step_ms, "Longest gap of a running stream while a prompt is read")
      ->check(not_negative());
  app.add_flag("--dense", dense, "Use the exported past/present tensors instead of the paged path");
  app.add_flag("--profile", profile, "Print where the time went");
  app.add_option("--profile-trace", profile_trace, "Write a Chrome/Perfetto trace to this file");
}

LoadOptions ModelFlags::load_options() const {
  LoadOptions options;
  options.threads = threads;
  if (!isa.empty()) options.isa = isa_named(isa);
  options.kv_dtype = kv_type_named(kv_type);
  options.max_step_rows = max_step_rows;
  options.context_length = context;
  options.dense = dense;
  return options;
}

OpenedModel open(const ModelFlags& flags, int streams, const SpeculationFlags& speculation) {
  OpenedModel opened{.loaded = load_model(flags.model, flags.load_options()), .engine = {}};
  if (!opened.loaded.paged) {
    std::fprintf(stderr, "note: the dense path runs this model, one sequence at a time: %s\n",
                 opened.loaded.why_dense.c_str());
  }
  if (flags.profile || !flags.profile_trace.empty())
    opened.loaded.session->profile().start(!flags.profile_trace.empty());
  EngineOptions options;
  opened.kv_budget = kv_budget(flags, *opened.loaded.decoder, streams);
  options.speculation = speculation.options(opened.loaded, flags.load_options(), opened.kv_budget);
  options.kv_bytes = opened.kv_budget;
  options.scheduler.max_sequences = std::max(options.scheduler.max_sequences, streams);
  options.scheduler.max_step_rows = flags.max_step_rows;
  if (flags.max_step_ms > 0) options.scheduler.max_step_ms = flags.max_step_ms;
  options.output_buffer = 1 << 16;  // the terminal may be slow; an answer never waits for it
  options.delivery_grace_ms = 0;
  opened.engine = std::make_unique<Engine>(std::move(opened.loaded.decoder), opened.loaded.tokenizer, options);
  return opened;
}

void report_profile(const ModelFlags& flags, OpenedModel& model) {
  nxrt::exec::Profile& profile = model.loaded.session->profile();
  if (flags.profile) std::fprintf(stderr, "%s", profile.table().c_str());
  if (flags.profile_trace.empty()) return;
  std::ofstream file(flags.profile_trace);
  file << profile.trace_json();
  if (!file.flush()) throw Error(Code::io, "the trace can't be written", flags.profile_trace);
}

}  // namespace genai::cli
