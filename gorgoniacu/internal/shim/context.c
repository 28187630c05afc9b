//go:build linux && cgo && (amd64 || arm64)

#include "context.h"

#include <string.h>

int32_t shim_enter(shim_device device, uintptr_t *found) {
    CUcontext current = NULL;
    CUresult result = enter(device, &current);
    *found = (uintptr_t)current;
    return result;
}

void shim_leave(uintptr_t found) {
    (void)cuCtxSetCurrent((CUcontext)found);
}

// The binding has only the first version, which returns the UUID of the whole GPU for
// each instance of a partitioned GPU (MIG).
int32_t shim_uuid(char *uuid, int32_t handle) {
    CUuuid value;
    memset(&value, 0, sizeof value);
    CUresult result = cuDeviceGetUuid_v2(&value, handle);
    memcpy(uuid, value.bytes, sizeof value.bytes);
    return result;
}
