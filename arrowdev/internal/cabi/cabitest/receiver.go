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

// Habits are the actions of a Receiver in its callbacks.
type Habits struct {
	// RequestFirst is requested in on_schema, RequestEach in each on_next_task.
	RequestFirst, RequestEach int
	// CancelAt is the number of the task in whose on_next_task it cancels; 0 means
	// never.
	CancelAt int
	// RefuseSchema is the result of on_schema, RefuseTask that of on_next_task for task
	// RefuseAt.
	RefuseSchema, RefuseTask, RefuseAt int
	// KeepSchema leaves the schema unmoved and unreleased.
	KeepSchema bool
}

// Receiver is an asynchronous consumer in C that keeps the tasks.
type Receiver struct{ c *C.struct_receiver }

// ReceiverCounts counts the calls of a Receiver. Violations counts calls that the
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

// Handler returns the handler to pass to a producer.
func (r *Receiver) Handler() *cabi.AsyncHandler {
	return (*cabi.AsyncHandler)(unsafe.Pointer(&r.c.handler))
}

// Request requests n more tasks.
func (r *Receiver) Request(n int, onThread bool) {
	C.receiver_request(r.c, C.int64_t(n), flag(onThread))
}

// Cancel cancels.
func (r *Receiver) Cancel(onThread bool) { C.receiver_cancel(r.c, flag(onThread)) }

// Extract extracts the next task, or drops it if out is nil. It returns -1 if no task
// is left.
func (r *Receiver) Extract(out *cabi.DeviceArray, onThread bool) int {
	return int(C.receiver_extract(r.c, unsafe.Pointer(out), flag(onThread)))
}

// ExtractAgain extracts the task of the last Extract a second time.
func (r *Receiver) ExtractAgain(out *cabi.DeviceArray) int {
	return int(C.receiver_extract_again(r.c, unsafe.Pointer(out)))
}

// Wait waits for the given number of tasks, or for the release; with 0, for the schema.
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
