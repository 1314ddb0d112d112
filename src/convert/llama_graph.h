// LlamaConfig and weights → the decoder graph, named as onnxruntime-genai's model builder names things.
//
// Inputs: input_ids [batch_size, sequence_length], attention_mask [batch_size, total_sequence_length],
// past_key_values.N.{key,value} [batch_size, kv heads, past_sequence_length, head size]; outputs: logits and
// present.N.{key,value}. Operators: ai.onnx 21 and com.microsoft 1 as stock ONNX Runtime has them.
// Threads: one. Errors: what the weight store throws.
#pragma once

#include "convert/import.h"
#include "convert/llama_config.h"
#include "convert/weight_store.h"

namespace genai {

// Adds everything to the store's graph, streaming the weights in the order the graph uses them.
void build_llama_graph(const LlamaConfig& config, ActivationBits activations, WeightStore& weights);

}  // namespace genai
