//go:build cgo && unix && !(386 || arm || mips || mipsle)

package cabitest

/*
#include "sender.h"
*/
import "C"

import "unsafe"

// Mode is how a Sender behaves.
type Mode int

// The modes. Only the first, the third and the fourth follow the protocol.
const (
	Good           Mode = C.SENDER_GOOD
	Quits          Mode = C.SENDER_QUITS
	Fails          Mode = C.SENDER_FAILS
	FailsFirst     Mode = C.SENDER_FAILS_FIRST
	ReleasesFirst  Mode = C.SENDER_RELEASES_FIRST
	Overruns       Mode = C.SENDER_OVERRUNS
	GoesOn         Mode = C.SENDER_GOES_ON
	RepeatsSchema  Mode = C.SENDER_REPEATS_SCHEMA
	ReleasesInCall Mode = C.SENDER_RELEASES_IN_CALL
	HasNoProducer  Mode = C.SENDER_HAS_NO_PRODUCER
	EndOfAllModes       = HasNoProducer + 1
)

// Sender is an asynchronous producer of batches on a thread of C.
type Sender struct{ c *C.struct_sender }

// SenderCounts counts the tasks of a Sender. Ahead is the maximum number of tasks that
// were sent and not extracted; Tasks is the current number of them.
type SenderCounts struct {
	Requested, Delivered, Ahead, Tasks, Extracted, Discarded int
	Cancels, Released, SchemaCode                            int
}

// NewSender makes a producer. at is the batch at which it quits or fails with the code.
// It uses the batches until it is joined.
func NewSender(batches *Batches, mode Mode, at, code int) *Sender {
	return &Sender{C.sender_new(batches.start(), C.int(mode), C.int64_t(at), C.int(code))}
}

// Start lets it call a handler.
func (s *Sender) Start(handler unsafe.Pointer) error { return joined(C.sender_start(s.c, handler)) }

// Hold delays the release of the handler until it is called with false.
func (s *Sender) Hold(held bool) { C.sender_hold(s.c, flag(held)) }

// Join waits until it has released the handler.
func (s *Sender) Join() error { return joined(C.sender_join(s.c)) }

// Counts returns what it has seen.
func (s *Sender) Counts() SenderCounts {
	var c C.struct_sender_counts
	C.sender_count(s.c, &c)
	return SenderCounts{
		Requested: int(c.requested), Delivered: int(c.delivered), Ahead: int(c.ahead), Tasks: int(c.tasks),
		Extracted: int(c.extracted), Discarded: int(c.discarded),
		Cancels: int(c.cancels), Released: int(c.released), SchemaCode: int(c.schema_code),
	}
}

// Free frees it, after Join.
func (s *Sender) Free() { C.sender_free(s.c) }
