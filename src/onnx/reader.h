// ONNX file → Graph. Zero copy: initializers point into the mapped file or its external data.
//
// Reads `.onnx` (protobuf binary), `.onnx.textproto`/`.textproto`, and `.nxg` (graph/text.h).
// Threads: none shared. Errors: Error{corrupt | unsupported | not_found | out_of_capacity} naming file, node and
// tensor. Memory:  at most 2 × file size + 64 MiB while reading, whatever the bytes say. Source:  onnx.proto of
// ONNX 1.16+ (IR up to 13); model-local functions are inlined; subgraphs keep lexical captures.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "graph/graph.h"

namespace nxrt {

struct ReadLimits {
  int64_t max_nodes = 1'000'000;  // after inlining
  int64_t max_external_bytes = int64_t{1} << 46;
  int max_depth = 64;  // nested subgraphs and functions
};

std::unique_ptr<Graph> read_model(const std::filesystem::path& path, const ReadLimits& limits = {});

// `bytes` must outlive the graph unless `owner` keeps them alive. `folder` is where external data may live; empty:
// none.
std::unique_ptr<Graph> read_model_bytes(std::span<const std::byte> bytes, std::shared_ptr<const void> owner,
                                        const std::filesystem::path& folder, const std::string& where,
                                        const ReadLimits& limits = {});

}  // namespace nxrt
