package sql

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/memory"
)

// ownedTables are the tables that CREATE TABLE has collected. A table that has no name any more is released when the
// garbage collector finds no query on it.
type ownedTables struct {
	mu     sync.Mutex
	list   []*ownedTable
	closed bool
	// remove removes the reclaimers from the managers.
	remove []func()
	// failures are the errors of releases, which close returns: the statements that dropped the tables have succeeded.
	failures error
	// collector limits how often the garbage collector is started.
	collector collector
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

// add adds a table and returns its query. It releases the table and fails after close.
func (o *ownedTables) add(frame *gpuframe.Frame) (*ownedTable, gpuframe.Query, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, gpuframe.Query{}, errors.Join(errClosed, frame.Release())
	}
	query, inUse := frame.Watched()
	added := &ownedTable{frame: frame, inUse: inUse}
	o.list = append(o.list, added)
	if o.remove == nil {
		for _, manager := range query.Engine().Managers() {
			o.remove = append(o.remove, manager.AddReclaimer(&droppedTables{o, manager}))
		}
	}
	return added, query, nil
}

// discard releases a table that has not got a name.
func (o *ownedTables) discard(t *ownedTable) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	i := slices.Index(o.list, t)
	if i < 0 { // close has released it
		return nil
	}
	o.list = slices.Delete(o.list, i, i+1)
	return t.frame.Release()
}

// errClosed is the error of CREATE TABLE after [Session.Close].
var errClosed = fmt.Errorf("sql: create table: the session is closed: use a session that is open: %w", gpuframe.ErrClosed)

// drop releases a table when no query is on it.
func (o *ownedTables) drop(dropped *ownedTable) {
	if dropped == nil {
		return
	}
	o.collector.drop()
	o.mu.Lock()
	isLarge := !o.closed && dropped.frame.Table().Bytes() >= collectedBytes
	dropped.isDropped = true
	o.mu.Unlock()
	if isLarge {
		o.collector.collect()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	_, err := o.sweep(nil)
	o.failures = errors.Join(o.failures, err)
}

// sweep releases the dropped tables that no query reads, and returns their bytes. A nil manager selects all of them,
// another one those with memory of it.
func (o *ownedTables) sweep(manager *memory.Manager) (released uint64, err error) {
	o.list = slices.DeleteFunc(o.list, func(t *ownedTable) bool {
		if !t.isDroppedOn(manager) || t.inUse() {
			return false
		}
		released += t.frame.Table().Bytes()
		err = errors.Join(err, t.frame.Release())
		return true
	})
	return released, err
}

// isDroppedOn reports whether a table is dropped and has memory of a manager or of its descendants. A nil manager stands
// for every manager.
func (t *ownedTable) isDroppedOn(manager *memory.Manager) bool {
	if !t.isDropped || manager == nil {
		return t.isDropped
	}
	owner := t.frame.Table().Manager()
	for owner != nil && owner != manager {
		owner = owner.Parent()
	}
	return owner == manager
}

// close releases all tables.
func (o *ownedTables) close() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := o.failures
	for _, t := range o.list {
		err = errors.Join(err, t.frame.Release())
	}
	for _, remove := range o.remove {
		remove()
	}
	o.list, o.remove, o.failures, o.closed = nil, nil, nil, true
	return err
}

// droppedTables are the dropped tables of a manager.
type droppedTables struct {
	*ownedTables
	manager *memory.Manager
}

// Reclaim releases the dropped tables of the manager that no query is on, when its memory is short.
func (d *droppedTables) Reclaim(context.Context, uint64) (released uint64, err error) {
	if !d.exist() {
		return 0, nil
	}
	d.collector.collect()
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.sweep(d.manager)
}

// exist reports whether there are any.
func (d *droppedTables) exist() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.list, func(t *ownedTable) bool { return t.isDroppedOn(d.manager) })
}
