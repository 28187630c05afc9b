//go:build cgo && unix && !(386 || arm || mips || mipsle)

package cabitest

/*
#include <stdlib.h>
#include "batches.h"
*/
import "C"

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// Batches is the data of another library: batches of one nullable int32 column "n".
type Batches struct {
	// DeviceType and DeviceID are the device of Data, which holds Rows values for each
	// of Count batches.
	DeviceType int32
	DeviceID   int64
	Data       uintptr
	Rows       int
	Count      int
	// FailAt is the batch that fails, with FailCode; ElsewhereAt is one on another type
	// of device. Zero means no batch, so neither can be the first.
	FailAt      int
	FailCode    int
	ElsewhereAt int
	// SyncEvent is the address of the event after the work on Data, or zero.
	SyncEvent uintptr
	// Lying makes the schema declare a column of strings.
	Lying bool

	c *C.struct_batches
}

// start makes the C side; Free frees it.
func (b *Batches) start() *C.struct_batches {
	if b.c == nil {
		b.c = C.batches_new()
	}
	b.c.device_type, b.c.device_id = C.int32_t(b.DeviceType), C.int64_t(b.DeviceID)
	b.c.data, b.c.rows, b.c.count = C.uintptr_t(b.Data), C.int64_t(b.Rows), C.int64_t(b.Count)
	b.c.sync_event = C.uintptr_t(b.SyncEvent)
	if b.FailAt > 0 {
		b.c.fail_at, b.c.fail_code = C.int64_t(b.FailAt), C.int(b.FailCode)
	}
	if b.ElsewhereAt > 0 {
		b.c.elsewhere_at = C.int64_t(b.ElsewhereAt)
	}
	if b.Lying {
		C.batches_lie(b.c)
	}
	return b.c
}

// DeviceStream writes an ArrowDeviceArrayStream of the batches.
func (b *Batches) DeviceStream(out *cabi.DeviceStream) {
	C.batches_device_stream(b.start(), unsafe.Pointer(out))
}

// Stream writes an ArrowArrayStream of the batches.
func (b *Batches) Stream(out *cabi.Stream) { C.batches_stream(b.start(), unsafe.Pointer(out)) }

// Held returns the numbers of schemas, arrays and streams that were not released.
func (b *Batches) Held() (schemas, arrays, streams int) {
	if b.c == nil {
		return 0, 0, 0
	}
	var held [3]C.int64_t
	C.batches_held(b.c, &held[0])
	return int(held[0]), int(held[1]), int(held[2])
}

// Free frees the C side.
func (b *Batches) Free() {
	C.free(unsafe.Pointer(b.c))
	b.c = nil
}
