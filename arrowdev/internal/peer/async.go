//go:build cgo && unix && !(386 || arm || mips || mipsle)

package peer

/*
#include "peer.h"
*/
import "C"

import "unsafe"

// SendOptions of an asynchronous producer.
type SendOptions struct {
	// EndRequested makes the end of the stream wait for a request too.
	EndRequested bool
	// Metadata is sent with each task.
	Metadata bool
	// FinishRequested still sends the tasks that were requested before a cancel.
	FinishRequested bool
	// FailExtract makes extract_data fail for task number FailExtract, counted from
	// one; 0 means no task.
	FailExtract int
}

// Sender is an asynchronous producer on a separate thread.
type Sender struct{ c *C.struct_peer_sender }

// Send starts to send to an ArrowAsyncDeviceStreamHandler.
func Send(handler unsafe.Pointer, source Source, options SendOptions) *Sender {
	c, done := source.c()
	defer done()
	o := C.struct_peer_send{
		end_requested: C.bool(options.EndRequested), metadata: C.bool(options.Metadata),
		finish_requested: C.bool(options.FinishRequested), fail_extract: C.int64_t(options.FailExtract - 1),
	}
	return &Sender{C.peer_send((*C.struct_ArrowAsyncDeviceStreamHandler)(handler), c, &o)}
}

// Sent is the result of a Sender. SchemaCode and TaskCode are the results of the
// handler's callbacks.
type Sent struct {
	Tasks, Requested, Cancels, SchemaCode, TaskCode int
	Errored, Released                               bool
}

// Wait waits until the sender has released the handler. Call it once.
func (s *Sender) Wait() Sent {
	var sent C.struct_peer_sent
	C.peer_send_wait(s.c, &sent)
	return Sent{
		int(sent.tasks), int(sent.requested), int(sent.cancels), int(sent.schema_code), int(sent.task_code),
		bool(sent.errored), bool(sent.released),
	}
}

// Extract selects how a consumer extracts tasks.
type Extract int

// The choices: in the callback; on a separate thread in a random order; not at all; or
// any of these at random.
const (
	AtOnce  Extract = C.PEER_AT_ONCE
	Later   Extract = C.PEER_LATER
	Discard Extract = C.PEER_DISCARD
	Some    Extract = C.PEER_SOME
)

// Never is a number of tasks that is not reached.
const Never = -1

// ReceiveOptions are the options of an asynchronous consumer. CancelAfter and
// RefuseAfter must be set, for example to Never.
type ReceiveOptions struct {
	// First is requested in on_schema, Next after each task. RequestLater makes the
	// requests on a separate thread.
	First, Next  int
	RequestLater bool
	Extract      Extract
	Seed         uint64
	// CancelAfter is the number of tasks after which the consumer cancels (0: in
	// on_schema), on a separate thread if CancelLater is true.
	CancelAfter int
	CancelLater bool
	// After RefuseAfter tasks on_next_task returns TaskCode; on_schema returns
	// SchemaCode.
	RefuseAfter, TaskCode, SchemaCode int
}

// Receiver is an asynchronous consumer.
type Receiver struct {
	c    *C.struct_peer_receiver
	done func()
}

// NewReceiver makes a consumer. Pass its handler to a producer, and call Wait.
func NewReceiver(options ReceiveOptions, view View) *Receiver {
	v, done := view.c()
	o := C.struct_peer_receive{
		first: C.int64_t(options.First), next: C.int64_t(options.Next), request_later: C.bool(options.RequestLater),
		extract: uint32(options.Extract), seed: C.uint64_t(options.Seed),
		cancel_after: C.int64_t(options.CancelAfter), refuse_after: C.int64_t(options.RefuseAfter),
		cancel_later: C.bool(options.CancelLater), schema_code: C.int(options.SchemaCode), task_code: C.int(options.TaskCode),
	}
	return &Receiver{C.peer_receiver(&o, &v), done}
}

// Handler returns the ArrowAsyncDeviceStreamHandler.
func (r *Receiver) Handler() unsafe.Pointer { return unsafe.Pointer(C.peer_handler(r.c)) }

// Received is the result of a consumer. Values have the line "batch k" before those of
// each extracted batch.
type Received struct {
	Seen
	Tasks, Extracted, ExtractErrors, Errors, Code int
	Message                                       string
	Schema, Ended, Released                       bool
}

// Wait waits until the handler was released and all tasks were extracted, and frees the
// consumer. Call it once.
func (r *Receiver) Wait() Received {
	defer r.done()
	defer C.peer_receive_free(r.c)
	c := C.peer_receive_wait(r.c)
	return Received{
		seenOf(&c.seen), int(c.tasks), int(c.extracted), int(c.extract_errors), int(c.errors), int(c.code),
		C.GoString(c.message), bool(c.schema), bool(c.ended), bool(c.released),
	}
}
