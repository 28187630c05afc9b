package source

import (
	"maps"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
)

// uniqueColumns are columns that plans need to be unique.
type uniqueColumns struct {
	mu    sync.Mutex
	names map[string]bool
}

func (u *uniqueColumns) add(name string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.names == nil {
		u.names = map[string]bool{}
	}
	u.names[name] = true
}

func (u *uniqueColumns) list() []string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Sorted(maps.Keys(u.names))
}

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

// NeedUnique reports whether a column of a source is known to be unique, and remembers that a plan needs it.
func NeedUnique(s Source, name string) bool {
	if !isUnique(s, name) {
		return false
	}
	switch s := s.(type) {
	case *tables:
		s.unique.add(name)
	case *Slot:
		s.unique.add(name)
	}
	return true
}

func isUnique(s Source, name string) bool {
	table := TableOf(s)
	if table == nil {
		return false
	}
	c, err := table.ColumnByName(name)
	return err == nil && c.Known().Unique == column.Yes
}

// UniqueColumns returns the columns that plans on a source need to be unique.
func UniqueColumns(s Source) []string {
	switch s := s.(type) {
	case *tables:
		return s.unique.list()
	case *Slot:
		return s.unique.list()
	}
	return nil
}

// IsUniqueAs reports whether the columns of a source are known to be unique that plans on another one, or the same, need.
func IsUniqueAs(s, planned Source) bool {
	return !slices.ContainsFunc(UniqueColumns(planned), func(name string) bool { return !isUnique(s, name) })
}

// Forget drops the tables that a plan was made for. The slot remembers what the plan needs of them.
func (s *Slot) Forget() { s.tables = nil }
