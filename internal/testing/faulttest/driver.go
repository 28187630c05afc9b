package faulttest

import (
	"fmt"
	"maps"
	"sync"
	"unsafe"

	"github.com/gpuframe/gpuframe/device/backend"
)

// Error is an injected failure.
type Error struct {
	Call
	// Err is the condition.
	Err error
}

// Error formats e as "faulttest: operation, call n: condition".
func (e *Error) Error() string {
	return fmt.Sprintf("faulttest: %s, call %d: %v", e.Operation, e.Nth, e.Err)
}

// Unwrap returns the condition.
func (e *Error) Unwrap() error { return e.Err }

// Call is one driver call. Numbers begin at 1 when the driver is armed.
type Call struct {
	// Operation is the method of backend.Device, such as "EventRecord".
	Operation string
	// Nth numbers the calls of the operation, Number all calls.
	Nth, Number int
}

// Rule returns the error that a call fails with, or nil. Several goroutines may call it
// at a time.
type Rule func(call Call) error

// Driver is a backend.Device over another one that fails some calls. A failed call does
// not reach the other device.
type Driver struct {
	backend.Device

	mu     sync.Mutex
	rule   Rule
	number int
	counts map[string]int
	failed map[string]int
	// live holds the memory and graphs that were created and not freed, by kind and by
	// address or handle.
	live map[allocation]struct{}
}

type allocation struct {
	kind string
	at   uint64
}

// NewDriver returns a driver that fails no call.
func NewDriver(below backend.Device) *Driver {
	d := &Driver{Device: below, live: map[allocation]struct{}{}}
	d.Arm(nil)
	return d
}

// Below returns the underlying device.
func (d *Driver) Below() backend.Device { return d.Device }

// Arm resets the counts and applies the rule, which may be nil, to later calls.
func (d *Driver) Arm(rule Rule) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rule, d.number, d.counts, d.failed = rule, 0, map[string]int{}, map[string]int{}
}

// Counts returns the number of calls of each operation since the driver was armed.
func (d *Driver) Counts() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.counts)
}

// Failed returns the number of failed calls of each operation since the driver was
// armed.
func (d *Driver) Failed() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.failed)
}

// Live counts the allocations that were not freed, by kind.
func (d *Driver) Live() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	live := map[string]int{}
	for each := range d.live {
		live[each.kind]++
	}
	return live
}

// enter counts a call and returns its injected error, if any.
func (d *Driver) enter(operation string) error {
	d.mu.Lock()
	d.number++
	d.counts[operation]++
	call, rule := Call{Operation: operation, Nth: d.counts[operation], Number: d.number}, d.rule
	d.mu.Unlock()
	if rule == nil {
		return nil
	}
	condition := rule(call) // without the lock, because the rule may cancel a context
	if condition == nil {
		return nil
	}
	d.mu.Lock()
	d.failed[operation]++
	d.mu.Unlock()
	return &Error{Call: call, Err: condition}
}

// through makes a call that returns only an error.
func (d *Driver) through(operation string, call func() error) error {
	if err := d.enter(operation); err != nil {
		return err
	}
	return call()
}

// valued makes a call that returns a value.
func valued[T any](d *Driver, operation string, call func() (T, error)) (value T, err error) {
	if err := d.enter(operation); err != nil {
		return value, err
	}
	return call()
}

// allocated makes a call that allocates memory.
func allocated[T ~uintptr | ~uint64](d *Driver, operation, kind string, call func() (T, error)) (T, error) {
	at, err := valued(d, operation, call)
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.live[allocation{kind, uint64(at)}] = struct{}{}
	}
	return at, err
}

// freed makes a call that frees memory.
func freed[T ~uintptr | ~uint64](d *Driver, operation, kind string, at T, call func() error) error {
	// The entry is removed first, because another goroutine may receive the same
	// address immediately after the call.
	if err := d.enter(operation); err != nil {
		return err
	}
	d.mu.Lock()
	delete(d.live, allocation{kind, uint64(at)})
	d.mu.Unlock()
	return call()
}

// The kinds of memory. Each is freed by another call.
const (
	plainMemory   = "memory"
	orderedMemory = "stream-ordered memory"
	pinnedMemory  = "pinned memory"
	mappedMemory  = "physical memory"
	addressRange  = "address range"

	graph           = "graph"
	executableGraph = "executable graph"
)

func word(pointer unsafe.Pointer) uintptr { return uintptr(pointer) }
