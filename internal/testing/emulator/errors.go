package emulator

import (
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
	return fmt.Sprintf("emulator: line %d: %s: %v", e.line, e.detail, backend.ErrInvalidCode)
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

// Fault describes the failure of a kernel: an invalid access, a deadlock or a trap.
type Fault struct {
	Kernel string
	// Line and Instruction locate the fault in the PTX.
	Line        int
	Instruction string
	// Block and Thread identify the thread. Thread is −1 if the fault is not that of a
	// single thread.
	Block  [3]uint32
	Thread int
	// Detail describes the fault.
	Detail string
}

// Error formats f on one line.
func (f *Fault) Error() string {
	position := fmt.Sprintf("block %d,%d,%d", f.Block[0], f.Block[1], f.Block[2])
	if f.Thread >= 0 {
		position += fmt.Sprintf(" thread %d", f.Thread)
	}
	return fmt.Sprintf("emulator: kernel %s, line %d, %q, %s: %s", f.Kernel, f.Line, f.Instruction, position, f.Detail)
}
