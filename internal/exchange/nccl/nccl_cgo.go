//go:build cgo && linux && (amd64 || arm64)

package nccl

/*
#cgo CFLAGS: -std=gnu11 -Wall
#cgo LDFLAGS: -ldl
#include <stdlib.h>
#include "shims.h"

#cgo noescape nccl_load
#cgo noescape nccl_unique_id
#cgo noescape nccl_init
#cgo noescape nccl_state
#cgo noescape nccl_exchange
#cgo nocallback nccl_load
#cgo nocallback nccl_unique_id
#cgo nocallback nccl_init
#cgo nocallback nccl_state
#cgo nocallback nccl_exchange
*/
import "C"

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"
)

// Results of NCCL.
const (
	success    = 0
	inProgress = 7
)

// NCCL's variables for NVLink multicast, and for access of the GPUs of one process to each other's
// memory.
const (
	multicast = "NCCL_NVLS_ENABLE"
	indirect  = "NCCL_P2P_DIRECT_DISABLE"
)

// settings are the values of NCCL's variables, unless they are set. Without indirect, NCCL may read
// memory of one GPU from another GPU of the same process, which the memory of a manager does not
// permit unless it was opened to that GPU. The variable does not concern ranks in several processes.
var settings = map[string]string{multicast: "0", indirect: "1"}

var loadedVersion int

// Load opens the library, once for the process.
//
// # Errors
//
// The error is an [*Unavailable] if the library is missing or too old.
func Load() error { return load() }

var load = sync.OnceValue(func() error {
	path, driver := os.Getenv(PathVariable), os.Getenv("GPUFRAME_LIBCUDA")
	if path == "" {
		path = "libnccl.so.2"
	}
	if driver == "" {
		driver = "libcuda.so.1"
	}
	for name, value := range settings {
		if _, set := os.LookupEnv(name); set {
			continue
		}
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	library, cuda := C.CString(path), C.CString(driver)
	defer C.free(unsafe.Pointer(library))
	defer C.free(unsafe.Pointer(cuda))
	message := make([]byte, 1024)
	var version C.int32_t
	result := C.nccl_load(library, cuda, &version, (*C.char)(unsafe.Pointer(&message[0])), C.size_t(len(message)))
	text, _, _ := bytes.Cut(message, []byte{0})
	loadedVersion = int(version)
	switch {
	case result == C.NCCL_NOT_OPENED:
		return &Unavailable{Path: path, Reason: string(text)}
	case result == C.NCCL_SYMBOL_MISSING:
		return &Unavailable{Path: path, Version: loadedVersion, Reason: "it lacks " + string(text)}
	case loadedVersion < oldest:
		return &Unavailable{Path: path, Version: loadedVersion, Reason: "communicators that do not block are missing"}
	}
	return nil
})

// Version returns the version of the library: "2.27.3".
func Version() (string, error) {
	if err := Load(); err != nil {
		return "", err
	}
	return versionText(loadedVersion), nil
}

// HasAllToAll reports whether the library has an all-to-all of blocks of equal size.
func HasAllToAll() bool { return Load() == nil && C.nccl_has_all_to_all() != 0 }

func check(function string, result C.int32_t) error {
	if result == success || result == inProgress {
		return nil
	}
	return &Error{Function: function, Code: int32(result), Text: C.GoString(C.nccl_text(result))}
}

// NewID makes the name of a communicator. Its process must take part in it.
func NewID() (id ID, err error) {
	if err := Load(); err != nil {
		return id, err
	}
	err = check("ncclGetUniqueId", C.nccl_unique_id((*C.char)(unsafe.Pointer(&id[0]))))
	return id, err
}

// Comm is a communicator. One goroutine uses it at a time, except for [Comm.Abort], which no other
// call may be in progress with.
type Comm struct{ handle C.uintptr_t }

// errEnded means that a communicator was closed or aborted.
var errEnded = errors.New("nccl: the communicator has ended")

// Init begins to join a communicator of size ranks, with the GPU that has the ordinal. The GPU is
// open as a device of gpuframe. A negative ordinal means the GPU of the calling thread. The
// caller waits, and closes or aborts the communicator, also if the wait fails.
func Init(ordinal int, id ID, rank, size int) (*Comm, error) {
	if err := Load(); err != nil {
		return nil, err
	}
	c := &Comm{}
	err := check("ncclCommInitRankConfig", C.nccl_init(&c.handle, (*C.char)(unsafe.Pointer(&id[0])), C.int32_t(ordinal), C.int32_t(rank), C.int32_t(size)))
	if err != nil {
		return nil, errors.Join(err, c.Abort())
	}
	return c, nil
}

// State reports whether the work that was begun last is done. After an exchange this means
// that its work is on the stream, not that the bytes have arrived.
//
// # Errors
//
// The error is an [*Error] if the communicator has failed, for example because another rank
// has ended.
func (c *Comm) State() (done bool, err error) {
	if c.handle == 0 {
		return false, errEnded
	}
	var state C.int32_t
	if err := check("ncclCommGetAsyncError", C.nccl_state(c.handle, &state)); err != nil {
		return false, err
	}
	return state == success, check("ncclCommGetAsyncError", state)
}

// Exchange enqueues transfers on a stream as one group. Transfers between two ranks match in their
// order. The memory stays in use until the stream has done the work.
func (c *Comm) Exchange(stream uintptr, transfers []Transfer) error {
	if c.handle == 0 {
		return errEnded
	}
	if len(transfers) == 0 {
		return nil
	}
	list := make([]C.nccl_transfer, len(transfers))
	for i, t := range transfers {
		list[i] = C.nccl_transfer{pointer: C.uint64_t(t.Pointer), bytes: C.uint64_t(t.Bytes), rank: C.int32_t(t.Rank)}
		if t.Send {
			list[i].send = 1
		}
	}
	return check("ncclGroupEnd", C.nccl_exchange(c.handle, C.uintptr_t(stream), &list[0], C.size_t(len(list))))
}

// AllToAll enqueues an exchange of blocks of equal size: block i of the memory at from goes to rank
// i, and to gets the blocks of all ranks. [HasAllToAll] reports whether the library has it.
func (c *Comm) AllToAll(stream, from, to uintptr, blockBytes uint64) error {
	if c.handle == 0 {
		return errEnded
	}
	return check("ncclAlltoAll", C.nccl_all_to_all(c.handle, C.uintptr_t(stream), C.uint64_t(from), C.uint64_t(to), C.uint64_t(blockBytes)))
}

// Close waits for the work of all ranks and ends the communicator. If that fails, or if the
// context ends, it aborts the communicator.
func (c *Comm) Close(ctx context.Context) error {
	if c.handle == 0 {
		return nil
	}
	err := check("ncclCommFinalize", C.nccl_finalize(c.handle))
	if err == nil {
		err = c.Wait(ctx)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("nccl: close: %w", err), c.Abort())
	}
	handle := c.handle
	c.handle = 0
	return check("ncclCommDestroy", C.nccl_destroy(handle))
}

// Abort ends the communicator and its work without the other ranks. It may be called several
// times.
func (c *Comm) Abort() error {
	if c.handle == 0 {
		return nil
	}
	handle := c.handle
	c.handle = 0
	return check("ncclCommAbort", C.nccl_abort(handle))
}
