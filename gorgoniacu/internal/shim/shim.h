// The shims as Go sees them: words for handles and addresses, which the garbage
// collector must not treat as pointers.
#ifndef GORGONIACU_SHIM_H
#define GORGONIACU_SHIM_H

#include <stddef.h>
#include <stdint.h>

#define SHIM_LAUNCH_ARGUMENTS 512

typedef struct {
    uintptr_t context;
    int32_t handle;
} shim_device;

int32_t shim_enter(shim_device device, uintptr_t *found);
void shim_leave(uintptr_t found);
int32_t shim_uuid(char *uuid, int32_t handle);

int32_t shim_host_alloc(shim_device device, void **pointer, size_t bytes);
int32_t shim_host_free(shim_device device, char *pointer);
int32_t shim_host_register(shim_device device, char *pointer, size_t bytes);
int32_t shim_host_unregister(shim_device device, char *pointer);
int32_t shim_pointer_info(shim_device device, uint32_t *type, uint32_t *managed, int32_t *ordinal, uint64_t pointer);
int32_t shim_prefetch_async(shim_device device, uint64_t pointer, size_t bytes, int32_t to_host, uintptr_t stream);

int32_t shim_copy_to_device(shim_device device, uint64_t destination, const char *source, size_t bytes);
int32_t shim_copy_to_host(shim_device device, char *destination, uint64_t source, size_t bytes);
int32_t shim_copy_to_device_async(shim_device device, uint64_t destination, const char *source, size_t bytes, uintptr_t stream);
int32_t shim_copy_to_host_async(shim_device device, char *destination, uint64_t source, size_t bytes, uintptr_t stream);
int32_t shim_copy_on_device_async(shim_device device, uint64_t destination, uint64_t source, size_t bytes, uintptr_t stream);
int32_t shim_copy_from_peer_async(shim_device device, uint64_t destination, uint64_t source, uintptr_t peer, size_t bytes, uintptr_t stream);
int32_t shim_memset_async(shim_device device, uint64_t destination, uint32_t value, int32_t width, size_t count, uintptr_t stream);

int32_t shim_stream_destroy(shim_device device, uintptr_t stream);
int32_t shim_stream_synchronize(shim_device device, uintptr_t stream);
int32_t shim_stream_query(shim_device device, uintptr_t stream);
int32_t shim_stream_capturing(shim_device device, uintptr_t stream, int32_t *status);
int32_t shim_stream_wait_event(shim_device device, uintptr_t stream, uintptr_t event);
int32_t shim_event_record(shim_device device, uintptr_t event, uintptr_t stream);

int32_t shim_module_load(shim_device device, uintptr_t *module, const char *image, char *errors, char *notes, size_t size);
int32_t shim_module_compile(shim_device device, void **cubin, size_t *bytes, const char *text, size_t text_bytes, char *errors, char *notes, size_t size);
int32_t shim_function_set_attribute(shim_device device, uintptr_t function, int32_t attribute, int32_t value);
int32_t shim_function_parameter(shim_device device, uintptr_t function, size_t index, size_t *offset, size_t *bytes);
int32_t shim_launch(shim_device device, uintptr_t function, const uint32_t *shape, uint32_t shared, uintptr_t stream,
                    const uint64_t *slots, const uint32_t *starts, uint32_t count);

int32_t shim_stream_begin_capture(shim_device device, uintptr_t stream);
int32_t shim_stream_end_capture(shim_device device, uintptr_t stream, uintptr_t *graph);
int32_t shim_graph_destroy(shim_device device, uintptr_t graph);
int32_t shim_graph_instantiate(shim_device device, uintptr_t *executable, uintptr_t graph);
int32_t shim_graph_launch(shim_device device, uintptr_t executable, uintptr_t stream);
int32_t shim_graph_executable_destroy(shim_device device, uintptr_t executable);

int32_t shim_default_pool(uintptr_t *pool, int32_t handle);
int32_t shim_alloc_async(shim_device device, uint64_t *pointer, size_t bytes, uintptr_t pool, uintptr_t stream);
int32_t shim_free_async(shim_device device, uint64_t pointer, uintptr_t stream);
int32_t shim_pool_create(shim_device device, uintptr_t *pool, size_t maximum);
int32_t shim_pool_destroy(shim_device device, uintptr_t pool);
int32_t shim_pool_trim(shim_device device, uintptr_t pool, size_t keep);
int32_t shim_pool_attribute(shim_device device, uintptr_t pool, int32_t attribute, uint64_t *value);
int32_t shim_pool_set_attribute(shim_device device, uintptr_t pool, int32_t attribute, uint64_t value);
int32_t shim_pool_allow(shim_device device, uintptr_t pool, int32_t handle);

int32_t shim_address_reserve(shim_device device, uint64_t *pointer, size_t bytes, size_t alignment);
int32_t shim_address_free(shim_device device, uint64_t pointer, size_t bytes);
int32_t shim_physical_granularity(shim_device device, size_t *minimum, size_t *recommended);
int32_t shim_physical_create(shim_device device, uint64_t *physical, size_t bytes, int32_t shared);
int32_t shim_physical_release(shim_device device, uint64_t physical);
int32_t shim_physical_export(shim_device device, int32_t *descriptor, uint64_t physical);
int32_t shim_physical_import(shim_device device, uint64_t *physical, int32_t descriptor);
int32_t shim_map(shim_device device, uint64_t at, size_t bytes, size_t offset, uint64_t physical);
int32_t shim_unmap(shim_device device, uint64_t at, size_t bytes);
int32_t shim_set_access(shim_device device, uint64_t at, size_t bytes, int32_t read_only);

#endif
