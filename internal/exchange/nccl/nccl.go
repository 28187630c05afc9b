package nccl

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// ErrNotAvailable means that the library is missing or too old. The error is an [Unavailable].
var ErrNotAvailable = errors.New("NCCL is not available")

// PathVariable is the environment variable for another path of the library.
const PathVariable = "GPUFRAME_LIBNCCL"

// oldest is the first version that has ncclCommInitRankConfig, as ncclGetVersion returns it.
const oldest = 21400

// Unavailable is why the library cannot be used.
type Unavailable struct {
	// Path is the path of the library.
	Path string
	// Version is the version that was found, or zero.
	Version int
	// Reason is the dynamic linker's message, or a missing function.
	Reason string
}

// Error returns the reason and the remedy.
func (e *Unavailable) Error() string {
	if e.Version != 0 {
		return fmt.Sprintf("nccl: %s has version %s, expected %s or newer: %s", e.Path, versionText(e.Version), versionText(oldest), e.Reason)
	}
	return fmt.Sprintf("nccl: %s cannot be used: %s: install NCCL %s or newer", e.Path, e.Reason, versionText(oldest))
}

// Unwrap returns [ErrNotAvailable].
func (e *Unavailable) Unwrap() error { return ErrNotAvailable }

// versionText formats a version: before 2.9 it has one digit for the second number.
func versionText(version int) string {
	if version < 10000 {
		return fmt.Sprintf("%d.%d.%d", version/1000, version/100%10, version%100)
	}
	return fmt.Sprintf("%d.%d.%d", version/10000, version/100%100, version%100)
}

// ID names a communicator. One rank makes it.
type ID [128]byte

// Transfer is a part of an exchange: bytes to a rank, or from it.
type Transfer struct {
	Rank    int
	Send    bool
	Pointer uintptr
	Bytes   uint64
}

// Error is a failure that NCCL reports.
type Error struct {
	Function string
	Code     int32
	// Text is NCCL's text for the code.
	Text string
}

// Error returns the function, the text and the code.
func (e *Error) Error() string {
	return fmt.Sprintf("nccl: %s: %s (%d)", e.Function, e.Text, e.Code)
}

const (
	firstPause = 10 * time.Microsecond
	lastPause  = time.Millisecond
)

// Wait waits until the begun work of the communicator is done, or on its stream.
//
// # Errors
//
// If the context ends or NCCL reports a failure, the work goes on: call [Comm.Abort].
func (c *Comm) Wait(ctx context.Context) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		done, err := c.State()
		if done || err != nil {
			return err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return cancel.Error(ctx)
		case <-timer.C:
		}
	}
}
