package spill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/memory"
)

var _ memory.Reclaimer = (*Spiller)(nil)

// Reclaim implements [memory.Reclaimer]: it moves tables to the host, least recently
// touched first, until the requested number of device bytes is released or no table
// is movable. Tables with unfinished work come last. The manager calls Reclaim; a
// program may call it to make room early.
//
// # Waiting
//
// Reclaim waits for its copies. Before it releases too little, it also waits for the
// copies of other calls.
//
// # Errors
//
// The error is the reason why Reclaim released too little, other than held tables: a
// full host budget, a file that cannot be written, a failing driver, or the context.
// Every table is then unchanged or moved.
func (s *Spiller) Reclaim(ctx context.Context, bytes uint64) (released uint64, err error) {
	var failures []error
	var hostMemory error
	seen := make(map[*Table]verdict)
	for released < bytes {
		if ctx.Err() != nil {
			failures = append(failures, fmt.Errorf("spill: reclaim: %w", cancel.Error(ctx)))
			break
		}
		next := s.choose(seen)
		if next.table != nil {
			freed, err := s.spill(ctx, next.table)
			released += freed
			var unwritten *FileError
			if errors.Is(err, errHostMemory) || errors.As(err, &unwritten) {
				hostMemory = err // one error for all tables
				continue
			}
			if failures = append(failures, err); err != nil {
				break
			}
			continue
		}
		if next.others != nil {
			select {
			case <-next.others.done:
				released += next.others.released
			case <-ctx.Done():
			}
			continue
		}
		if next.busy == nil {
			break
		}
		if err := synchronizeAll(ctx, next.busy); err != nil {
			failures = append(failures, fmt.Errorf("spill: reclaim: wait for work on a table: %w", err))
			break
		}
	}
	if released < bytes {
		failures = append(failures, hostMemory)
	}
	return released, errors.Join(failures...)
}

// verdict is the state of a table in a call of Reclaim.
type verdict uint8

const (
	_ verdict = iota // not examined
	// awaited tables were busy; Reclaim has waited for their work.
	awaited
	// tried tables were moved, or must not be.
	tried
)

// choice is the next step of Reclaim; at most one of the fields is set.
type choice struct {
	// table is the table to move; its move has begun.
	table *Table
	// others is a move to the host by another call.
	others *move
	// busy are the blocks of a table that may be moved when their work is done.
	busy []*memory.Block
}

// choose finds the least recently touched table that was not tried.
func (s *Spiller) choose(seen map[*Table]verdict) (next choice) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var waiting *Table
	for element := s.movable.Front(); element != nil; element = element.Next() {
		t := element.Value.(*Table)
		if t.move != nil {
			if next.others == nil && t.move.toHost && seen[t] != tried {
				next.others = t.move
			}
			continue
		}
		if seen[t] == tried {
			continue
		}
		counter := t.refusal(&s.stats.Refusals)
		if counter == &s.stats.Refusals.Busy && !s.skipBusy && seen[t] != awaited {
			if waiting == nil {
				waiting = t
			}
			continue
		}
		seen[t] = tried
		if counter != nil {
			*counter++
			continue
		}
		s.begin(t, true)
		return choice{table: t}
	}
	if next.others == nil && waiting != nil {
		seen[waiting] = awaited
		next.busy = slices.Clone(waiting.blocks)
	}
	return next
}

// refusal returns the counter of the reason why the table must not be moved, or nil
// if it may be moved. The lock is held.
func (t *Table) refusal(r *Refusals) *uint64 {
	t.forgetReleased()
	switch {
	case t.external:
		return &r.External
	case len(t.acquired) > 0:
		return &r.Pinned
	case slices.ContainsFunc(t.blocks, (*memory.Block).Exported):
		return &r.Exported
	case !t.solelyHeld():
		return &r.Retained
	case slices.ContainsFunc(t.blocks, isBusy):
		return &r.Busy
	}
	return nil
}

// solelyHeld reports whether the spiller holds the only references to the table's
// blocks. Further references can then come only from an Acquire of the table.
func (t *Table) solelyHeld() bool {
	return !slices.ContainsFunc(t.blocks, func(block *memory.Block) bool { return block.References() != 1 })
}

// isBusy reports whether work on a block may be pending. If the driver returns an
// error, isBusy returns true.
func isBusy(block *memory.Block) bool {
	idle, err := block.Idle()
	return !idle || err != nil
}

// synchronizeAll waits for the recorded work on blocks, except on blocks that were
// released meanwhile.
func synchronizeAll(ctx context.Context, blocks []*memory.Block) error {
	for _, block := range blocks {
		if err := block.Synchronize(ctx); err != nil && !errors.Is(err, memory.ErrReleased) {
			return err
		}
	}
	return nil
}

// spill moves a table to the host after its move has begun, and returns the number of
// device bytes that it released.
func (s *Spiller) spill(ctx context.Context, t *Table) (released uint64, err error) {
	began := time.Now()
	hosts, packed, err := s.pack(ctx, t)
	if hosts == nil && err == nil {
		hosts, err = s.toHost(ctx, t.blocks)
	}
	var written *region
	if s.files != nil && errors.Is(err, errHostMemory) {
		written, packed, err = s.toFile(ctx, t)
		s.noteWritten(err)
	}
	leaving := s.finishSpill(t, whereabouts{hosts, packed, written}, err, began)
	if err = errors.Join(err, s.discard(leaving)); len(leaving.blocks) > 0 && !leaving.onHost {
		released = t.bytes
	}
	freed, ending := s.end(t, released)
	if err = errors.Join(err, ending); err != nil {
		err = fmt.Errorf("spill: move %v to the host: %w", t, err)
	}
	return freed, err
}

// noteWritten notes the outcome of writing a table to a file.
func (s *Spiller) noteWritten(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.unwritten = nil; err != nil {
		errors.As(err, &s.unwritten)
	}
}

// Unwritten returns the error of the last table that was to be written to a file, or nil if it
// was written. It is the cause of errors of memory that follow.
func (s *Spiller) Unwritten() *FileError {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unwritten
}

// whereabouts are where the contents of a spilled table are: in blocks of host memory, which have the form, or in a
// region of a file.
type whereabouts struct {
	blocks []*memory.Block
	form   *form
	region *region
}

// finishSpill decides the state of a table after its copy to host memory or to a file has
// succeeded or failed. It returns what the table no longer needs.
func (s *Spiller) finishSpill(t *Table, to whereabouts, err error, began time.Time) (leaving contents) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case errors.Is(err, errHostMemory):
		s.stats.Refusals.HostMemory++
	case err != nil:
		s.stats.Failures++
	case t.released:
	case t.waiting > 0: // an Acquire waits, so treat it as if it had come before the move
		s.stats.Refusals.Pinned++
	case !t.solelyHeld():
		s.stats.Refusals.Retained++
	default:
		leaving = contents{blocks: t.blocks}
		t.blocks, t.form, t.region = to.blocks, to.form, to.region
		t.spilled, t.arriving = true, false
		if to.region != nil {
			s.stats.InFiles++
			s.stats.FileBytes += to.region.bytes
		}
		t.leave()
		s.stats.Spilled++
		s.stats.Spills++
		s.stats.SpilledBytes += t.bytes
		s.stats.SpillTime += time.Since(began)
		return leaving
	}
	return contents{to.blocks, true, to.region}
}

// restore moves a table back to the device after its move has begun. If wait is set, it
// waits for the copy.
func (s *Spiller) restore(ctx context.Context, t *Table, wait bool) error {
	began := time.Now()
	var blocks []*memory.Block
	var err error
	switch {
	case t.region != nil:
		blocks, err = s.fromFile(ctx, t)
		wait = true
	case t.form != nil:
		blocks, err = s.unpack(ctx, t)
		wait = true
	default:
		blocks, err = s.toDevice(ctx, t.homes, t.blocks, wait)
	}
	leaving := s.finishRestore(t, blocks, err, wait, began)
	if err = errors.Join(err, s.discard(leaving)); err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	return nil
}

func (s *Spiller) finishRestore(t *Table, blocks []*memory.Block, err error, waited bool, began time.Time) (leaving contents) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		s.stats.Failures++
		return contents{}
	}
	leaving = contents{t.blocks, true, t.takeRegion()}
	t.blocks, t.form = blocks, nil
	t.spilled, t.arriving = false, !waited
	t.touch()
	s.stats.Spilled--
	s.stats.Restores++
	s.stats.RestoredBytes += t.bytes
	s.stats.RestoreTime += time.Since(began)
	return leaving
}
