/* nxrt: runs ONNX models on CPUs. The C interface; nxrt.hpp is the same promise with C++ types.
 *
 *   nxrt_session* session = nxrt_session_open("model.onnx", NULL);
 *   nxrt_tensor* x = nxrt_tensor_borrow(NXRT_F32, shape, 2, data, bytes);
 *   if (nxrt_run(session, names, &x, 1, outputs, 1) != NXRT_OK) puts(nxrt_error_text());
 *
 * Threads: any number of threads may run one session; the runs take turns. A tensor belongs to one thread at a time.
 * Errors:  a function that fails answers NULL or a code other than NXRT_OK, and nxrt_error_* describe the last failure
 * of the calling thread. No C++ exception leaves a function of this header. A NULL where an object is expected is
 *          NXRT_INVALID_ARGUMENT.
 * Memory:  what a function creates, its _free or _close releases (NULL is fine). Strings belong to the library and live
 *          until the object they came from is released, error strings until the thread's next failure.
 */
#ifndef NXRT_NXRT_H_
#define NXRT_NXRT_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nxrt_session nxrt_session;
typedef struct nxrt_tensor nxrt_tensor;

typedef enum nxrt_code {
  NXRT_OK = 0,
  NXRT_INVALID_ARGUMENT = 1,
  NXRT_NOT_FOUND = 2,
  NXRT_UNSUPPORTED = 3,
  NXRT_CORRUPT = 4,
  NXRT_OUT_OF_CAPACITY = 5,
  NXRT_IO = 6,
  NXRT_CANCELLED = 7,
  NXRT_INTERNAL = 8
} nxrt_code;

/* Numbered as ONNX's TensorProto.DataType; others of its numbers are accepted too. */
typedef enum nxrt_dtype {
  NXRT_F32 = 1,
  NXRT_U8 = 2,
  NXRT_I8 = 3,
  NXRT_U16 = 4,
  NXRT_I16 = 5,
  NXRT_I32 = 6,
  NXRT_I64 = 7,
  NXRT_BOOL = 9,
  NXRT_F16 = 10,
  NXRT_F64 = 11,
  NXRT_U32 = 12,
  NXRT_U64 = 13,
  NXRT_BF16 = 16
} nxrt_dtype;

const char* nxrt_version(void); /* "0.1.0" */

/* The last failure of this thread: what is wrong, where in the model or call, what to do. Never NULL. */
nxrt_code nxrt_error_code(void);
const char* nxrt_error_what(void);
const char* nxrt_error_at(void);
const char* nxrt_error_fix(void);
const char* nxrt_error_text(void); /* all of it, several lines */

typedef struct nxrt_options {
  size_t size;     /* sizeof(nxrt_options): lets later versions add fields */
  const char* isa; /* "scalar", "avx2", "avx512", "vnni"; NULL: the best of this machine */
  int threads;     /* 0: as many as this process may use CPUs */
} nxrt_options;

/* options may be NULL. `bytes` must stay valid until the session is closed; external data is not available then. */
nxrt_session* nxrt_session_open(const char* path, const nxrt_options* options);
nxrt_session* nxrt_session_open_bytes(const void* bytes, size_t size, const nxrt_options* options);
void nxrt_session_close(nxrt_session* session);

int nxrt_input_count(const nxrt_session* session);
int nxrt_output_count(const nxrt_session* session);
const char* nxrt_input_name(const nxrt_session* session, int index); /* NULL past the end */
const char* nxrt_output_name(const nxrt_session* session, int index);
const char* nxrt_input_type(const nxrt_session* session, int index); /* "f32[batch, 64]" */
const char* nxrt_output_type(const nxrt_session* session, int index);

/* A tensor with memory of its own, zeroed; and one over the caller's memory, which must outlive it. Row-major. */
nxrt_tensor* nxrt_tensor_create(int dtype, const int64_t* shape, int rank);
nxrt_tensor* nxrt_tensor_borrow(int dtype, const int64_t* shape, int rank, void* data, size_t bytes);
void nxrt_tensor_free(nxrt_tensor* tensor);
int nxrt_tensor_dtype(const nxrt_tensor* tensor);
int nxrt_tensor_rank(const nxrt_tensor* tensor);
int64_t nxrt_tensor_dim(const nxrt_tensor* tensor, int axis); /* -1 past the end */
void* nxrt_tensor_data(nxrt_tensor* tensor);
size_t nxrt_tensor_bytes(const nxrt_tensor* tensor);

/* Runs with inputs by name. outputs[i], of output_count outputs in the model's order: an entry that holds a tensor is
 * written in place (its type and number of elements must be the result's); an entry that is NULL receives a new tensor,
 * which the caller frees. After a failure entries that were NULL are NULL. */
nxrt_code nxrt_run(nxrt_session* session, const char* const* input_names, nxrt_tensor* const* inputs, int input_count,
                   nxrt_tensor** outputs, int output_count);

#ifdef __cplusplus
}
#endif
#endif /* NXRT_NXRT_H_ */
