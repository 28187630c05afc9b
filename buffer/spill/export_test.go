package spill

// Waiting returns the number of goroutines that wait for the table's move to end.
func (t *Table) Waiting() int {
	t.spiller.mu.Lock()
	defer t.spiller.mu.Unlock()
	return t.waiting
}
