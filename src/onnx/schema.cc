// Source: onnx.proto of ONNX, IR version 13.
#include "onnx/schema.h"

#include <algorithm>

namespace nxrt::onnx {
namespace {

using enum FieldKind;

extern const MessageSchema kNode, kGraph, kAttribute, kTensor, kSparse, kValueInfo, kType, kTensorType, kSequence, kMap,
    kShape, kDim, kEntry, kOpset, kFunction, kAnnotation;

constexpr FieldSchema kModelFields[] = {{"ir_version", 1, integer},
                                        {"producer_name", 2, text},
                                        {"producer_version", 3, text},
                                        {"domain", 4, text},
                                        {"model_version", 5, integer},
                                        {"doc_string", 6, text},
                                        {"graph", 7, message, &kGraph},
                                        {"opset_import", 8, message, &kOpset},
                                        {"metadata_props", 14, message, &kEntry},
                                        {"functions", 25, message, &kFunction}};
constexpr FieldSchema kGraphFields[] = {{"node", 1, message, &kNode},
                                        {"name", 2, text},
                                        {"initializer", 5, message, &kTensor},
                                        {"doc_string", 10, text},
                                        {"input", 11, message, &kValueInfo},
                                        {"output", 12, message, &kValueInfo},
                                        {"value_info", 13, message, &kValueInfo},
                                        {"quantization_annotation", 14, message, &kAnnotation},
                                        {"sparse_initializer", 15, message, &kSparse},
                                        {"metadata_props", 16, message, &kEntry}};
constexpr FieldSchema kNodeFields[] = {{"input", 1, text},
                                       {"output", 2, text},
                                       {"name", 3, text},
                                       {"op_type", 4, text},
                                       {"attribute", 5, message, &kAttribute},
                                       {"doc_string", 6, text},
                                       {"domain", 7, text},
                                       {"overload", 8, text},
                                       {"metadata_props", 9, message, &kEntry}};
constexpr FieldSchema kAttributeFields[] = {{"name", 1, text},
                                            {"f", 2, f32},
                                            {"i", 3, integer},
                                            {"s", 4, text},
                                            {"t", 5, message, &kTensor},
                                            {"g", 6, message, &kGraph},
                                            {"floats", 7, f32},
                                            {"ints", 8, integer},
                                            {"strings", 9, text},
                                            {"tensors", 10, message, &kTensor},
                                            {"graphs", 11, message, &kGraph},
                                            {"doc_string", 13, text},
                                            {"tp", 14, message, &kType},
                                            {"type_protos", 15, message, &kType},
                                            {"type", 20, attribute_type},
                                            {"ref_attr_name", 21, text},
                                            {"sparse_tensor", 22, message, &kSparse},
                                            {"sparse_tensors", 23, message, &kSparse}};
constexpr FieldSchema kTensorFields[] = {{"dims", 1, integer},
                                         {"data_type", 2, integer},
                                         {"float_data", 4, f32},
                                         {"int32_data", 5, integer},
                                         {"string_data", 6, text},
                                         {"int64_data", 7, integer},
                                         {"name", 8, text},
                                         {"raw_data", 9, text},
                                         {"double_data", 10, f64},
                                         {"uint64_data", 11, integer},
                                         {"doc_string", 12, text},
                                         {"external_data", 13, message, &kEntry},
                                         {"data_location", 14, data_location},
                                         {"metadata_props", 16, message, &kEntry}};
constexpr FieldSchema kSparseFields[] = {
    {"values", 1, message, &kTensor}, {"indices", 2, message, &kTensor}, {"dims", 3, integer}};
constexpr FieldSchema kValueInfoFields[] = {
    {"name", 1, text}, {"type", 2, message, &kType}, {"doc_string", 3, text}, {"metadata_props", 4, message, &kEntry}};
constexpr FieldSchema kTypeFields[] = {{"tensor_type", 1, message, &kTensorType},
                                       {"sequence_type", 4, message, &kSequence},
                                       {"map_type", 5, message, &kMap},
                                       {"denotation", 6, text},
                                       {"sparse_tensor_type", 8, message, &kTensorType},
                                       {"optional_type", 9, message, &kSequence}};
constexpr FieldSchema kTensorTypeFields[] = {{"elem_type", 1, integer}, {"shape", 2, message, &kShape}};
constexpr FieldSchema kSequenceFields[] = {{"elem_type", 1, message, &kType}};
constexpr FieldSchema kMapFields[] = {{"key_type", 1, integer}, {"value_type", 2, message, &kType}};
constexpr FieldSchema kShapeFields[] = {{"dim", 1, message, &kDim}};
constexpr FieldSchema kDimFields[] = {{"dim_value", 1, integer}, {"dim_param", 2, text}, {"denotation", 3, text}};
constexpr FieldSchema kEntryFields[] = {{"key", 1, text}, {"value", 2, text}};
constexpr FieldSchema kOpsetFields[] = {{"domain", 1, text}, {"version", 2, integer}};
constexpr FieldSchema kFunctionFields[] = {{"name", 1, text},
                                           {"input", 4, text},
                                           {"output", 5, text},
                                           {"attribute", 6, text},
                                           {"node", 7, message, &kNode},
                                           {"doc_string", 8, text},
                                           {"opset_import", 9, message, &kOpset},
                                           {"domain", 10, text},
                                           {"attribute_proto", 11, message, &kAttribute},
                                           {"value_info", 12, message, &kValueInfo},
                                           {"overload", 13, text},
                                           {"metadata_props", 14, message, &kEntry}};
constexpr FieldSchema kAnnotationFields[] = {{"tensor_name", 1, text},
                                             {"quant_parameter_tensor_names", 2, message, &kEntry}};

const MessageSchema kNode{"NodeProto", kNodeFields};
const MessageSchema kGraph{"GraphProto", kGraphFields};
const MessageSchema kAttribute{"AttributeProto", kAttributeFields};
const MessageSchema kTensor{"TensorProto", kTensorFields};
const MessageSchema kSparse{"SparseTensorProto", kSparseFields};
const MessageSchema kValueInfo{"ValueInfoProto", kValueInfoFields};
const MessageSchema kType{"TypeProto", kTypeFields};
const MessageSchema kTensorType{"TypeProto.Tensor", kTensorTypeFields};
const MessageSchema kSequence{"TypeProto.Sequence", kSequenceFields};
const MessageSchema kMap{"TypeProto.Map", kMapFields};
const MessageSchema kShape{"TensorShapeProto", kShapeFields};
const MessageSchema kDim{"TensorShapeProto.Dimension", kDimFields};
const MessageSchema kEntry{"StringStringEntryProto", kEntryFields};
const MessageSchema kOpset{"OperatorSetIdProto", kOpsetFields};
const MessageSchema kFunction{"FunctionProto", kFunctionFields};
const MessageSchema kAnnotation{"TensorAnnotation", kAnnotationFields};

constexpr std::string_view kAttributeTypes[] = {
    "UNDEFINED", "FLOAT",   "INT",    "STRING",        "TENSOR",         "GRAPH",      "FLOATS",     "INTS",
    "STRINGS",   "TENSORS", "GRAPHS", "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};
constexpr std::string_view kLocations[] = {"DEFAULT", "EXTERNAL"};

}  // namespace

const MessageSchema kModelProto{"ModelProto", kModelFields};

const FieldSchema* MessageSchema::field(std::string_view field_name) const {
  const auto it = std::find_if(fields.begin(), fields.end(), [&](const auto& row) { return row.name == field_name; });
  return it == fields.end() ? nullptr : &*it;
}

int enumerator(FieldKind kind, std::string_view name) {
  const std::span<const std::string_view> names =
      kind == attribute_type ? std::span<const std::string_view>(kAttributeTypes) : kLocations;
  const auto it = std::find(names.begin(), names.end(), name);
  return it == names.end() ? -1 : static_cast<int>(it - names.begin());
}

}  // namespace nxrt::onnx
