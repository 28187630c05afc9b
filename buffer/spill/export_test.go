package spill

// Waiting returns the number of goroutines that wait for the table's move to end.
func (t *Table) Waiting() int {
	t.spiller.mu.Lock()
	defer t.spiller.mu.Unlock()
	return t.waiting
}

// Storage is an open file.
type Storage = storage

// CreateFile makes a file in a directory.
var CreateFile = createFile

// CreateFilesWith replaces the function that makes files.
func (s *Spiller) CreateFilesWith(create func(directory string) (Storage, error)) {
	s.files.file.create = create
}
