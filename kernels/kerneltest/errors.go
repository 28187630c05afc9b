package kerneltest

import (
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device/backend"
)

// syntaxError is the panic value of the parser and the compiler. ModuleLoad recovers
// it.
type syntaxError struct {
	line   int
	detail string
}

// Error formats e with its line.
func (e *syntaxError) Error() string {
	return fmt.Sprintf("kerneltest: line %d: %s: %v", e.line, e.detail, backend.ErrInvalidCode)
}

// Unwrap returns backend.ErrInvalidCode.
func (e *syntaxError) Unwrap() error { return backend.ErrInvalidCode }

func refuse(line int, format string, arguments ...any) {
	panic(&syntaxError{line: line, detail: fmt.Sprintf(format, arguments...)})
}

// recovered converts the panic of refuse into an error.
func recovered(err *error) {
	switch r := recover().(type) {
	case nil:
	case *syntaxError:
		*err = r
	default:
		panic(r)
	}
}

// The kinds of faults. A launch returns them within a [*Fault].
var (
	// ErrAddress: an access outside of the device's allocations, of shared memory or of the
	// parameters, to memory that is free, or a store to memory that is only read. The detail
	// names the nearest allocation.
	ErrAddress = errors.New("invalid address")
	// ErrAlignment: an address that is no multiple of the access's width.
	ErrAlignment = errors.New("misaligned address")
	// ErrRace: one thread writes shared memory that another one uses, with no barrier between.
	ErrRace = errors.New("race in shared memory")
	// ErrSynchronization: a deadlock, a barrier that threads reach in different ways, or a lane
	// that is not in the mask of its instruction.
	ErrSynchronization = errors.New("wrong synchronization")
	// ErrTrap: the kernel executed trap, as a failed assertion does.
	ErrTrap = errors.New("trap")
	// ErrEndless: the launch ran more instructions than [Options].Budget.
	ErrEndless = errors.New("endless kernel")
)

// A Fault is the first failure of a launch. It wraps its kind.
type Fault struct {
	Kernel string
	// Line and Instruction locate the fault in the PTX.
	Line        int
	Instruction string
	// Block and Thread identify the thread. Thread is −1 if the fault is not that of a
	// single thread.
	Block  [3]uint32
	Thread int
	// Kind is one of the errors of this package: ErrAddress, ErrRace, …
	Kind error
	// Detail describes the fault.
	Detail string
}

// Unwrap returns the kind of the fault.
func (f *Fault) Unwrap() error { return f.Kind }

// Error formats f on one line.
func (f *Fault) Error() string {
	position := fmt.Sprintf("block %d,%d,%d", f.Block[0], f.Block[1], f.Block[2])
	if f.Thread >= 0 {
		position += fmt.Sprintf(" thread %d", f.Thread)
	}
	return fmt.Sprintf("kerneltest: kernel %s, line %d, %q, %s: %s", f.Kernel, f.Line, f.Instruction, position, f.Detail)
}
