// A model folder of any llama-like shape with random 4-bit weights: for measuring the speed of sizes that one has no
// weights of. It runs everywhere a real import does; what it says is noise, and its config.json and LICENSE say so.
//
//   import_random_model({.shape = "7B", .target = "models/random-7b"}, progress);
//
// Threads: one. Errors: Error naming the shape's file and key; the target appears whole or not at all.
// Memory:  a few MiB; equal shape and seed give equal bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "convert/import.h"

namespace genai {

struct RandomModelOptions {
  std::string shape;  // a name of llama_shapes.h, a config.json, or a folder that has one
  std::filesystem::path target;
  ActivationBits activations = ActivationBits::int16;
  uint64_t seed = 0;
  bool overwrite = false;
};

// `progress` returns false to cancel: Error{cancelled}, nothing left behind.
ImportReport import_random_model(const RandomModelOptions& options,
                                 const std::function<bool(const ImportProgress&)>& progress);

}  // namespace genai
