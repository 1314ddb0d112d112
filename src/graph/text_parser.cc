#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "graph/text.h"
#include "graph/text_cursor.h"
#include "graph/text_elements.h"
#include "graph/verifier.h"

namespace nxrt {
namespace {

constexpr int kMaxDepth = 64;
constexpr int64_t kMaxRepeated = int64_t{1} << 20;

template <class T>
std::optional<T> whole_number(const std::string& text) {
  T value{};
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = result.ec == std::errc() && result.ptr == text.data() + text.size();
  return whole ? std::optional(value) : std::nullopt;
}

class GraphParser {
 public:
  GraphParser(TextCursor& in, GraphParser* outer, int depth)
      : in_(in), outer_(outer), depth_(depth), graph_(std::make_unique<Graph>()) {
    if (depth > kMaxDepth) in.refuse(fmt::format("bodies are nested more than {} deep", kMaxDepth));
    graph_->opsets = outer ? outer->graph_->opsets : std::map<std::string, int>{{"", 21}, {"com.microsoft", 1}};
  }

  std::unique_ptr<Graph> parse() {
    parse_header();
    parse_inputs();
    in_.expect("=>");
    const std::vector<Declared> outputs = parse_outputs();
    in_.expect("{");
    while (!in_.take("}")) parse_node();
    const size_t end = in_.position();
    for (const Declared& output : outputs) {
      in_.rewind(output.position);
      const ValueId id = lookup(output.name);
      if (output.type) graph_->value(id).type = *output.type;
      graph_->outputs().push_back(id);
    }
    in_.rewind(end);
    return std::move(graph_);
  }

 private:
  struct Declared {
    std::optional<TensorType> type;
    std::string name;
    size_t position = 0;
  };

  void parse_header() {
    for (bool more = true; more;) {
      const size_t start = in_.position();
      const std::string key = in_.word();
      if (key == "opset") {
        graph_->opsets.clear();
        do {
          const std::string domain = in_.quoted();
          graph_->opsets[domain] = opset_number();
        } while (in_.take(","));
      } else if (key == "name") {
        graph_->name = in_.quoted();
      } else if (key == "metadata") {
        const std::string name = in_.quoted();
        graph_->metadata[name] = in_.quoted();
      } else {
        in_.rewind(start);
        more = false;
      }
    }
  }

  int opset_number() {
    const auto version = whole_number<int>(in_.number());
    if (!version || *version < 1) in_.refuse("an opset version is a number of at least 1");
    return *version;
  }

  void parse_inputs() {
    in_.expect("(");
    if (in_.take(")")) return;
    do {
      if (in_.take("^")) {
        parse_capture();
        continue;
      }
      Declared input = parse_declared();
      if (in_.take("=")) {
        graph_->add_constant(input.name, parse_tensor(input.type.value_or(TensorType{})));
      } else {
        graph_->add_input(input.name, input.type.value_or(TensorType{}));
      }
    } while (in_.take(","));
    in_.expect(")");
  }

  void parse_capture() {
    const std::string inner = fresh_name();
    in_.expect("=");
    if (!outer_) in_.refuse("only the body of a node captures values");
    capture(inner, outer_->lookup(in_.name()));
  }

  std::vector<Declared> parse_outputs() {
    std::vector<Declared> outputs;
    in_.expect("(");
    if (in_.take(")")) return outputs;
    do {
      auto type = parse_optional_type();
      in_.peek();
      const size_t position = in_.position();
      outputs.push_back({std::move(type), in_.name(), position});
    } while (in_.take(","));
    in_.expect(")");
    return outputs;
  }

  Declared parse_declared() {
    auto type = parse_optional_type();
    return {std::move(type), fresh_name(), in_.position()};
  }

  std::string fresh_name() {
    in_.peek();
    const size_t start = in_.position();
    std::string name = in_.name();
    if (name.empty() || graph_->find_value(name) != kNoValue) {
      in_.rewind(start);
      in_.refuse(name.empty() ? "a value's name is empty" : fmt::format("value '{}' is defined twice", name));
    }
    return name;
  }

  // A word that names a type is one only when a shape or a value's name follows.
  std::optional<TensorType> parse_optional_type() {
    in_.peek();
    const size_t start = in_.position();
    const std::string word = in_.word();
    const DType dtype = dtype_named(word);
    const bool names_type = dtype != DType::none || word == "none";
    if (!names_type || !(in_.peek() == '[' || in_.at_name())) {
      in_.rewind(start);
      return {};
    }
    return TensorType{.dtype = dtype, .shape = parse_optional_shape()};
  }

  std::optional<SymShape> parse_optional_shape() {
    if (!in_.take("[")) return {};
    std::vector<Dim> dims;
    if (in_.take("]")) return SymShape(dims);
    do {
      in_.peek();
      const size_t start = in_.position();
      const auto dim = Dim::parse(in_.dim());
      if (!dim) {
        in_.rewind(start);
        in_.fail("a dim: a number, '?', or a sum of products of names");
      }
      dims.push_back(*dim);
    } while (in_.take(","));
    in_.expect("]");
    return SymShape(std::move(dims));
  }

  Tensor parse_tensor(const TensorType& type) {
    const auto shape = type.shape ? type.shape->constant() : std::nullopt;
    if (!shape || bits_of(type.dtype) == 0) in_.refuse("a constant needs an element type and a shape of numbers");
    in_.expect("{");
    ElementParser elements(type.dtype, *shape);
    const int64_t wanted = written_elements(type.dtype, *shape);
    while (in_.peek() != '}') {
      if (elements.count() >= wanted) in_.refuse(fmt::format("more than {} elements", wanted));
      parse_element(elements, type.dtype);
      if (in_.take("...")) {
        if (wanted > kMaxRepeated) in_.refuse(fmt::format("'...' fills at most {} elements", kMaxRepeated));
        elements.repeat_last(wanted - elements.count());
      }
      if (!in_.take(",")) break;
    }
    if (elements.count() != wanted) in_.refuse(fmt::format("found {} elements, expected {}", elements.count(), wanted));
    in_.expect("}");
    return elements.finish();
  }

  void parse_element(ElementParser& elements, DType dtype) {
    in_.peek();
    const size_t start = in_.position();
    if (elements.add(in_.number())) return;
    in_.rewind(start);
    in_.fail(fmt::format("a number of type {}", name_of(dtype)));
  }

  void parse_node() {
    std::vector<Declared> outputs;
    do {
      auto type = parse_optional_type();
      outputs.push_back({std::move(type), in_.at_name() ? fresh_name() : "", in_.position()});
    } while (in_.take(","));
    if (outputs.size() == 1 && outputs[0].name.empty()) outputs.clear();
    in_.expect("=");
    Node node;
    parse_op(node);
    if (in_.take("<")) parse_attributes(node);
    parse_arguments(node);
    node.name = outputs.empty() ? "" : outputs[0].name;
    parse_node_name(node);

    std::vector<std::string> names;
    for (const Declared& output : outputs) names.push_back(output.name);
    const NodeId id = graph_->add_node(std::move(node), names);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const ValueId value = graph_->node(id).outputs[i];
      if (value == kNoValue) continue;
      if (graph_->value(value).name != outputs[i].name) in_.refuse("a node names an output twice");
      if (outputs[i].type) graph_->value(value).type = *outputs[i].type;
    }
  }

  // `Op`, `domain.Op` or, when they are no plain names, `"domain" "op"`; then `@opset`.
  void parse_op(Node& node) {
    if (in_.peek() == '"') {
      node.domain = in_.quoted();
      node.op = in_.quoted();
    } else {
      const std::string path = in_.name();
      const size_t dot = path.rfind('.');
      node.domain = dot == std::string::npos ? "" : path.substr(0, dot);
      node.op = dot == std::string::npos ? path : path.substr(dot + 1);
    }
    if (node.op.empty()) in_.fail("an operator");
    if (in_.take("@")) node.opset = opset_number();
  }

  void parse_attributes(Node& node) {
    do {
      const std::string name = in_.name();
      in_.expect("=");
      if (!node.attributes.emplace(name, parse_attribute()).second) {
        in_.refuse(fmt::format("attribute '{}' is given twice", name));
      }
    } while (in_.take(","));
    in_.expect(">");
  }

  Attribute parse_attribute() {
    const char c = in_.peek();
    if (c == '"') return in_.quoted();
    if (c == '(') return std::shared_ptr<Graph>(GraphParser(in_, this, depth_ + 1).parse());
    if (in_.take("[")) return parse_list();
    const size_t start = in_.position();
    const std::string word = in_.word();
    if (word == "ints" || word == "floats" || word == "strings") {
      in_.expect("[");
      in_.expect("]");
      if (word == "ints") return std::vector<int64_t>();
      if (word == "floats") return std::vector<float>();
      return std::vector<std::string>();
    }
    const DType dtype = dtype_named(word);
    if (dtype != DType::none) return parse_tensor({.dtype = dtype, .shape = parse_optional_shape()});
    in_.rewind(start);
    return parse_number();
  }

  Attribute parse_number() {
    in_.peek();
    const size_t start = in_.position();
    const std::string text = in_.number();
    if (const auto integer = whole_number<int64_t>(text)) return *integer;
    if (const auto real = whole_number<float>(text)) return *real;
    in_.rewind(start);
    in_.fail("a number, a string, a list, a tensor or a body");
  }

  Attribute parse_list() {
    if (in_.take("]")) return std::vector<int64_t>();
    std::vector<std::string> strings;
    std::vector<float> reals;
    std::vector<int64_t> integers;
    do {
      if (in_.peek() == '"') {
        strings.push_back(in_.quoted());
        continue;
      }
      const Attribute number = parse_number();
      if (const auto* integer = std::get_if<int64_t>(&number)) integers.push_back(*integer);
      if (const auto* real = std::get_if<float>(&number)) reals.push_back(*real);
    } while (in_.take(","));
    const int kinds = !strings.empty() + !reals.empty() + !integers.empty();
    if (kinds != 1) in_.refuse("a list holds only integers, only floats or only strings");
    in_.expect("]");
    if (!strings.empty()) return strings;
    if (!reals.empty()) return reals;
    return integers;
  }

  void parse_arguments(Node& node) {
    in_.expect("(");
    if (in_.take(")")) return;
    do {
      node.inputs.push_back(in_.at_name() ? argument() : kNoValue);
    } while (in_.take(","));
    in_.expect(")");
  }

  ValueId argument() {
    in_.peek();
    const size_t start = in_.position();
    const std::string name = in_.name();
    const size_t end = in_.position();
    in_.rewind(start);  // where an unknown name is reported
    const ValueId id = lookup(name);
    in_.rewind(end);
    return id;
  }

  void parse_node_name(Node& node) {
    in_.peek();
    const size_t start = in_.position();
    if (in_.word() == "as" && in_.peek() == '"') {
      node.name = in_.quoted();
    } else {
      in_.rewind(start);
    }
  }

  ValueId lookup(const std::string& name) {
    const ValueId id = find(name);
    if (id == kNoValue) in_.refuse(fmt::format("value '{}' is not defined here", name));
    return id;
  }

  // Looks outwards; a value of the surroundings becomes a capture at each level it crosses.
  ValueId find(const std::string& name) {
    const ValueId own = graph_->find_value(name);
    if (own != kNoValue || !outer_) return own;
    const ValueId outside = outer_->find(name);
    return outside == kNoValue ? kNoValue : capture(name, outside);
  }

  ValueId capture(const std::string& name, ValueId outside) {
    const ValueId inner = graph_->add_value(name, outer_->graph_->value(outside).type);
    graph_->captures().push_back({inner, outside});
    return inner;
  }

  TextCursor& in_;
  GraphParser* outer_;
  int depth_;
  std::unique_ptr<Graph> graph_;
};

}  // namespace

std::unique_ptr<Graph> parse_graph(std::string_view text, const std::string& where) {
  TextCursor in(text, where);
  auto graph = GraphParser(in, nullptr, 0).parse();
  if (in.peek() != '\0') in.fail("the end");
  verify(*graph, where);
  return graph;
}

}  // namespace nxrt
