package source

// Once reports whether a source can be opened only once: it reads an io.Reader or an Arrow
// record reader. A second call of Open gives an error that wraps [ErrUsed].
func Once(s Source) bool {
	switch s := s.(type) {
	case *recordReader:
		return true
	case *streams:
		return s.once
	}
	return false
}
