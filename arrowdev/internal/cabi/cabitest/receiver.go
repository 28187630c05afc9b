//go:build cgo && unix && !(386 || arm || mips || mipsle)

package cabitest

/*
#include "receiver.h"
*/
import "C"

import (
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// Habits are what a Receiver does inside its callbacks.
type Habits struct {
	// RequestFirst is requested in on_schema, RequestEach in each on_next_task.
	RequestFirst, RequestEach int
	// CancelAt cancels in the on_next_task of that task; 0 never.
	CancelAt int
	// RefuseSchema, and RefuseTask at task number RefuseAt, are returned.
	RefuseSchema, RefuseTask, RefuseAt int
	// KeepSchema neither moves the schema nor releases it.
	KeepSchema bool
}

// Receiver is an asynchronous consumer in C that keeps the tasks.
type Receiver struct{ c *C.struct_receiver }

// ReceiverCounts are what a Receiver has seen. Violations counts calls that the
// protocol forbids.
type ReceiverCounts struct {
	Tasks, Requested, AfterCancel                     int
	Schemas, Ends, Errors, Code, Released, Violations int
	Message                                           string
}

// NewReceiver makes a consumer.
func NewReceiver(h Habits) *Receiver {
	c := C.receiver_new()
	c.request_first, c.request_each, c.cancel_at = C.int64_t(h.RequestFirst), C.int64_t(h.RequestEach), C.int64_t(h.CancelAt)
	c.refuse_schema, c.refuse_task, c.refuse_at = C.int(h.RefuseSchema), C.int(h.RefuseTask), C.int64_t(h.RefuseAt)
	c.keep_schema = flag(h.KeepSchema)
	return &Receiver{c}
}

// Handler is what a producer is given.
func (r *Receiver) Handler() *cabi.AsyncHandler {
	return (*cabi.AsyncHandler)(unsafe.Pointer(&r.c.handler))
}

// Request asks for n more tasks.
func (r *Receiver) Request(n int, onThread bool) {
	C.receiver_request(r.c, C.int64_t(n), flag(onThread))
}

// Cancel cancels.
func (r *Receiver) Cancel(onThread bool) { C.receiver_cancel(r.c, flag(onThread)) }

// Extract extracts the next task, or drops it where out is nil. It returns -1 where
// there is none.
func (r *Receiver) Extract(out *cabi.DeviceArray, onThread bool) int {
	return int(C.receiver_extract(r.c, unsafe.Pointer(out), flag(onThread)))
}

// ExtractAgain extracts the task of the last Extract once more.
func (r *Receiver) ExtractAgain(out *cabi.DeviceArray) int {
	return int(C.receiver_extract_again(r.c, unsafe.Pointer(out)))
}

// Wait waits until there have been so many tasks, or the release; with 0, until
// there is a schema.
func (r *Receiver) Wait(tasks int) { C.receiver_wait(r.c, C.int64_t(tasks)) }

// WaitEnd waits for the release.
func (r *Receiver) WaitEnd() { C.receiver_wait_end(r.c) }

// Counts returns what it has seen.
func (r *Receiver) Counts() ReceiverCounts {
	var c C.struct_receiver_counts
	C.receiver_count(r.c, &c)
	return ReceiverCounts{
		Tasks: int(c.tasks), Requested: int(c.requested), AfterCancel: int(c.after_cancel),
		Schemas: int(c.schemas), Ends: int(c.ends), Errors: int(c.errors), Code: int(c.code),
		Released: int(c.released), Violations: int(c.violations), Message: C.GoString(&c.message[0]),
	}
}

// Free frees it, after the release.
func (r *Receiver) Free() { C.receiver_free(r.c) }

func flag(set bool) C.int {
	if set {
		return 1
	}
	return 0
}
