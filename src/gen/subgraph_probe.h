// Runs the part of a decoder that makes one value from lengths alone (a causal mask, a scale), for a few lengths, to
// learn what it is by its elements rather than by the many ways exporters write it.
//
//   SubgraphProbe probe(graph, ports, mask, where);
//   if (probe.reason().empty()) Tensor m = probe.run(/*past=*/3, /*rows=*/2);
//
// attention_mask is all ones, position_ids are past … past + rows − 1. Of everything else only the shape may matter:
// what shape inference knows as numbers or lengths is cut off from where it came from.
// Threads: one. Errors: those of preparing a session.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "exec/session.h"
#include "gen/decoder_ports.h"

namespace genai {

class SubgraphProbe {
 public:
  SubgraphProbe(const nxrt::Graph& graph, const DecoderPorts& ports, nxrt::ValueId value, const std::string& where);

  const std::string& reason() const { return reason_; }  // why it can't be run; empty when it can
  nxrt::Tensor run(int64_t past, int64_t rows);
  double number(int64_t past, int64_t rows);  // of a value with one float; NaN when it has another type

 private:
  struct Input {
    enum Role { mask, positions, lengths } role;
    std::vector<nxrt::Dim> elements;  // of lengths
  };
  using Cuts = std::map<nxrt::ValueId, std::vector<nxrt::Dim>>;
  Cuts cut_at_lengths(nxrt::Graph& graph);
  void classify(const nxrt::Graph& graph, const DecoderPorts& ports, const Cuts& cuts);
  nxrt::Tensor input_tensor(const nxrt::exec::Port& port, int64_t past, int64_t rows) const;

  enum class Length { batch, past, rows, total };
  std::map<std::string, Length> symbols_;  // what the dims of the decoder's inputs are called
  std::map<std::string, Input> inputs_;
  std::string reason_;
  nxrt::Workers workers_{1};
  std::unique_ptr<nxrt::exec::Session> session_;
};

// What an additive attention mask lets row i of a sequence see, when that is a pattern attention knows.
struct MaskPattern {
  bool known = false;
  int64_t window = 0;  // tokens a row sees, itself included; 0: all before it
  std::string reason;  // when not known
};
MaskPattern mask_pattern(SubgraphProbe& probe, int64_t context_length);

}  // namespace genai
