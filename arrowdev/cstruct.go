package arrowdev

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
)

// CStruct is one of Arrow's C structs in C memory, for callers without cgo.
// [ExportRecord], [ExportSchema], [Array.MoveTo] and other libraries write to it;
// [Import], [ImportRecord] and [ImportStream] take its contents over. A CStruct is
// safe for concurrent use; the C struct itself is not.
//
//	array, err := arrowdev.NewCArray()
//	defer array.Release()
//	err = arrowdev.ExportRecord(record, array.Pointer(), nil)
//	consume(array.Address()) // a C function that takes an ArrowArray*, called through purego for example
//
// With the types of arrow-go's package cdata: (*cdata.CArrowArray)(array.Pointer()).
type CStruct struct {
	name string
	// drop calls the struct's release, if it is set, and frees its memory.
	drop     func()
	released func() bool

	mu      sync.Mutex
	pointer unsafe.Pointer
}

// NewCArray returns a cleared ArrowArray. The caller releases it.
func NewCArray() (*CStruct, error) {
	return newCStruct("ArrowArray", func(a *cabi.Array) bool { return a.Release == 0 }, cabi.ReleaseArray)
}

// NewCSchema returns a cleared ArrowSchema. The caller releases it.
func NewCSchema() (*CStruct, error) {
	return newCStruct("ArrowSchema", func(s *cabi.Schema) bool { return s.Release == 0 }, cabi.ReleaseSchema)
}

// NewCDeviceArray returns a cleared ArrowDeviceArray. The caller releases it.
func NewCDeviceArray() (*CStruct, error) {
	return newCStruct("ArrowDeviceArray", func(a *cabi.DeviceArray) bool { return a.Array.Release == 0 },
		func(a *cabi.DeviceArray) { cabi.ReleaseArray(&a.Array) })
}

// NewCStream returns a cleared ArrowArrayStream. The caller releases it.
func NewCStream() (*CStruct, error) {
	return newCStruct("ArrowArrayStream", func(s *cabi.Stream) bool { return s.Release == 0 }, (*cabi.Stream).CallRelease)
}

// NewCDeviceStream returns a cleared ArrowDeviceArrayStream. The caller releases it.
func NewCDeviceStream() (*CStruct, error) {
	return newCStruct("ArrowDeviceArrayStream", func(s *cabi.DeviceStream) bool { return s.Release == 0 }, (*cabi.DeviceStream).CallRelease)
}

func newCStruct[T any](name string, released func(*T) bool, release func(*T)) (*CStruct, error) {
	if !cabi.Available {
		return nil, during("new struct", notInThisBuild())
	}
	raw := cabi.NewStruct[T]()
	if raw == nil {
		return nil, during("new struct", outOfMemory())
	}
	return &CStruct{
		name: name, pointer: unsafe.Pointer(raw),
		released: func() bool { return released(raw) },
		drop: func() {
			if !released(raw) {
				release(raw)
			}
			cabi.FreeStruct(raw)
		},
	}, nil
}

// Pointer returns the C struct, or nil after Release.
//
// # Ownership
//
// The CStruct owns the memory. A consumer moves the contents, as Arrow's standard
// describes, or must not use them after Release.
func (s *CStruct) Pointer() unsafe.Pointer {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pointer
}

// Address returns the address of the C struct, or zero after Release, for C functions
// that take addresses as numbers. The memory does not move.
func (s *CStruct) Address() uintptr { return uintptr(s.Pointer()) }

// Empty reports whether the struct has nothing to release: it was never written, or a
// consumer has moved or released its contents.
func (s *CStruct) Empty() bool {
	if s == nil {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pointer == nil || s.released()
}

// Release calls the release callback of the contents, if a consumer has not moved or
// released them, and frees the struct. Further calls do nothing.
func (s *CStruct) Release() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pointer == nil {
		return
	}
	s.drop()
	s.pointer = nil
}

// String returns the struct's name and whether it is empty.
func (s *CStruct) String() string {
	switch {
	case s == nil:
		return "nil struct"
	case s.Pointer() == nil:
		return "freed " + s.name
	case s.Empty():
		return fmt.Sprintf("empty %s at %#x", s.name, s.Address())
	}
	return fmt.Sprintf("%s at %#x", s.name, s.Address())
}
