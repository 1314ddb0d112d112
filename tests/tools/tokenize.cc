// Prints the token ids of every line of a file, then of the whole file, then the speed; for compare_tokenizers.py.
//
//   tokenize TOKENIZER.json CORPUS [REPEATS]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "text/detokenizer.h"
#include "text/tokenizer.h"

namespace {
using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void print(const std::vector<genai::TokenId>& ids) {
  for (const auto id : ids) std::printf("%d ", id.value);
  std::printf("\n");
}

int run(const char* tokenizer_json, const char* corpus, int repeats) {
  std::ifstream in(corpus, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  auto start = Clock::now();
  const auto tokenizer = genai::Tokenizer::open(tokenizer_json);
  const double load = since(start);
  start = Clock::now();
  for (int i = 0; i < repeats; ++i) tokenizer->encode(text);
  const double seconds = since(start) / repeats;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    print(tokenizer->encode(std::string_view(text).substr(begin, end - begin)));
    begin = end;
  }
  const auto ids = tokenizer->encode(text);
  print(ids);
  start = Clock::now();
  const std::string back = tokenizer->decode(ids, false);
  std::fprintf(stderr, "load %.3f s, encode %.2f MB/s, decode %.2f MB/s\n", load, text.size() / seconds / 1e6,
               back.size() / since(start) / 1e6);
  return 0;
}
}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return std::fprintf(stderr, "usage: tokenize TOKENIZER.json CORPUS [REPEATS]\n"), 2;
  try {
    return run(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 1);
  } catch (const nxrt::Error& error) {
    std::fprintf(stderr, "%s\n", error.text().c_str());
    return 1;
  }
}
