//go:build !cgo || 386 || arm || mips || mipsle

package cabi

import "unsafe"

// The codes that streams return.
const (
	EINVAL    = 22
	EIO       = 5
	ENOMEM    = 12
	ECANCELED = 125
)

var (
	ownStream       Stream
	ownDeviceStream DeviceStream

	_ = []any{streamSchema, streamNext, streamError, streamRelease} // C calls them
)

// CallSchema cannot call C in this build.
func (s *Stream) CallSchema(*Schema) int { return EINVAL }

// CallNext cannot call C in this build.
func (s *Stream) CallNext(*Array) int { return EINVAL }

// CallLastError cannot call C in this build.
func (s *Stream) CallLastError() string { return "" }

// CallRelease cannot call C in this build.
func (s *Stream) CallRelease() {}

// CallSchema cannot call C in this build.
func (s *DeviceStream) CallSchema(*Schema) int { return EINVAL }

// CallNext cannot call C in this build.
func (s *DeviceStream) CallNext(*DeviceArray) int { return EINVAL }

// CallLastError cannot call C in this build.
func (s *DeviceStream) CallLastError() string { return "" }

// CallRelease cannot call C in this build.
func (s *DeviceStream) CallRelease() {}

// NewMessage has no C memory in this build.
func NewMessage(string) unsafe.Pointer { return nil }

// FreeMessage does nothing in this build.
func FreeMessage(unsafe.Pointer) {}

func allocate(uintptr) unsafe.Pointer { return nil }

func watchForks() bool { return false }
