package arrowdev

import (
	"context"
	"io"
	"sync"
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// source is the Go side of an exported stream of either kind. A consumer may call
// from one thread after the other; calls at the same time, which the standard
// forbids, wait for one another.
type source struct {
	// schema and next fill the struct, which is cleared; next returns io.EOF at
	// the end. close runs once.
	schema func(out *cabi.Schema) error
	next   func(out unsafe.Pointer) error
	close  func() error
	// stop ends what next waits for.
	stop context.CancelFunc

	mu      sync.Mutex
	message unsafe.Pointer
	// failed is what next has returned at last: a stream does not go on after an
	// error or its end.
	failed error
	ended  bool
}

// GetSchema is get_schema.
func (s *source) GetSchema(out *cabi.Schema) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if out == nil || s.ended {
		return s.answer("get_schema", nowhere())
	}
	return s.answer("get_schema", guarded(func() error { return s.schema(out) }))
}

// GetNext is get_next.
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

func nowhere() error { return faulty("out", "it is NULL: %w", ErrInvalid) }

// answer keeps the description of an error until the next call, and returns the
// code.
func (s *source) answer(callback string, err error) int {
	cabi.FreeMessage(s.message)
	s.message = nil
	if s.ended { // released by another thread a moment ago
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

// LastError is get_last_error.
func (s *source) LastError() unsafe.Pointer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.message
}

// Ended is release.
func (s *source) Ended() {
	s.stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	cabi.FreeMessage(s.message)
	s.message, s.ended = nil, true
	_ = guarded(s.close) // there is nobody to tell
}
