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

// InMemory reports whether a source has its rows in memory, so that they can be read again at no
// cost of reading files.
func InMemory(s Source) bool {
	switch s.(type) {
	case *recordList, *tables, *Slot:
		return true
	}
	return false
}

// OnDevice reports whether a source may have tables in device memory, which its readers share.
func OnDevice(s Source) bool {
	switch s.(type) {
	case *tables, *Slot:
		return true
	}
	return false
}

// fixed are sources of memory: tables, records, values of Go and host tables.
type fixed interface{ isFixed() }

func (*recordList) isFixed() {}
func (*tables) isFixed()     {}
func (*Slot) isFixed()       {}
func (*values[T]) isFixed()  {}
func (*hostTable) isFixed()  {}

// IsFixed reports whether a source has the same columns each time it is read: one of memory, not of files or a reader.
func IsFixed(s Source) bool {
	_, ok := s.(fixed)
	return ok
}
