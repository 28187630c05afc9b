package arrowdev

import (
	"context"
	"io"
	"sync"
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// source is the Go side of an exported stream of either kind. A consumer may call it
// from different threads, one call at a time. Concurrent calls, which the standard
// forbids, wait for each other.
type source struct {
	// schema and next fill the struct, which is zeroed; next returns io.EOF at the
	// end. close runs once.
	schema func(out *cabi.Schema) error
	next   func(out unsafe.Pointer) error
	close  func() error
	// stop ends the waits of next.
	stop context.CancelFunc

	mu      sync.Mutex
	message unsafe.Pointer
	// failed is the final result of next: a stream does not continue after an error
	// or its end.
	failed error
	ended  bool
}

// GetSchema implements get_schema.
func (s *source) GetSchema(out *cabi.Schema) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if out == nil || s.ended {
		return s.answer("get_schema", nowhere())
	}
	return s.answer("get_schema", guarded(func() error { return s.schema(out) }))
}

// GetNext implements get_next.
func (s *source) GetNext(out unsafe.Pointer) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if out == nil {
		return s.answer("get_next", nowhere())
	}
	if s.failed == nil && !s.ended {
		s.failed = guarded(func() error { return s.next(out) })
	}
	if s.failed == io.EOF {
		return s.answer("get_next", nil)
	}
	return s.answer("get_next", s.failed)
}

func nowhere() error { return faulty("out", "NULL, expected a struct: %w", ErrInvalid) }

// answer keeps the description of an error until the next call, and returns its code.
func (s *source) answer(callback string, err error) int {
	cabi.FreeMessage(s.message)
	s.message = nil
	if s.ended { // another thread has just released the stream
		return cabi.EINVAL
	}
	if err == nil {
		return 0
	}
	if known, ok := err.(*Error); ok && known.Operation == "" {
		known.Operation = callback
	}
	s.message = cabi.NewMessage(err.Error())
	return errnoOf(err)
}

// LastError implements get_last_error.
func (s *source) LastError() unsafe.Pointer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.message
}

// Ended implements release.
func (s *source) Ended() {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	cabi.FreeMessage(s.message)
	s.message, s.ended = nil, true
	_ = guarded(s.close) // no caller can receive the error
}
