package kernels

import (
	"errors"
	"fmt"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
)

// ErrShared is the error of closing a module of [LoadCached], which stays open.
var ErrShared = errors.New("the module is shared by all callers that load the same code")

// shared are the modules of LoadCached.
var shared perdevice.Cache[*sharedModules]

// sharedModules are the modules of one device.
type sharedModules struct {
	mu      sync.RWMutex
	modules map[sharedKey]*sharedModule
}

// sharedKey contains the text itself: comparing it is faster than a hash without
// collisions, and most texts are constants of the program.
type sharedKey struct {
	code   string
	strict bool
}

// sharedModule is locked while it is loaded. Loads of different codes do not wait for
// each other.
type sharedModule struct {
	mu     sync.Mutex
	module *Module
}

// LoadCached returns the module that all callers share that load the same code for the
// same open device. The first call loads it; concurrent calls wait for it. An error is
// not kept: the next call tries again.
//
// The module lives as long as the device. The caller does not close it: Close does
// nothing and returns [ErrShared]. Load code that is made at run time with
// [LoadCollected].
//
// More than one of options is an error. Strict and permissive modules of the same code
// differ; the directory for compiled code is that of the call that loads. LoadCached is
// safe for concurrent use.
func LoadCached[Code ~string | ~[]byte](dev *device.Device, code Code, options ...LoadOptions) (*Module, error) {
	var chosen LoadOptions
	switch len(options) {
	case 0:
	case 1:
		chosen = options[0]
	default:
		return nil, fmt.Errorf("kernels: load: %d LoadOptions, expected at most one: %w", len(options), device.ErrInvalidValue)
	}
	all, err := shared.Get(dev, func(*device.Device) (*sharedModules, error) {
		return &sharedModules{modules: map[sharedKey]*sharedModule{}}, nil
	})
	if err != nil {
		return nil, fmt.Errorf("kernels: load: %w", err)
	}
	all.mu.RLock()
	entry := all.modules[sharedKey{string(code), chosen.Strict}]
	all.mu.RUnlock()
	if entry == nil {
		entry = all.entry(sharedKey{string(code), chosen.Strict})
	}
	entry.mu.Lock()
	defer entry.mu.Unlock()
	if entry.module != nil {
		return entry.module, nil
	}
	m, err := load(dev, []byte(code), chosen)
	if err != nil {
		return nil, err
	}
	m.shared = true
	entry.module = m
	return m, nil
}

// entry returns the entry of a code, and makes it if necessary.
func (s *sharedModules) entry(key sharedKey) *sharedModule {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := s.modules[key]
	if entry == nil {
		entry = new(sharedModule)
		s.modules[key] = entry
	}
	return entry
}
