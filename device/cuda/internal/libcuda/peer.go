//go:build linux && cgo && (amd64 || arm64)

package libcuda

/*
#include "shims.h"

#cgo noescape libcuda_can_access_peer
#cgo nocallback libcuda_can_access_peer
#cgo nocallback libcuda_enable_peer
#cgo nocallback libcuda_disable_peer
#cgo nocallback libcuda_copy_from_peer_async
*/
import "C"

// CanAccessPeer reports whether the device can reach another's memory.
func (h Handle) CanAccessPeer(peer Handle) (bool, Result) {
	var can C.int32_t
	result := C.libcuda_can_access_peer(&can, C.int32_t(h), C.int32_t(peer))
	return can != 0, Result(result)
}

// EnablePeer lets the device's context reach another's memory.
func (d Device) EnablePeer(peer Device) Result {
	return Result(C.libcuda_enable_peer(d.c, peer.c.context))
}

// DisablePeer undoes EnablePeer.
func (d Device) DisablePeer(peer Device) Result {
	return Result(C.libcuda_disable_peer(d.c, peer.c.context))
}

// CopyFromPeerAsync enqueues a copy from another device's memory.
func (d Device) CopyFromPeerAsync(destination, source uint64, peer Device, bytes uint64, stream uintptr) Result {
	return Result(C.libcuda_copy_from_peer_async(d.c, C.uint64_t(destination), C.uint64_t(source), peer.c.context, C.size_t(bytes), C.uintptr_t(stream)))
}
