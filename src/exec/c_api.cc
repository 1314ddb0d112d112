// include/nxrt/nxrt.h. The only file of the runtime that catches: no exception crosses the C interface.
#include <fmt/format.h>
#include <nxrt/nxrt.h>

#include <memory>
#include <mutex>
#include <new>

#include "exec/session.h"

struct nxrt_tensor {
  nxrt::Tensor tensor;
};

struct nxrt_session {
  std::unique_ptr<nxrt::Workers> workers;
  std::unique_ptr<nxrt::exec::Session> session;
  std::vector<std::string> input_types, output_types;
  std::mutex running;
};

namespace {

using nxrt::Code;
using nxrt::Error;

static_assert(static_cast<int>(Code::internal) + 1 == NXRT_INTERNAL);

struct LastError {
  nxrt_code code = NXRT_OK;
  std::string what, at, fix, text;
};

LastError& last_error() {
  static thread_local LastError error;
  return error;
}

nxrt_code remember(const Error& error) {
  last_error() = {static_cast<nxrt_code>(static_cast<int>(error.code()) + 1), error.message(), error.at(), error.fix(),
                  error.text()};
  return last_error().code;
}

// Runs `body`; a failure becomes the thread's last error.
template <class F>
nxrt_code guarded(F&& body) noexcept {
  try {
    body();
    return NXRT_OK;
  } catch (const Error& error) {
    return remember(error);
  } catch (const std::bad_alloc&) {
    return remember(Error(Code::out_of_capacity, "no memory"));
  } catch (const std::exception& error) {
    return remember(Error(Code::internal, error.what()));
  }
}

template <class T>
T& expect(T* object, const char* name) {
  if (!object) throw Error(Code::invalid_argument, fmt::format("{} is NULL", name));
  return *object;
}

nxrt::Isa isa_named(const char* name) {
  std::string known;
  for (const nxrt::Isa isa : nxrt::available()) {
    if (nxrt::name_of(isa) == name) return isa;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", nxrt::name_of(isa));
  }
  throw Error(Code::invalid_argument, fmt::format("isa is '{}', expected one of {}", name, known));
}

nxrt::exec::SessionOptions options_of(const nxrt_options* options, int& threads) {
  nxrt::exec::SessionOptions result;
  threads = nxrt::allowed_cpus();
  if (!options) return result;
  if (options->size != sizeof(nxrt_options)) {
    throw Error(Code::invalid_argument,
                fmt::format("options.size is {}, expected {}", options->size, sizeof(nxrt_options)));
  }
  if (options->isa) result.isa = isa_named(options->isa);
  if (options->threads < 0 || options->threads > 1024) {
    throw Error(Code::invalid_argument, fmt::format("threads is {}, expected 0 to 1024", options->threads));
  }
  if (options->threads > 0) threads = options->threads;
  return result;
}

std::vector<std::string> types_of(const std::vector<nxrt::exec::Port>& ports) {
  std::vector<std::string> types;
  for (const auto& port : ports) types.push_back(port.type.text());
  return types;
}

template <class Read>
nxrt_session* open_session(const nxrt_options* options, Read&& read) noexcept {
  std::unique_ptr<nxrt_session> handle;
  const nxrt_code code = guarded([&] {
    int threads = 1;
    const auto settings = options_of(options, threads);
    auto opened = std::make_unique<nxrt_session>();
    opened->workers = std::make_unique<nxrt::Workers>(threads);
    opened->session = read(*opened->workers, settings);
    opened->input_types = types_of(opened->session->inputs());
    opened->output_types = types_of(opened->session->outputs());
    handle = std::move(opened);
  });
  return code == NXRT_OK ? handle.release() : nullptr;
}

nxrt::Shape shape_of(const int64_t* shape, int rank) {
  if (rank < 0 || (rank > 0 && !shape)) throw Error(Code::invalid_argument, "shape is NULL or its rank is negative");
  return nxrt::Shape(std::span<const int64_t>(shape, static_cast<size_t>(rank)));
}

nxrt::DType dtype_of(int number) {
  const bool usable = nxrt::is_known(number) && nxrt::bits_of(static_cast<nxrt::DType>(number)) > 0;
  if (!usable) throw Error(Code::invalid_argument, fmt::format("{} is no element type of fixed size", number));
  return static_cast<nxrt::DType>(number);
}

template <class Make>
nxrt_tensor* make_tensor(Make&& make) noexcept {
  std::unique_ptr<nxrt_tensor> handle;
  const nxrt_code code = guarded([&] { handle.reset(new nxrt_tensor{make()}); });
  return code == NXRT_OK ? handle.release() : nullptr;
}

const char* item(const std::vector<std::string>& list, int index) {
  return index < 0 || index >= static_cast<int>(list.size()) ? nullptr : list[static_cast<size_t>(index)].c_str();
}

const char* name_at(const std::vector<nxrt::exec::Port>& ports, int index) {
  return index < 0 || index >= static_cast<int>(ports.size()) ? nullptr
                                                              : ports[static_cast<size_t>(index)].name.c_str();
}

struct Call {
  const char* const* names;
  nxrt_tensor* const* inputs;
  int input_count;
  nxrt_tensor** outputs;
  int output_count;
};

nxrt::exec::Binding bind(const nxrt::exec::Session& session, const Call& call) {
  if (call.input_count < 0 || (call.input_count > 0 && (!call.names || !call.inputs))) {
    throw Error(Code::invalid_argument, "input_count is negative, or the inputs are NULL");
  }
  const int known = static_cast<int>(session.outputs().size());
  if (call.output_count < 0 || call.output_count > known || (call.output_count > 0 && !call.outputs)) {
    throw Error(Code::invalid_argument, fmt::format("output_count is {}, expected 0 to {}", call.output_count, known));
  }
  nxrt::exec::Binding binding;
  for (int i = 0; i < call.input_count; ++i) {
    const char* name = &expect(call.names[i], "an input's name");
    const int port = session.input_port(name);
    if (port < 0) throw Error(Code::not_found, fmt::format("the model has no input '{}'", name));
    binding.input(port, expect(call.inputs[i], "an input").tensor);
  }
  for (int i = 0; i < call.output_count; ++i) {
    if (call.outputs[i]) binding.output(i, call.outputs[i]->tensor);
  }
  return binding;
}

void run(nxrt_session& handle, const Call& call) {
  const nxrt::exec::Binding binding = bind(*handle.session, call);
  std::vector<std::unique_ptr<nxrt_tensor>> made(static_cast<size_t>(call.output_count));
  {
    const std::lock_guard lock(handle.running);
    handle.session->run(binding);
    for (int i = 0; i < call.output_count; ++i) {
      if (!call.outputs[i]) made[static_cast<size_t>(i)].reset(new nxrt_tensor{handle.session->result(i).clone()});
    }
  }
  for (int i = 0; i < call.output_count; ++i) {
    if (!call.outputs[i]) call.outputs[i] = made[static_cast<size_t>(i)].release();
  }
}

}  // namespace

extern "C" {

const char* nxrt_version(void) { return "0.1.0"; }

nxrt_code nxrt_error_code(void) { return last_error().code; }
const char* nxrt_error_what(void) { return last_error().what.c_str(); }
const char* nxrt_error_at(void) { return last_error().at.c_str(); }
const char* nxrt_error_fix(void) { return last_error().fix.c_str(); }
const char* nxrt_error_text(void) { return last_error().text.c_str(); }

nxrt_session* nxrt_session_open(const char* path, const nxrt_options* options) {
  return open_session(options, [&](nxrt::Workers& workers, const nxrt::exec::SessionOptions& settings) {
    return nxrt::exec::Session::open(&expect(path, "path"), workers, settings);
  });
}

nxrt_session* nxrt_session_open_bytes(const void* bytes, size_t size, const nxrt_options* options) {
  return open_session(options, [&](nxrt::Workers& workers, const nxrt::exec::SessionOptions& settings) {
    const auto* data = &expect(static_cast<const std::byte*>(bytes), "bytes");
    auto graph = nxrt::read_model_bytes({data, size}, nullptr, {}, "bytes", settings.limits);
    return nxrt::exec::Session::prepare(std::move(graph), "bytes", workers, settings);
  });
}

void nxrt_session_close(nxrt_session* session) { delete session; }

int nxrt_input_count(const nxrt_session* s) { return s ? static_cast<int>(s->session->inputs().size()) : 0; }
int nxrt_output_count(const nxrt_session* s) { return s ? static_cast<int>(s->session->outputs().size()) : 0; }
const char* nxrt_input_name(const nxrt_session* s, int i) { return s ? name_at(s->session->inputs(), i) : nullptr; }
const char* nxrt_output_name(const nxrt_session* s, int i) { return s ? name_at(s->session->outputs(), i) : nullptr; }
const char* nxrt_input_type(const nxrt_session* s, int i) { return s ? item(s->input_types, i) : nullptr; }
const char* nxrt_output_type(const nxrt_session* s, int i) { return s ? item(s->output_types, i) : nullptr; }

nxrt_tensor* nxrt_tensor_create(int dtype, const int64_t* shape, int rank) {
  return make_tensor([&] { return nxrt::Tensor::zeros(dtype_of(dtype), shape_of(shape, rank)); });
}

nxrt_tensor* nxrt_tensor_borrow(int dtype, const int64_t* shape, int rank, void* data, size_t bytes) {
  return make_tensor([&] {
    const nxrt::DType type = dtype_of(dtype);
    const nxrt::Shape dims = shape_of(shape, rank);
    const int64_t needed = nxrt::bytes_of(type, dims.count());
    if (needed < 0 || static_cast<uint64_t>(needed) > bytes || (needed > 0 && !data)) {
      throw Error(Code::invalid_argument, fmt::format("the memory has {} bytes, {}{} needs {}", data ? bytes : 0,
                                                      nxrt::name_of(type), dims.text(), needed));
    }
    return nxrt::Tensor::borrow(type, dims, data, nullptr);
  });
}

void nxrt_tensor_free(nxrt_tensor* tensor) { delete tensor; }
int nxrt_tensor_dtype(const nxrt_tensor* t) { return t ? static_cast<int>(t->tensor.dtype()) : 0; }
int nxrt_tensor_rank(const nxrt_tensor* t) { return t ? t->tensor.shape().rank() : 0; }
int64_t nxrt_tensor_dim(const nxrt_tensor* t, int axis) {
  return t && axis >= 0 && axis < t->tensor.shape().rank() ? t->tensor.shape()[axis] : -1;
}
void* nxrt_tensor_data(nxrt_tensor* t) { return t ? t->tensor.raw_mutable() : nullptr; }
size_t nxrt_tensor_bytes(const nxrt_tensor* t) { return t ? static_cast<size_t>(t->tensor.bytes()) : 0; }

nxrt_code nxrt_run(nxrt_session* session, const char* const* input_names, nxrt_tensor* const* inputs, int input_count,
                   nxrt_tensor** outputs, int output_count) {
  return guarded([&] { run(expect(session, "session"), {input_names, inputs, input_count, outputs, output_count}); });
}

}  // extern "C"
