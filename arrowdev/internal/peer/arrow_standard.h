//go:build cgo && unix && !(386 || arm || mips || mipsle)

// The structs of the Arrow C data, device data, stream and asynchronous stream
// interfaces, typed from the standard's text and independent of the rest of this
// repository, so that an error in gpuframe's layouts is found.
//
// The text of the standard contradicts itself in ArrowAsyncProducer only: the struct's
// definition has a release member that no other sentence mentions and that Arrow's
// abi.h does not have. The struct here is that of abi.h.
#ifndef PEER_ARROW_STANDARD_H
#define PEER_ARROW_STANDARD_H

#include <stdint.h>

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
  const char *format, *name, *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length, null_count, offset;
  int64_t n_buffers, n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

typedef int32_t ArrowDeviceType;

#define ARROW_DEVICE_CPU 1
#define ARROW_DEVICE_CUDA 2
#define ARROW_DEVICE_CUDA_HOST 3
#define ARROW_DEVICE_CUDA_MANAGED 13

struct ArrowDeviceArray {
  struct ArrowArray array;
  int64_t device_id;
  ArrowDeviceType device_type;
  void *sync_event;
  int64_t reserved[3];
};

struct ArrowArrayStream {
  int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *);
  const char *(*get_last_error)(struct ArrowArrayStream *);
  void (*release)(struct ArrowArrayStream *);
  void *private_data;
};

struct ArrowDeviceArrayStream {
  ArrowDeviceType device_type;
  int (*get_schema)(struct ArrowDeviceArrayStream *, struct ArrowSchema *);
  int (*get_next)(struct ArrowDeviceArrayStream *, struct ArrowDeviceArray *);
  const char *(*get_last_error)(struct ArrowDeviceArrayStream *);
  void (*release)(struct ArrowDeviceArrayStream *);
  void *private_data;
};

struct ArrowAsyncTask {
  int (*extract_data)(struct ArrowAsyncTask *, struct ArrowDeviceArray *);
  void *private_data;
};

struct ArrowAsyncProducer {
  ArrowDeviceType device_type;
  void (*request)(struct ArrowAsyncProducer *, int64_t);
  void (*cancel)(struct ArrowAsyncProducer *);
  const char *additional_metadata;
  void *private_data;
};

struct ArrowAsyncDeviceStreamHandler {
  int (*on_schema)(struct ArrowAsyncDeviceStreamHandler *, struct ArrowSchema *);
  int (*on_next_task)(struct ArrowAsyncDeviceStreamHandler *, struct ArrowAsyncTask *, const char *);
  void (*on_error)(struct ArrowAsyncDeviceStreamHandler *, int, const char *, const char *);
  void (*release)(struct ArrowAsyncDeviceStreamHandler *);
  struct ArrowAsyncProducer *producer;
  void *private_data;
};

#endif
