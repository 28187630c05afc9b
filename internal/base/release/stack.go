package release

import "errors"

// Stack is objects that are released together, the last one first.
type Stack []Releaser

// Func is a function that releases something.
type Func func() error

// Release calls the function.
func (f Func) Release() error { return f() }

// Add adds an object.
func (s *Stack) Add(r Releaser) { *s = append(*s, r) }

// Release releases all objects, the last one first, and empties the stack.
func (s *Stack) Release() error {
	var failures []error
	for i := len(*s) - 1; i >= 0; i-- {
		failures = append(failures, (*s)[i].Release())
	}
	*s = nil
	return errors.Join(failures...)
}
