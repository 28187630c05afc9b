package source

import (
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
)

// TableOf returns the only table of a source of tables, or of a slot while a plan is made for it, or nil.
func TableOf(s Source) *buffer.Buffer {
	var list []*buffer.Buffer
	switch s := s.(type) {
	case *tables:
		list = s.tables
	case *Slot:
		list = s.tables
	}
	if len(list) != 1 {
		return nil
	}
	return list[0]
}

// Uniqueness is what is known of a column of a source of one table. A slot remembers the answer: a plan depends on it.
func Uniqueness(s Source, name string) column.Answer {
	table := TableOf(s)
	if table == nil {
		return column.Unknown
	}
	c, err := table.ColumnByName(name)
	if err != nil {
		return column.Unknown
	}
	answer := c.Known().Unique
	if slot, ok := s.(*Slot); ok {
		if slot.unique == nil {
			slot.unique = map[string]column.Answer{}
		}
		slot.unique[name] = answer
	}
	return answer
}

// Forget drops the tables that a plan was made for. The slot remembers what the plan depends on.
func (s *Slot) Forget() { s.tables = nil }

// sameUniqueness reports whether other tables have the answers that a plan depends on.
func (s *Slot) sameUniqueness(other *Slot) bool {
	for name, answer := range s.unique {
		table := TableOf(other)
		if table == nil {
			return answer == column.Unknown
		}
		c, err := table.ColumnByName(name)
		if err != nil || c.Known().Unique != answer {
			return false
		}
	}
	return true
}
