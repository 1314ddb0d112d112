#include <algorithm>
#include <string>
#include <unordered_map>

#include "ops/op.h"

namespace nxrt::ops {
namespace {

std::string key_of(std::string_view domain, std::string_view name) {
  if (domain == "ai.onnx") domain = "";  // the file format allows both spellings
  return std::string(domain) + ":" + std::string(name);
}

// Versions of one operator, newest first.
using Versions = std::vector<const OpDef*>;

const std::unordered_map<std::string, Versions>& index() {
  static const std::unordered_map<std::string, Versions> map = [] {
    std::unordered_map<std::string, Versions> by_name;
    for (const OpDef* op : all_ops()) by_name[key_of(op->domain, op->name)].push_back(op);
    for (auto& [name, versions] : by_name) {
      std::sort(versions.begin(), versions.end(), [](const OpDef* a, const OpDef* b) { return a->since > b->since; });
    }
    return by_name;
  }();
  return map;
}

}  // namespace

const OpDef* find_op(std::string_view domain, std::string_view name, int opset) {
  const auto found = index().find(key_of(domain, name));
  if (found == index().end()) return nullptr;
  for (const OpDef* op : found->second) {
    if (op->since <= opset) return op;
  }
  return nullptr;
}

}  // namespace nxrt::ops
