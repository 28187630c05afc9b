//go:build linux && cgo && (amd64 || arm64)

#include "table.h"

int32_t libcuda_can_access_peer(int32_t *can, int32_t handle, int32_t peer) {
    return libcuda.cuDeviceCanAccessPeer(can, handle, peer);
}

int32_t libcuda_enable_peer(libcuda_device device, uintptr_t peer) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuCtxEnablePeerAccess((CUcontext)peer, 0));
}

int32_t libcuda_disable_peer(libcuda_device device, uintptr_t peer) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuCtxDisablePeerAccess((CUcontext)peer));
}

int32_t libcuda_copy_from_peer_async(libcuda_device device, uint64_t destination, uint64_t source, uintptr_t peer, size_t bytes, uintptr_t stream) {
    LIBCUDA_IN_CONTEXT(device, libcuda.cuMemcpyPeerAsync(destination, (CUcontext)device.context, source, (CUcontext)peer, bytes, (CUstream)stream));
}
