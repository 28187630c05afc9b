package sql

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe"
)

// ownedTables are the tables that CREATE TABLE has collected. A table that has no name any more is released when the
// garbage collector finds no query on it.
type ownedTables struct {
	mu   sync.Mutex
	list []*ownedTable
	// remove removes the list from the reclaimers of the managers.
	remove []func()
}

// ownedTable is a collected table.
type ownedTable struct {
	frame *gpuframe.Frame
	inUse func() bool
	// isDropped is set if no name has the table.
	isDropped bool
}

// collectedBytes is the size of a dropped table from which on the garbage collector is started for it. Smaller ones are
// released when it has run, or when memory is short.
const collectedBytes = 1 << 20

// add adds a table and returns its query.
func (o *ownedTables) add(frame *gpuframe.Frame) (*ownedTable, gpuframe.Query) {
	o.mu.Lock()
	defer o.mu.Unlock()
	query, inUse := frame.Watched()
	added := &ownedTable{frame: frame, inUse: inUse}
	o.list = append(o.list, added)
	if o.remove == nil {
		for _, manager := range query.Engine().Managers() {
			o.remove = append(o.remove, manager.AddReclaimer(o))
		}
	}
	return added, query
}

// drop releases a table when no query is on it.
func (o *ownedTables) drop(dropped *ownedTable) error {
	if dropped == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	dropped.isDropped = true
	if dropped.frame.Table().Bytes() >= collectedBytes {
		runtime.GC()
	}
	_, err := o.sweep()
	return err
}

// sweep releases the dropped tables that no query is on. It returns their bytes.
func (o *ownedTables) sweep() (released uint64, err error) {
	o.list = slices.DeleteFunc(o.list, func(t *ownedTable) bool {
		if !t.isDropped || t.inUse() {
			return false
		}
		released += t.frame.Table().Bytes()
		err = errors.Join(err, t.frame.Release())
		return true
	})
	return released, err
}

// Reclaim releases the dropped tables that no query is on, when memory is short.
func (o *ownedTables) Reclaim(context.Context, uint64) (released uint64, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.ContainsFunc(o.list, func(t *ownedTable) bool { return t.isDropped }) {
		return 0, nil
	}
	runtime.GC()
	return o.sweep()
}

// close releases all tables.
func (o *ownedTables) close() (err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range o.list {
		err = errors.Join(err, t.frame.Release())
	}
	for _, remove := range o.remove {
		remove()
	}
	o.list, o.remove = nil, nil
	return err
}
