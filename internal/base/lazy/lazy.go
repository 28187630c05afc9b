// Package lazy makes values at their first use.
package lazy

import "sync"

// Value is a value that its first use makes. As a package variable it costs nothing in programs that
// never use it: the linker leaves out the variable and everything that Make calls, and an initializer would keep these, also
// one with sync.OnceValue. It must not be copied.
type Value[T any] struct {
	// Make makes the value, once. It must not refer to the Value.
	Make func() T

	once  sync.Once
	value T
}

// Get returns the value.
func (v *Value[T]) Get() T {
	v.once.Do(func() { v.value = v.Make() })
	return v.value
}
