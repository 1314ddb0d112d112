// An encoder folder (Hugging Face, sentence-transformers layout) as an Embedder.
//
//   if (is_embedding_folder(folder)) auto embedder = open_embedder(folder, 2);
//
// Pooling (mean, cls, last token) and normalisation are what 1_Pooling/config.json and modules.json say; without
// modules.json vectors are normalised. A model with an output `sentence_embedding` pools by itself.
// Threads, errors: as Embedder; open_embedder throws Error naming the file and what was expected.
#pragma once

#include <filesystem>
#include <memory>

#include "serve/embedder.h"

namespace genai::serve {

bool is_embedding_folder(const std::filesystem::path& folder);
std::unique_ptr<Embedder> open_embedder(const std::filesystem::path& folder, int threads);

}  // namespace genai::serve
