package trace

import (
	"fmt"
	"strconv"
	"time"
)

// Header is the first line of a log, without its end.
const Header = "Thread,Time,Action,Pointer,Size,Stream"

// Action is the kind of an event.
type Action uint8

const (
	// Allocate is a request that succeeded.
	Allocate Action = iota + 1
	// Free is a free of memory.
	Free
	// AllocateFailure is a request that failed. Its pointer is zero.
	AllocateFailure
)

// String returns the word for the action in a log.
func (a Action) String() string {
	switch a {
	case Allocate:
		return "allocate"
	case Free:
		return "free"
	case AllocateFailure:
		return "allocate failure"
	}
	return fmt.Sprintf("Action(%d)", uint8(a))
}

func parseAction(text string) (Action, error) {
	switch text {
	case "allocate":
		return Allocate, nil
	case "free", "deallocate": // the manual of RMM uses the latter
		return Free, nil
	case "allocate failure":
		return AllocateFailure, nil
	}
	return 0, fmt.Errorf(`an action is "allocate", "free" or "allocate failure"`)
}

// Event is one line of a log.
type Event struct {
	// Line is the line number of the event in the log, counted from 1 including the
	// header. It is zero for an event that was not read.
	Line int
	// Thread identifies the thread of the request. Events of one thread are in the
	// order of the log; a replay may use one goroutine per thread.
	Thread uint64
	// Time is relative to the midnight before the first event or, if the log
	// contains seconds since 1970, to 1970. Its resolution is a microsecond.
	Time   time.Duration
	Action Action
	// Pointer is the address of the memory, which matches a free to its allocation.
	Pointer uint64
	// Size is in bytes.
	Size uint64
	// Stream is the driver's handle of the stream; zero is the default stream.
	Stream uint64
}

const day = 24 * time.Hour

// AppendText appends the event as a line of a log, without the line end. Time is
// written as the time of day, so times that differ by whole days look the same.
// AppendText returns an error only for an unknown action.
func (e Event) AppendText(line []byte) ([]byte, error) {
	if e.Action < Allocate || e.Action > AllocateFailure {
		return line, fmt.Errorf("trace: write event: %v is none of the actions", e.Action)
	}
	line = strconv.AppendUint(line, e.Thread, 10)
	line = append(line, ',')
	line = appendTimeOfDay(line, e.Time)
	line = append(line, ',')
	line = append(line, e.Action.String()...)
	line = append(line, ',')
	if e.Pointer == 0 {
		line = append(line, "(nil)"...) // as C++ prints a null pointer
	} else {
		line = appendAddress(line, e.Pointer)
	}
	line = append(line, ',')
	line = strconv.AppendUint(line, e.Size, 10)
	line = append(line, ',')
	if e.Stream == 0 {
		return append(line, '0'), nil
	}
	return appendAddress(line, e.Stream), nil
}

func appendAddress(line []byte, address uint64) []byte {
	return strconv.AppendUint(append(line, "0x"...), address, 16)
}

func appendTimeOfDay(line []byte, t time.Duration) []byte {
	if t %= day; t < 0 {
		t += day
	}
	line = appendPadded(line, int64(t/time.Hour), 2)
	line = append(line, ':')
	line = appendPadded(line, int64(t%time.Hour/time.Minute), 2)
	line = append(line, ':')
	line = appendPadded(line, int64(t%time.Minute/time.Second), 2)
	line = append(line, '.')
	return appendPadded(line, int64(t%time.Second/time.Microsecond), 6)
}

func appendPadded(line []byte, value int64, width int) []byte {
	for limit := int64(10); width > 1; width-- {
		if value < limit {
			line = append(line, zeros[:width-1]...)
			break
		}
		limit *= 10
	}
	return strconv.AppendInt(line, value, 10)
}

const zeros = "00000"
