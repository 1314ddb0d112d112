// onnx-genai import: GGUF, or a shape to fill with random weights → ONNX package.
#include "convert/import.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <map>
#include <memory>

#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/progress_bar.h"
#include "cli/size_text.h"
#include "cli/validators.h"
#include "convert/llama_shapes.h"
#include "convert/random_model.h"

namespace genai::cli {
namespace {

const std::map<std::string, Precision> kPrecisions = {{"keep", Precision::keep},
                                                      {"int4", Precision::int4},
                                                      {"int8", Precision::int8},
                                                      {"f16", Precision::f16},
                                                      {"f32", Precision::f32}};

const std::map<std::string, ActivationBits> kActivations = {
    {"int8", ActivationBits::int8}, {"int16", ActivationBits::int16}, {"f32", ActivationBits::f32}};

template <class T>
std::vector<std::string> names(const std::map<std::string, T>& table) {
  std::vector<std::string> all;
  for (const auto& [name, value] : table) all.push_back(name);
  return all;
}

struct Flags {
  ImportOptions from_file;
  RandomModelOptions random;  // when it has a shape
};

ImportReport import_either(const Flags& flags, const std::function<bool(const ImportProgress&)>& progress) {
  if (flags.random.shape.empty()) return import_model(flags.from_file, progress);
  RandomModelOptions options = flags.random;
  options.target = flags.from_file.target;
  options.activations = flags.from_file.activations;
  options.overwrite = flags.from_file.overwrite;
  return import_random_model(options, progress);
}

int run(const Flags& flags) {
  if (flags.from_file.source.empty() && flags.random.shape.empty())
    throw CLI::RequiredError("SOURCE or --random-weights");
  const CooperativeInterrupt interrupt;
  ImportReport report;
  {
    ProgressBar bar;
    report = import_either(flags, [&](const ImportProgress& progress) {
      bar.show(progress.stage, progress.done_bytes, progress.total_bytes);
      return !interrupt.pending();
    });
  }
  std::fprintf(stderr, "%s (%s, licence: %s): %.1f M parameters, %s → %s\n", report.name.c_str(),
               report.architecture.c_str(), report.license.empty() ? "not stated" : report.license.c_str(),
               static_cast<double>(report.parameters) / 1e6, size_text(report.source_bytes).c_str(),
               size_text(report.target_bytes).c_str());
  for (const std::string& note : report.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
  std::printf("%s\n", flags.from_file.target.c_str());
  return kOk;
}

void add_random_weights(CLI::App& app, CLI::Option* source, RandomModelOptions& random) {
  CLI::Option* shape = app.add_option("--random-weights", random.shape,
                                      "Make a model of this shape with random 4-bit weights, to measure speed: a "
                                      "config.json, or one of " +
                                          known_llama_shapes())
                           ->type_name("CONFIG")
                           ->excludes(source);
  app.add_option("--seed", random.seed, "Of the random weights")
      ->check(unsigned_integer())
      ->needs(shape)
      ->capture_default_str();
}

}  // namespace

Command import() {
  return {"import", "Make an ONNX package from a GGUF file, or of random weights",
          "onnx-genai import smollm2.gguf -o models/smollm2", [](CLI::App& app) -> std::function<int()> {
            auto flags = std::make_shared<Flags>();
            ImportOptions* options = &flags->from_file;
            CLI::Option* source = app.add_option("SOURCE", options->source, "The .gguf file");
            app.add_option("-o,--output", options->target, "Folder to make")->required();
            app.add_option_function<std::string>(
                   "--precision", [options](const std::string& name) { options->precision = kPrecisions.at(name); },
                   "Of the weights; keep: the file's own")
                ->check(CLI::IsMember(names(kPrecisions)))
                ->default_str("keep");
            app.add_option_function<std::string>(
                   "--activations",
                   [options](const std::string& name) { options->activations = kActivations.at(name); },
                   "What meets quantized weights; int8 is the fastest")
                ->check(CLI::IsMember(names(kActivations)))
                ->default_str("int16");
            app.add_flag("--overwrite", options->overwrite, "Replace an existing folder");
            add_random_weights(app, source, flags->random);
            return [flags] { return run(*flags); };
          }};
}

}  // namespace genai::cli
