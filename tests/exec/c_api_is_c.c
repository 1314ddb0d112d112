/* Compiled as C: the header must be, and a C program must get through a run with nothing else. */
#include <nxrt/nxrt.h>
#include <string.h>

/* y = -x over two floats; answers 0 when everything went as the header says. */
int c_program(const void* model, size_t size) {
  const int64_t shape[1] = {2};
  float data[2] = {1.5f, -2.0f};
  const char* names[1] = {"x"};
  nxrt_options options = {sizeof(nxrt_options), "scalar", 1};
  nxrt_tensor* outputs[1] = {NULL};
  nxrt_session* session = nxrt_session_open_bytes(model, size, &options);
  nxrt_tensor* x = nxrt_tensor_borrow(NXRT_F32, shape, 1, data, sizeof data);
  int failed = 0;
  if (!session || !x) return 1;
  if (nxrt_run(session, names, &x, 1, outputs, 1) != NXRT_OK) return 2;
  if (nxrt_tensor_dtype(outputs[0]) != NXRT_F32 || nxrt_tensor_dim(outputs[0], 0) != 2) failed = 3;
  if (((const float*)nxrt_tensor_data(outputs[0]))[0] != -1.5f) failed = 4;
  if (strcmp(nxrt_input_name(session, 0), "x") != 0 || nxrt_input_name(session, 1) != NULL) failed = 5;
  nxrt_tensor_free(outputs[0]);
  nxrt_tensor_free(x);
  nxrt_session_close(session);
  return failed;
}
