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

// Logging records every request: as lines of the CSV format that RMM's replay tools
// and package trace read, as records of a log/slog Logger, or both.
//
// The line of an allocation is written after the upstream has returned, and the line
// of a free before the upstream is called. So an address is never logged as
// allocated twice without a free in between, even with many goroutines.
type Logging struct {
	base
	options LoggingOptions

	mu      sync.Mutex
	csv     *bufio.Writer
	closed  bool
	line    []byte
	threads map[backend.Stream]uint64
}

// LoggingOptions select the outputs of a [Logging]. Without CSV and Logger it writes
// nothing.
type LoggingOptions struct {
	// CSV receives the lines through a buffer. Flush and Close flush the buffer;
	// neither closes the writer, which the caller must do afterwards.
	CSV io.Writer
	// FlushLines flushes after each line, so that the log of a program that crashed
	// is complete.
	FlushLines bool
	// Thread returns the value of the column Thread. Go programs have no thread
	// numbers: a goroutine may run on any thread. Nil means one number per stream,
	// counted from 1 in the order of first use, because work on one stream is
	// ordered and work on two streams is not. A replay that runs each Thread in its
	// own goroutine then has as much concurrency as the program could have, and
	// frees a block where it was allocated. Thread is called with the log locked, so
	// it must not make requests.
	Thread func(stream *device.Stream) uint64
	// Now is the clock. It is called with the log locked; nil means time.Now.
	Now func() time.Time

	// Logger receives the records: "allocate" and "free" at Level, with the
	// attributes bytes, pointer and stream; "allocate failure" and "free failure",
	// with error, at Level or slog.LevelWarn if that is higher.
	Logger *slog.Logger
	Level  slog.Level
}

// NewLogging returns an adaptor that logs requests. It writes the CSV header to the
// buffer immediately.
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

// Flush writes the buffered lines to the writer. After the first error no more is
// written and Flush keeps returning that error; requests continue.
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

// Close flushes the log and closes the upstream. Memory may still be freed
// afterwards; those lines are flushed immediately.
func (l *Logging) Close() error {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	return errors.Join(l.Flush(), l.base.Close())
}

// Allocate passes the request on and logs the result.
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

// write appends a line to the CSV. It reads the clock under the lock, so that times
// do not decrease from line to line. Flush returns the errors of the writer.
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

// timeOfDay returns the local time of day. The log format has no date.
func timeOfDay(now time.Time) time.Duration {
	hours, minutes, seconds := now.Clock()
	return time.Duration(hours)*time.Hour + time.Duration(minutes)*time.Minute +
		time.Duration(seconds)*time.Second + time.Duration(now.Nanosecond())
}

// record sends a record to the Logger.
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
