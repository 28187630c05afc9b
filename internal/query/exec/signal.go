package exec

// signal wakes goroutines that wait for a change. A lock of its owner is held in its methods. The
// zero value is ready for use.
type signal struct{ changed chan struct{} }

// next returns the channel that the next change closes.
func (s *signal) next() <-chan struct{} {
	if s.changed == nil {
		s.changed = make(chan struct{})
	}
	return s.changed
}

// notify reports a change.
func (s *signal) notify() {
	if s.changed != nil {
		close(s.changed)
		s.changed = nil
	}
}
