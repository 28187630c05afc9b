// One function for each operation of the driver, as Go calls it. Device pointers and
// handles are plain words. Host memory is char *, so that cgo passes the address of a
// field without checking the whole object around it. Every function that returns
// int32_t returns a CUresult.
#ifndef GPUFRAME_LIBCUDA_SHIMS_H
#define GPUFRAME_LIBCUDA_SHIMS_H

#include <stddef.h>
#include <stdint.h>

// A retained primary context and the CUdevice it belongs to.
typedef struct {
    uintptr_t context;
    int32_t handle;
} libcuda_device;

// The maximum number of arguments of libcuda_launch: before CUDA 12.1 the parameter
// space of a kernel is 4 KiB, which is 512 eight-byte arguments.
enum { LIBCUDA_LAUNCH_ARGUMENTS = 512 };

enum { LIBCUDA_LOADED, LIBCUDA_NOT_OPENED, LIBCUDA_SYMBOL_MISSING };

// library: libcuda_load fills the table and returns one of the three values above; it
// writes dlopen's reason or the missing symbol to message. libcuda_since returns the
// CUDA version of an optional symbol, else 0.
int32_t libcuda_load(const char *path, char *message, size_t size);
int32_t libcuda_since(const char *name);

// device
int32_t libcuda_init(void);
int32_t libcuda_driver_version(int32_t *version);
int32_t libcuda_device_count(int32_t *count);
int32_t libcuda_device_get(int32_t *handle, int32_t ordinal);
int32_t libcuda_device_name(char *name, int32_t size, int32_t handle);
int32_t libcuda_device_total_memory(size_t *bytes, int32_t handle);
int32_t libcuda_device_uuid(char *uuid, int32_t handle);
int32_t libcuda_device_attribute(int32_t *value, int32_t attribute, int32_t handle);
int32_t libcuda_context_retain(uintptr_t *context, int32_t handle);
int32_t libcuda_context_release(int32_t handle);
int32_t libcuda_synchronize(libcuda_device device);
int32_t libcuda_memory_info(libcuda_device device, size_t *free, size_t *total);

// memory
int32_t libcuda_alloc(libcuda_device device, uint64_t *pointer, size_t bytes);
int32_t libcuda_free(libcuda_device device, uint64_t pointer);
int32_t libcuda_host_alloc(libcuda_device device, void **pointer, size_t bytes);
int32_t libcuda_host_free(libcuda_device device, char *pointer);
int32_t libcuda_host_register(libcuda_device device, char *pointer, size_t bytes);
int32_t libcuda_host_unregister(libcuda_device device, char *pointer);
int32_t libcuda_address_range(libcuda_device device, uint64_t *base, size_t *bytes, uint64_t pointer);
int32_t libcuda_pointer_info(libcuda_device device, uint32_t *type, uint32_t *managed, int32_t *ordinal, uint64_t pointer);

// virtual
int32_t libcuda_address_reserve(libcuda_device device, uint64_t *pointer, size_t bytes, size_t alignment);
int32_t libcuda_address_free(libcuda_device device, uint64_t pointer, size_t bytes);
int32_t libcuda_physical_granularity(libcuda_device device, size_t *minimum, size_t *recommended);
int32_t libcuda_physical_create(libcuda_device device, uint64_t *physical, size_t bytes);
int32_t libcuda_physical_release(libcuda_device device, uint64_t physical);
int32_t libcuda_map(libcuda_device device, uint64_t at, size_t bytes, size_t offset, uint64_t physical);
int32_t libcuda_unmap(libcuda_device device, uint64_t at, size_t bytes);
int32_t libcuda_set_access(libcuda_device device, uint64_t at, size_t bytes);

// shared
int32_t libcuda_physical_create_shared(libcuda_device device, uint64_t *physical, size_t bytes);
int32_t libcuda_physical_export(libcuda_device device, int32_t *descriptor, uint64_t physical);
int32_t libcuda_physical_import(libcuda_device device, uint64_t *physical, int32_t descriptor);
int32_t libcuda_set_access_read_only(libcuda_device device, uint64_t at, size_t bytes);

// managed
int32_t libcuda_alloc_managed(libcuda_device device, uint64_t *pointer, size_t bytes);
int32_t libcuda_prefetch_async(libcuda_device device, uint64_t pointer, size_t bytes, int32_t to_host, uintptr_t stream);

// pool
int32_t libcuda_default_pool(uintptr_t *pool, int32_t handle);
int32_t libcuda_alloc_async(libcuda_device device, uint64_t *pointer, size_t bytes, uintptr_t pool, uintptr_t stream);
int32_t libcuda_free_async(libcuda_device device, uint64_t pointer, uintptr_t stream);
int32_t libcuda_pool_create(libcuda_device device, uintptr_t *pool, size_t maximum);
int32_t libcuda_pool_destroy(libcuda_device device, uintptr_t pool);
int32_t libcuda_pool_trim(libcuda_device device, uintptr_t pool, size_t keep);
int32_t libcuda_pool_attribute(libcuda_device device, uintptr_t pool, int32_t attribute, uint64_t *value);
int32_t libcuda_pool_set_attribute(libcuda_device device, uintptr_t pool, int32_t attribute, uint64_t value);
int32_t libcuda_pool_allow(libcuda_device device, uintptr_t pool, int32_t handle);

// copy
int32_t libcuda_copy_to_device(libcuda_device device, uint64_t destination, const char *source, size_t bytes);
int32_t libcuda_copy_to_host(libcuda_device device, char *destination, uint64_t source, size_t bytes);
int32_t libcuda_copy_on_device(libcuda_device device, uint64_t destination, uint64_t source, size_t bytes);
int32_t libcuda_copy_to_device_async(libcuda_device device, uint64_t destination, const char *source, size_t bytes, uintptr_t stream);
int32_t libcuda_copy_to_host_async(libcuda_device device, char *destination, uint64_t source, size_t bytes, uintptr_t stream);
int32_t libcuda_copy_on_device_async(libcuda_device device, uint64_t destination, uint64_t source, size_t bytes, uintptr_t stream);
int32_t libcuda_memset(libcuda_device device, uint64_t destination, uint32_t value, int32_t width, size_t count);
int32_t libcuda_memset_async(libcuda_device device, uint64_t destination, uint32_t value, int32_t width, size_t count, uintptr_t stream);

// stream
int32_t libcuda_stream_create(libcuda_device device, uintptr_t *stream);
int32_t libcuda_stream_destroy(libcuda_device device, uintptr_t stream);
int32_t libcuda_stream_synchronize(libcuda_device device, uintptr_t stream);
int32_t libcuda_stream_query(libcuda_device device, uintptr_t stream);
int32_t libcuda_stream_wait_event(libcuda_device device, uintptr_t stream, uintptr_t event);
int32_t libcuda_event_create(libcuda_device device, uintptr_t *event, int32_t timing);
int32_t libcuda_event_destroy(libcuda_device device, uintptr_t event);
int32_t libcuda_event_record(libcuda_device device, uintptr_t event, uintptr_t stream);
int32_t libcuda_event_query(libcuda_device device, uintptr_t event);
int32_t libcuda_event_synchronize(libcuda_device device, uintptr_t event);
int32_t libcuda_event_elapsed(libcuda_device device, float *milliseconds, uintptr_t start, uintptr_t end);

// foreign
int32_t libcuda_event_record_all(libcuda_device device, uintptr_t event);
int32_t libcuda_stream_identity(libcuda_device device, uintptr_t stream, uint64_t *identity);
int32_t libcuda_stream_capturing(libcuda_device device, uintptr_t stream, int32_t *status);

// module
int32_t libcuda_module_load(libcuda_device device, uintptr_t *module, const char *image, char *errors, char *notes, size_t size);
int32_t libcuda_module_compile(libcuda_device device, void **cubin, size_t *bytes, const char *text, size_t text_bytes, char *errors, char *notes, size_t size);
int32_t libcuda_module_unload(libcuda_device device, uintptr_t module);
int32_t libcuda_module_function(libcuda_device device, uintptr_t *function, uintptr_t module, const char *name);
int32_t libcuda_function_attribute(libcuda_device device, int32_t *value, int32_t attribute, uintptr_t function);
int32_t libcuda_function_set_attribute(libcuda_device device, uintptr_t function, int32_t attribute, int32_t value);
int32_t libcuda_function_parameter(libcuda_device device, uintptr_t function, size_t index, size_t *offset, size_t *bytes);
int32_t libcuda_occupancy(libcuda_device device, int32_t *blocks, uintptr_t function, int32_t threads, size_t shared);
int32_t libcuda_launch(libcuda_device device, uintptr_t function, const uint32_t *shape, uint32_t shared, uintptr_t stream,
                       const uint64_t *slots, const uint32_t *starts, uint32_t count);

// graph
int32_t libcuda_stream_begin_capture(libcuda_device device, uintptr_t stream);
int32_t libcuda_stream_end_capture(libcuda_device device, uintptr_t stream, uintptr_t *graph);
int32_t libcuda_graph_destroy(libcuda_device device, uintptr_t graph);
int32_t libcuda_graph_instantiate(libcuda_device device, uintptr_t *executable, uintptr_t graph);
int32_t libcuda_graph_launch(libcuda_device device, uintptr_t executable, uintptr_t stream);
int32_t libcuda_graph_executable_destroy(libcuda_device device, uintptr_t executable);

// peer
int32_t libcuda_can_access_peer(int32_t *can, int32_t handle, int32_t peer);
int32_t libcuda_enable_peer(libcuda_device device, uintptr_t peer);
int32_t libcuda_disable_peer(libcuda_device device, uintptr_t peer);
int32_t libcuda_copy_from_peer_async(libcuda_device device, uint64_t destination, uint64_t source, uintptr_t peer, size_t bytes, uintptr_t stream);

#endif
