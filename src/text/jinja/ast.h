// The parsed template: statements that write or decide, expressions that evaluate.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "text/jinja/lexer.h"
#include "text/jinja/value.h"

namespace genai::jinja {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

enum class Op {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  concat,
  negate,
  plus,
  equal,
  unequal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in
};

struct Expr {
  enum class Kind {
    constant,     // constant
    name,         // name
    list,         // args
    tuple,        // args
    dict,         // args: key, value, key, value …
    attribute,    // args[0] . name
    item,         // args[0] [ args[1] ]
    slice,        // args[0] [ args[1] : args[2] : args[3] ], any of them null
    call,         // args[0] ( args[1…], named )
    filter,       // args[0] | name ( args[1…], named )
    test,         // args[0] is name ( args[1…] )
    unary,        // ops[0] args[0]
    binary,       // args[0] ops[0] args[1]
    compare,      // args[0] ops[0] args[1] ops[1] args[2] …
    both,         // args[0] and args[1]
    either,       // args[0] or args[1]
    negation,     // not args[0]
    conditional,  // args[1] if args[0] else args[2] (null: undefined)
  };
  Kind kind;
  Place place;
  std::string name;
  Value constant;
  std::vector<Op> ops;
  std::vector<ExprPtr> args;
  std::vector<std::pair<std::string, ExprPtr>> named;
};

struct Stmt;
using Body = std::vector<std::unique_ptr<Stmt>>;

struct Parameter {
  std::string name;
  ExprPtr fallback;  // null: required (undefined when missing)
};

struct Stmt {
  enum class Kind {
    text,          // text
    output,        // expr
    condition,     // if expr: body, else: otherwise
    loop,          // for targets in expr [if filter]: body, else: otherwise
    assign,        // set targets = expr; with no expr: the rendered body, through `filter` if given
    macro,         // text(parameters): body
    filter_block,  // body through filter
    call_block,    // call expr with the body as caller()
    brk,
    cont,
  };
  Kind kind;
  Place place;
  std::string text;
  ExprPtr expr, filter;
  std::vector<ExprPtr> targets;  // names, or attributes of a namespace
  std::vector<Parameter> parameters;
  Body body, otherwise;
};

Body parse(const std::vector<Token>& tokens, const std::string& where);

}  // namespace genai::jinja
