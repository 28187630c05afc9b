package emulator

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device/backend"
)

// syntaxError leaves the parser and the compiler by a panic that load recovers.
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

// recovered turns the panic of refuse into an error.
func recovered(err *error) {
	switch r := recover().(type) {
	case nil:
	case *syntaxError:
		*err = r
	default:
		panic(r)
	}
}

// Fault is what went wrong in a kernel: a wrong access, a deadlock, a trap.
type Fault struct {
	Kernel string
	// Line and Instruction are of the PTX.
	Line        int
	Instruction string
	// Block and Thread say who did it; Thread is −1 where it is not one thread.
	Block  [3]uint32
	Thread int
	// Detail says what is wrong.
	Detail string
}

// Error formats f on one line.
func (f *Fault) Error() string {
	who := fmt.Sprintf("block %d,%d,%d", f.Block[0], f.Block[1], f.Block[2])
	if f.Thread >= 0 {
		who += fmt.Sprintf(" thread %d", f.Thread)
	}
	return fmt.Sprintf("emulator: kernel %s, line %d, %q, %s: %s", f.Kernel, f.Line, f.Instruction, who, f.Detail)
}
