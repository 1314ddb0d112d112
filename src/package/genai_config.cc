#include <fmt/format.h>

#include "base/error.h"
#include "base/mapped_file.h"
#include "package/fill.h"
#include "package/sources.h"

namespace genai {
namespace {

void refuse_other_shapes(const ConfigNode& model) {
  for (const char* part : {"encoder", "vision", "speech", "embedding", "joiner"}) {
    const ConfigNode node = model.value(part);
    if (!node.present()) continue;
    throw Error(Code::unsupported, fmt::format("the model has a part '{}', expected a decoder alone", part),
                node.where(), "use a text-only export of the model");
  }
  const ConfigNode pipeline = model["decoder"].value("pipeline");
  if (pipeline.present()) {
    throw Error(Code::unsupported, "the decoder is a pipeline of several graphs, expected one", pipeline.where(),
                "export the model again without splitting the decoder");
  }
}

void fill_roles(const ConfigNode& decoder, DecoderRoles& roles) {
  const ConfigNode inputs = decoder["inputs"], outputs = decoder["outputs"];
  fill(roles.input_ids, inputs.text("input_ids"));
  fill(roles.attention_mask, inputs.text("attention_mask"));
  fill(roles.position_ids, inputs.text("position_ids"));
  fill(roles.past_key, inputs.text("past_key_names"));
  fill(roles.past_value, inputs.text("past_value_names"));
  fill(roles.logits, outputs.text("logits"));
  fill(roles.present_key, outputs.text("present_key_names"));
  fill(roles.present_value, outputs.text("present_value_names"));
}

}  // namespace

void apply_genai_config(const ConfigNode& root, ModelSpec& spec) {
  const ConfigNode model = root["model"], decoder = model["decoder"], search = root["search"];
  if (!model.present()) root.value("model").fail("a section 'model'");
  refuse_other_shapes(model);
  fill(spec.model_type, model.text("type"));
  fill(spec.context_length, model.integer("context_length", 1, INT32_MAX));
  fill(spec.vocab_size, model.integer("vocab_size", 1, INT32_MAX));
  fill_roles(decoder, spec.roles);
  fill_generation(spec.generation, search);
  fill(spec.context_length, search.integer("max_length", 0, INT32_MAX));
  add_ids(spec.generation.eos, model.integers("eos_token_id"));
  fill_token(spec.bos, model.integers("bos_token_id"));
  fill_token(spec.pad, model.integers("pad_token_id"));
  const std::optional<std::string> file = decoder.text("filename");
  if (spec.decoder.empty() && file)
    spec.decoder = nxrt::resolve_inside(spec.folder, *file, decoder.where() + ".filename");
}

}  // namespace genai
