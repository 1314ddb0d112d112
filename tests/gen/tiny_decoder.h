// Small decoders in the text form, with random weights, for everything that binds a graph: two layers, two heads over
// one cached head of 8, 40 tokens.
#pragma once

#include <memory>
#include <string>

#include "gen/decoder_ports.h"
#include "gen/dense_model.h"
#include "gen/paged_model.h"
#include "graph/graph.h"

namespace genai::test {

inline constexpr int kTinyVocab = 40;

// As onnxruntime-genai's builder writes it: GroupQueryAttention that rotates, its lengths made from attention_mask.
std::string gqa_decoder();
// The same model with positions from the input position_ids: `rotate` makes qr% and kr% of q% and k%, % is the layer.
std::string position_ids_decoder(const std::string& rotate);
extern const char* const kRotaryNodes;     // com.microsoft.RotaryEmbedding
extern const char* const kGatheredRotary;  // cosines and sines gathered by position, and halves swapped by hand

// `from`, which must stand at exactly one place, becomes `to`.
std::string with(std::string text, const std::string& from, const std::string& to);
std::string everywhere(std::string text, const std::string& from, const std::string& to);

// Inputs named w_* become constants drawn from the seed; shapes are inferred.
std::unique_ptr<nxrt::Graph> decoder_graph(const std::string& text, uint32_t seed = 1);
DecoderPorts ports_of(const nxrt::Graph& graph);

// Why a graph isn't paged; empty when it is.
std::string why_dense(const std::string& text);

std::unique_ptr<PagedModel> paged_model(const std::string& text, nxrt::Workers& workers,
                                        nxrt::DType kv = nxrt::DType::f32);
std::unique_ptr<DenseModel> dense_model(const std::string& text, nxrt::Workers& workers);

}  // namespace genai::test
