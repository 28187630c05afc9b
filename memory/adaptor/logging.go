package adaptor

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/memory/adaptor/trace"
	"github.com/gpuframe/gpuframe/memory/resource"
)

// Logging writes down every request: as lines of the CSV form that RMM's replay
// tools and package trace read, as records of a log/slog Logger, or both.
//
// A line for an allocation is written after the upstream has answered and one
// for a free before it is asked, so that an address is never logged as allocated
// twice without a free in between, whatever the number of goroutines.
type Logging struct {
	base
	options LoggingOptions

	mu      sync.Mutex
	csv     *bufio.Writer
	closed  bool
	line    []byte
	threads map[backend.Stream]uint64
}

// LoggingOptions say where a [Logging] writes. Without CSV and Logger it writes
// nowhere.
type LoggingOptions struct {
	// CSV takes the lines, behind a buffer. Flush and Close empty the buffer;
	// neither closes the writer, which the caller does afterwards.
	CSV io.Writer
	// FlushLines writes each line at once, so that nothing is missing from the
	// log of a program that crashed.
	FlushLines bool
	// Thread gives the number for the column Thread. Go has no threads to name:
	// a goroutine may run on any. nil means one number for each stream, from 1 in
	// the order in which they are first seen, as what is on one stream is in
	// order and what is on two is not. A replay that plays each Thread in a
	// goroutine of its own then has as much concurrency as the program could
	// have, and frees a block where it allocated it. It is called with the log
	// locked, so it makes no requests itself.
	Thread func(stream *device.Stream) uint64
	// Now is the clock, called as Thread is; nil means time.Now.
	Now func() time.Time

	// Logger takes the records: "allocate" and "free" at Level, with the
	// attributes bytes, pointer and stream; "allocate failure" and "free failure",
	// with error, at Level or slog.LevelWarn, whichever is higher.
	Logger *slog.Logger
	Level  slog.Level
}

// NewLogging returns an adaptor that logs what passes through it. The header of
// the CSV goes into the buffer at once.
func NewLogging(upstream resource.Resource, options LoggingOptions) *Logging {
	if options.Now == nil {
		options.Now = time.Now
	}
	l := &Logging{base: base{upstream: upstream}, options: options}
	if options.CSV != nil {
		const buffered = 64 << 10
		l.csv = bufio.NewWriterSize(options.CSV, buffered)
		l.threads = make(map[backend.Stream]uint64)
		l.csv.WriteString(trace.Header + "\n")
	}
	return l
}

// Flush hands what is buffered to the writer. Once that has failed, no more is
// written and Flush returns the same error again; requests go on.
func (l *Logging) Flush() error {
	if l.csv == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.csv.Flush(); err != nil {
		return fmt.Errorf("memory/adaptor: logging: flush: %w", err)
	}
	return nil
}

// Close flushes and closes the upstream. Memory may still be freed afterwards;
// such lines are written at once.
func (l *Logging) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	return errors.Join(l.Flush(), l.base.Close())
}

// Allocate passes the request on and logs how it went.
func (l *Logging) Allocate(bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	return l.AllocateContext(context.Background(), bytes, stream)
}

// AllocateContext is Allocate with a context for the upstream, which stops
// waiting for the device when the context is done.
func (l *Logging) AllocateContext(ctx context.Context, bytes uint64, stream *device.Stream) (resource.Allocation, error) {
	allocation, err := resource.AllocateFrom(ctx, l.upstream, bytes, stream)
	if err != nil {
		l.write(trace.AllocateFailure, 0, bytes, stream)
		l.record(trace.AllocateFailure.String(), 0, bytes, stream, err)
		return allocation, err
	}
	l.write(trace.Allocate, allocation.Pointer, bytes, stream)
	l.record(trace.Allocate.String(), allocation.Pointer, bytes, stream, nil)
	return allocation, nil
}

// Free logs the allocation and passes it on.
func (l *Logging) Free(allocation resource.Allocation, further []*device.Stream) error {
	l.write(trace.Free, allocation.Pointer, allocation.Bytes, allocation.Stream)
	l.record(trace.Free.String(), allocation.Pointer, allocation.Bytes, allocation.Stream, nil)
	err := l.upstream.Free(allocation, further)
	if err != nil {
		l.record("free failure", allocation.Pointer, allocation.Bytes, allocation.Stream, err)
	}
	return err
}

// write appends a line to the CSV. The time is taken under the lock, so that it
// does not go back from line to line. An error of the writer shows in Flush.
func (l *Logging) write(action trace.Action, pointer device.Pointer, bytes uint64, stream *device.Stream) {
	if l.csv == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	event := trace.Event{
		Thread: l.thread(stream), Time: timeOfDay(l.options.Now()), Action: action,
		Pointer: uint64(pointer), Size: bytes, Stream: uint64(stream.Handle()),
	}
	l.line, _ = event.AppendText(l.line[:0]) // fails for unknown actions only
	l.csv.Write(append(l.line, '\n'))
	if l.options.FlushLines || l.closed {
		l.csv.Flush()
	}
}

func (l *Logging) thread(stream *device.Stream) uint64 {
	if l.options.Thread != nil {
		return l.options.Thread(stream)
	}
	handle := stream.Handle()
	number, seen := l.threads[handle]
	if !seen {
		number = uint64(len(l.threads)) + 1
		l.threads[handle] = number
	}
	return number
}

// timeOfDay is what the clock on the wall shows. The log has no room for a date.
func timeOfDay(now time.Time) time.Duration {
	hours, minutes, seconds := now.Clock()
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute +
		time.Duration(seconds)*time.Second + time.Duration(now.Nanosecond())
}

// record hands a record to the Logger.
func (l *Logging) record(action string, pointer device.Pointer, bytes uint64, stream *device.Stream, err error) {
	logger, level := l.options.Logger, l.options.Level
	if err != nil {
		level = max(level, slog.LevelWarn)
	}
	ctx := context.Background()
	if logger == nil || !logger.Enabled(ctx, level) {
		return
	}
	attributes := []slog.Attr{
		slog.Uint64("bytes", bytes), slog.String("pointer", pointer.String()), slog.String("stream", stream.String()),
	}
	if err != nil {
		attributes = append(attributes, slog.Any("error", err))
	}
	logger.LogAttrs(ctx, level, action, attributes...)
}
