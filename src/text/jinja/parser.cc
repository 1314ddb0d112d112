// Tokens → statements and expressions, by recursive descent; the precedence is Jinja's.
#include <algorithm>
#include <array>
#include <initializer_list>

#include "base/error.h"
#include "text/jinja/ast.h"

namespace genai::jinja {
namespace {

using Kind = Token::Kind;
constexpr int kMaxDepth = 200;  // nested expressions and blocks

class Parser {
 public:
  Parser(const std::vector<Token>& tokens, const std::string& where) : tokens_(tokens), where_(where) {}

  Body run() {
    Body body = parse_body({});
    if (now().kind != Kind::end) error("unexpected end of a block: '" + word_after_block() + "'");
    return body;
  }

 private:
  const Token& now() const { return tokens_[at_]; }
  const Token& ahead(size_t n) const { return tokens_[std::min(at_ + n, tokens_.size() - 1)]; }
  const Token& take() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool is_symbol(std::string_view s) const { return now().kind == Kind::symbol && now().text == s; }
  bool is_name(std::string_view s) const { return now().kind == Kind::name && now().text == s; }
  bool accept_symbol(std::string_view s) { return is_symbol(s) && (take(), true); }
  bool accept_name(std::string_view s) { return is_name(s) && (take(), true); }
  std::string word_after_block() const { return ahead(1).text; }

  [[noreturn]] void error(const std::string& message) const {
    throw nxrt::Error(nxrt::Code::invalid_argument, message, place_text(where_, now().place));
  }
  std::string found() const { return now().kind == Kind::end ? "the end of the template" : "'" + now().text + "'"; }
  void expect_symbol(std::string_view s) {
    if (!accept_symbol(s)) error("expected '" + std::string(s) + "', found " + found());
  }
  std::string expect_name(const char* what) {
    if (now().kind != Kind::name) error(std::string("expected ") + what + ", found " + found());
    return take().text;
  }
  void expect_block_end() {
    if (now().kind != Kind::block_end) error("expected %}, found " + found());
    take();
  }

  struct Nested {  // bounds the recursion
    explicit Nested(Parser& owner) : parser(owner) {
      if (++parser.depth_ > kMaxDepth) parser.error("nested more than " + std::to_string(kMaxDepth) + " deep");
    }
    ~Nested() { --parser.depth_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;
    Parser& parser;
  };

  ExprPtr make(Expr::Kind kind, Place place) const {
    auto expr = std::make_unique<Expr>();
    expr->kind = kind;
    expr->place = place;
    return expr;
  }
  template <class... Args>
  ExprPtr make(Expr::Kind kind, Place place, Args... args) const {
    ExprPtr expr = make(kind, place);
    (expr->args.push_back(std::move(args)), ...);
    return expr;
  }

  // ---- statements

  // Up to a block whose word is one of `ends` (left in place) or the end.
  Body parse_body(std::initializer_list<std::string_view> ends) {
    const Nested nested(*this);
    Body body;
    for (;;) {
      if (now().kind == Kind::end) {
        if (ends.size()) error("a block is not closed, expected {% " + std::string(*(ends.end() - 1)) + " %}");
        return body;
      }
      if (now().kind == Kind::text) {
        auto stmt = statement(Stmt::Kind::text);
        stmt->text = take().text;
        body.push_back(std::move(stmt));
      } else if (now().kind == Kind::output_begin) {
        take();
        auto stmt = statement(Stmt::Kind::output);
        stmt->expr = parse_tuple();
        if (now().kind != Kind::output_end) error("expected }}, found " + found());
        take();
        body.push_back(std::move(stmt));
      } else {
        if (std::ranges::find(ends, word_after_block()) != ends.end()) return body;
        if (word_after_block().starts_with("end") || word_after_block() == "else" || word_after_block() == "elif")
          return body;
        take();
        if (auto stmt = parse_block(body)) body.push_back(std::move(stmt));
      }
    }
  }

  std::unique_ptr<Stmt> statement(Stmt::Kind kind) const {
    auto stmt = std::make_unique<Stmt>();
    stmt->kind = kind;
    stmt->place = now().place;
    return stmt;
  }

  // Null when the block's content was spliced into `body`.
  std::unique_ptr<Stmt> parse_block(Body& body) {
    const std::string word = expect_name("a block name");
    if (word == "if") return parse_if();
    if (word == "for") return parse_for();
    if (word == "set") return parse_set();
    if (word == "macro") return parse_macro();
    if (word == "filter") return parse_filter_block();
    if (word == "call") return parse_call_block();
    if (word == "break" || word == "continue") {
      auto stmt = statement(word == "break" ? Stmt::Kind::brk : Stmt::Kind::cont);
      expect_block_end();
      return stmt;
    }
    if (word == "generation") {  // marks the assistant's text for training; it renders as its content
      expect_block_end();
      Body inner = parse_body({"endgeneration"});
      end_block("endgeneration");
      for (auto& stmt : inner) body.push_back(std::move(stmt));
      return nullptr;
    }
    if (word == "do") {
      auto stmt = statement(Stmt::Kind::assign);
      stmt->expr = parse_tuple();
      expect_block_end();
      return stmt;
    }
    error("the block '" + word + "' is not supported");
  }

  void end_block(const char* word) {
    if (now().kind == Kind::end || word_after_block() != word)
      error("expected {% " + std::string(word) + " %}, found '" + word_after_block() + "'");
    take();
    take();
    if (now().kind == Kind::name) take();  // {% endmacro name %}
    expect_block_end();
  }

  std::unique_ptr<Stmt> parse_if() {
    auto stmt = statement(Stmt::Kind::condition);
    stmt->expr = parse_tuple();
    expect_block_end();
    stmt->body = parse_body({"elif", "else", "endif"});
    if (word_after_block() == "elif") {
      take();
      take();
      stmt->otherwise.push_back(parse_if());
      return stmt;  // the innermost elif has consumed endif
    }
    if (word_after_block() == "else") {
      take();
      take();
      expect_block_end();
      stmt->otherwise = parse_body({"endif"});
    }
    end_block("endif");
    return stmt;
  }

  std::unique_ptr<Stmt> parse_for() {
    auto stmt = statement(Stmt::Kind::loop);
    do {
      const bool parenthesis = accept_symbol("(");
      stmt->targets.push_back(parse_target(false));
      if (parenthesis) {
        while (accept_symbol(",")) stmt->targets.push_back(parse_target(false));
        expect_symbol(")");
      }
    } while (accept_symbol(","));
    if (!accept_name("in")) error("expected 'in', found " + found());
    stmt->expr = parse_tuple(false);
    if (accept_name("if")) stmt->filter = parse_expression();
    if (is_name("recursive")) error("recursive loops are not supported");
    expect_block_end();
    stmt->body = parse_body({"else", "endfor"});
    if (word_after_block() == "else") {
      take();
      take();
      expect_block_end();
      stmt->otherwise = parse_body({"endfor"});
    }
    end_block("endfor");
    return stmt;
  }

  // A name, or with `attributes` also a namespace's attribute.
  ExprPtr parse_target(bool attributes) {
    ExprPtr target = make(Expr::Kind::name, now().place);
    target->name = expect_name("a name");
    if (attributes && accept_symbol(".")) {
      ExprPtr attribute = make(Expr::Kind::attribute, now().place, std::move(target));
      attribute->name = expect_name("an attribute");
      return attribute;
    }
    return target;
  }

  std::unique_ptr<Stmt> parse_set() {
    auto stmt = statement(Stmt::Kind::assign);
    do {
      stmt->targets.push_back(parse_target(true));
    } while (accept_symbol(","));
    if (accept_symbol("=")) {
      stmt->expr = parse_tuple();
      expect_block_end();
      return stmt;
    }
    if (accept_symbol("|")) stmt->filter = parse_filters(nullptr);
    expect_block_end();
    stmt->body = parse_body({"endset"});
    end_block("endset");
    return stmt;
  }

  std::vector<Parameter> parse_parameters() {
    std::vector<Parameter> parameters;
    expect_symbol("(");
    while (!is_symbol(")")) {
      Parameter parameter{expect_name("a parameter"), nullptr};
      if (accept_symbol("=")) parameter.fallback = parse_expression();
      parameters.push_back(std::move(parameter));
      if (!accept_symbol(",")) break;
    }
    expect_symbol(")");
    return parameters;
  }

  std::unique_ptr<Stmt> parse_macro() {
    auto stmt = statement(Stmt::Kind::macro);
    stmt->text = expect_name("the macro's name");
    stmt->parameters = parse_parameters();
    expect_block_end();
    stmt->body = parse_body({"endmacro"});
    end_block("endmacro");
    return stmt;
  }

  std::unique_ptr<Stmt> parse_filter_block() {
    auto stmt = statement(Stmt::Kind::filter_block);
    stmt->filter = parse_filters(nullptr);
    expect_block_end();
    stmt->body = parse_body({"endfilter"});
    end_block("endfilter");
    return stmt;
  }

  std::unique_ptr<Stmt> parse_call_block() {
    auto stmt = statement(Stmt::Kind::call_block);
    if (is_symbol("(")) stmt->parameters = parse_parameters();
    stmt->expr = parse_expression();
    if (stmt->expr->kind != Expr::Kind::call) error("{% call %} needs a macro call");
    expect_block_end();
    stmt->body = parse_body({"endcall"});
    end_block("endcall");
    return stmt;
  }

  // ---- expressions

  // One expression, or several with commas between: a tuple.
  ExprPtr parse_tuple(bool conditional = true) {
    const Place place = now().place;
    ExprPtr first = conditional ? parse_expression() : parse_either();
    if (!is_symbol(",")) return first;
    ExprPtr tuple = make(Expr::Kind::tuple, place, std::move(first));
    while (accept_symbol(",")) {
      if (now().kind == Kind::block_end || now().kind == Kind::output_end || is_symbol(")")) break;
      tuple->args.push_back(conditional ? parse_expression() : parse_either());
    }
    return tuple;
  }

  ExprPtr parse_expression() {
    const Nested nested(*this);
    ExprPtr value = parse_either();
    while (is_name("if")) {
      const Place place = take().place;
      ExprPtr condition = parse_either();
      ExprPtr otherwise = accept_name("else") ? parse_expression() : nullptr;
      value = make(Expr::Kind::conditional, place, std::move(condition), std::move(value), std::move(otherwise));
    }
    return value;
  }

  ExprPtr parse_either() {
    ExprPtr left = parse_both();
    while (is_name("or")) {
      const Place place = take().place;
      left = make(Expr::Kind::either, place, std::move(left), parse_both());
    }
    return left;
  }

  ExprPtr parse_both() {
    ExprPtr left = parse_negation();
    while (is_name("and")) {
      const Place place = take().place;
      left = make(Expr::Kind::both, place, std::move(left), parse_negation());
    }
    return left;
  }

  ExprPtr parse_negation() {
    if (!is_name("not")) return parse_compare();
    const Nested nested(*this);
    const Place place = take().place;
    return make(Expr::Kind::negation, place, parse_negation());
  }

  bool accept_compare(Op& op) {
    constexpr std::array<std::pair<std::string_view, Op>, 6> kOps = {{{"==", Op::equal},
                                                                      {"!=", Op::unequal},
                                                                      {"<=", Op::less_equal},
                                                                      {">=", Op::greater_equal},
                                                                      {"<", Op::less},
                                                                      {">", Op::greater}}};
    for (const auto& [symbol, meaning] : kOps) {
      if (accept_symbol(symbol)) return op = meaning, true;
    }
    if (accept_name("in")) return op = Op::in, true;
    if (is_name("not") && ahead(1).kind == Kind::name && ahead(1).text == "in") {
      take();
      take();
      return op = Op::not_in, true;
    }
    return false;
  }

  ExprPtr parse_compare() {
    ExprPtr left = parse_sum();
    Op op{};
    const Place place = now().place;
    if (!accept_compare(op)) return left;
    ExprPtr compare = make(Expr::Kind::compare, place, std::move(left));
    do {
      compare->ops.push_back(op);
      compare->args.push_back(parse_sum());
    } while (accept_compare(op));
    return compare;
  }

  ExprPtr binary(Op op, Place place, ExprPtr left, ExprPtr right) const {
    ExprPtr expr = make(Expr::Kind::binary, place, std::move(left), std::move(right));
    expr->ops = {op};
    return expr;
  }

  ExprPtr parse_sum() {
    ExprPtr left = parse_concat();
    while (is_symbol("+") || is_symbol("-")) {
      const Token& symbol = take();
      left = binary(symbol.text == "+" ? Op::add : Op::subtract, symbol.place, std::move(left), parse_concat());
    }
    return left;
  }

  ExprPtr parse_concat() {
    ExprPtr left = parse_product();
    while (is_symbol("~")) {
      const Place place = take().place;
      left = binary(Op::concat, place, std::move(left), parse_product());
    }
    return left;
  }

  ExprPtr parse_product() {
    ExprPtr left = parse_power();
    for (;;) {
      const Place place = now().place;
      if (accept_symbol("*"))
        left = binary(Op::multiply, place, std::move(left), parse_power());
      else if (accept_symbol("/"))
        left = binary(Op::divide, place, std::move(left), parse_power());
      else if (accept_symbol("//"))
        left = binary(Op::floor_divide, place, std::move(left), parse_power());
      else if (accept_symbol("%"))
        left = binary(Op::modulo, place, std::move(left), parse_power());
      else
        return left;
    }
  }

  ExprPtr parse_power() {
    ExprPtr left = parse_unary(true);
    while (is_symbol("**")) {
      const Place place = take().place;
      left = binary(Op::power, place, std::move(left), parse_unary(true));
    }
    return left;
  }

  ExprPtr parse_unary(bool with_filters) {
    const Nested nested(*this);
    const Place place = now().place;
    ExprPtr value;
    if (is_symbol("-") || is_symbol("+")) {
      const Op op = take().text == "-" ? Op::negate : Op::plus;
      value = make(Expr::Kind::unary, place, parse_unary(false));
      value->ops = {op};
    } else {
      value = parse_primary();
    }
    value = parse_postfix(std::move(value));
    return with_filters ? parse_filters_and_tests(std::move(value)) : std::move(value);
  }

  ExprPtr constant(Place place, Value value) const {
    ExprPtr expr = make(Expr::Kind::constant, place);
    expr->constant = std::move(value);
    return expr;
  }

  ExprPtr parse_primary() {
    const Token token = take();
    switch (token.kind) {
      case Kind::name: return parse_word(token);
      case Kind::string: {
        std::string text = token.text;
        while (now().kind == Kind::string) text += take().text;  // neighbours join, as in Python
        return constant(token.place, Value(std::move(text)));
      }
      case Kind::integer:
        if (token.text.size() > 18) error("the number " + token.text + " is too large");
        return constant(token.place, Value(int64_t{std::stoll(token.text)}));
      case Kind::real: return constant(token.place, Value(std::stod(token.text)));
      default: break;
    }
    if (token.kind == Kind::symbol && token.text == "(") return parse_parenthesis(token.place);
    if (token.kind == Kind::symbol && token.text == "[") return parse_list(token.place);
    if (token.kind == Kind::symbol && token.text == "{") return parse_dict(token.place);
    const std::string what = token.kind == Kind::end ? "the end of the template" : "'" + token.text + "'";
    throw nxrt::Error(nxrt::Code::invalid_argument, "expected an expression, found " + what,
                      place_text(where_, token.place));
  }

  ExprPtr parse_word(const Token& token) const {
    if (token.text == "true" || token.text == "True") return constant(token.place, true);
    if (token.text == "false" || token.text == "False") return constant(token.place, false);
    if (token.text == "none" || token.text == "None") return constant(token.place, Value());
    ExprPtr name = make(Expr::Kind::name, token.place);
    name->name = token.text;
    return name;
  }

  ExprPtr parse_parenthesis(Place place) {
    if (accept_symbol(")")) return make(Expr::Kind::tuple, place);
    ExprPtr inner = parse_tuple();
    expect_symbol(")");
    return inner;
  }

  ExprPtr parse_list(Place place) {
    ExprPtr list = make(Expr::Kind::list, place);
    while (!is_symbol("]")) {
      list->args.push_back(parse_expression());
      if (!accept_symbol(",")) break;
    }
    expect_symbol("]");
    return list;
  }

  ExprPtr parse_dict(Place place) {
    ExprPtr dict = make(Expr::Kind::dict, place);
    while (!is_symbol("}")) {
      dict->args.push_back(parse_expression());
      expect_symbol(":");
      dict->args.push_back(parse_expression());
      if (!accept_symbol(",")) break;
    }
    expect_symbol("}");
    return dict;
  }

  ExprPtr parse_postfix(ExprPtr value) {
    for (;;) {
      const Place place = now().place;
      if (accept_symbol(".")) {
        value = make(Expr::Kind::attribute, place, std::move(value));
        if (now().kind == Kind::integer) {  // items.0
          const Place at = now().place;
          ExprPtr index = constant(at, Value(int64_t{std::stoll(take().text.substr(0, 9))}));
          value->kind = Expr::Kind::item;
          value->args.push_back(std::move(index));
        } else {
          value->name = expect_name("an attribute");
        }
      } else if (accept_symbol("[")) {
        value = parse_subscript(std::move(value), place);
      } else if (is_symbol("(")) {
        value = make(Expr::Kind::call, place, std::move(value));
        parse_arguments(*value);
      } else {
        return value;
      }
    }
  }

  ExprPtr parse_subscript(ExprPtr value, Place place) {
    std::array<ExprPtr, 3> parts;
    size_t colons = 0;
    while (!is_symbol("]")) {
      if (accept_symbol(":")) {
        if (++colons > 2) error("a slice has at most two ':'");
      } else {
        parts[colons] = parse_expression();
      }
    }
    expect_symbol("]");
    if (colons == 0) {
      if (!parts[0]) error("an index is missing");
      return make(Expr::Kind::item, place, std::move(value), std::move(parts[0]));
    }
    return make(Expr::Kind::slice, place, std::move(value), std::move(parts[0]), std::move(parts[1]),
                std::move(parts[2]));
  }

  void parse_arguments(Expr& call) {
    expect_symbol("(");
    while (!is_symbol(")")) {
      if (now().kind == Kind::name && ahead(1).kind == Kind::symbol && ahead(1).text == "=") {
        std::string name = take().text;
        take();
        call.named.emplace_back(std::move(name), parse_expression());
      } else {
        call.args.push_back(parse_expression());
      }
      if (!accept_symbol(",")) break;
    }
    expect_symbol(")");
  }

  ExprPtr parse_filters_and_tests(ExprPtr value) {
    for (;;) {
      if (accept_symbol("|"))
        value = parse_filters(std::move(value));
      else if (is_name("is"))
        value = parse_test(std::move(value));
      else if (is_symbol("(") || is_symbol(".") || is_symbol("["))
        value = parse_postfix(std::move(value));
      else
        return value;
    }
  }

  // After a `|`: name(args) | name …; a null value stands for a block's text.
  ExprPtr parse_filters(ExprPtr value) {
    do {
      ExprPtr filter = make(Expr::Kind::filter, now().place, std::move(value));
      filter->name = expect_name("a filter");
      if (is_symbol("(")) parse_arguments(*filter);
      value = std::move(filter);
    } while (accept_symbol("|"));
    return value;
  }

  ExprPtr parse_test(ExprPtr value) {
    const Place place = take().place;
    const bool negated = accept_name("not");
    ExprPtr test = make(Expr::Kind::test, place, std::move(value));
    test->name = expect_name("a test");
    const bool word = now().kind == Kind::name && !is_name("else") && !is_name("or") && !is_name("and") &&
                      !is_name("is") && !is_name("if") && !is_name("in") && !is_name("not");
    const bool literal = now().kind == Kind::string || now().kind == Kind::integer || now().kind == Kind::real ||
                         is_symbol("[") || is_symbol("{");
    if (is_symbol("("))
      parse_arguments(*test);
    else if (word || literal)
      test->args.push_back(parse_postfix(parse_primary()));
    return negated ? make(Expr::Kind::negation, place, std::move(test)) : std::move(test);
  }

  const std::vector<Token>& tokens_;
  const std::string& where_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Body parse(const std::vector<Token>& tokens, const std::string& where) { return Parser(tokens, where).run(); }

}  // namespace genai::jinja
