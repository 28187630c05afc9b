package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/exchange"
)

// gatheredShare is the part of the budget of each device, as a divisor, that an all-gather makes
// one table of. A join holds one table in device memory; several may move to host memory.
const gatheredShare = 16

// gathering collects consecutive tables of several devices, to copy them to all devices. The tables
// move to host memory while memory is short.
type gathering struct {
	to *broadcast
	// tables are those that were not copied yet, in their order, and bytes their size. most is the
	// size of the tables that are copied together.
	tables []ownedTable
	bytes  uint64
	most   uint64
}

// ownedTable is a table of a worker.
type ownedTable struct {
	heldTable
	owner *worker
}

// allGather copies all tables of the fragment below to all devices, in their order.
func (b *broadcast) allGather(ctx context.Context) (err error) {
	g := &gathering{to: b, most: b.copies[0].settings.Manager.Budget()}
	for _, copies := range b.copies[1:] {
		g.most = min(g.most, copies.settings.Manager.Budget())
	}
	g.most /= gatheredShare
	defer func() { err = errors.Join(err, g.Release()) }()
	for {
		w, table, err := b.below.take(ctx)
		if err == errEnd {
			return g.send(ctx)
		}
		if err == nil {
			err = g.add(ctx, w, table)
		}
		if err != nil {
			return err
		}
	}
}

// add takes a table of a worker over. It copies those before if all together are too large.
func (g *gathering) add(ctx context.Context, w *worker, table *buffer.Buffer) error {
	table, err := g.exact(ctx, w, table)
	if err == nil && g.bytes+table.Bytes() > g.most {
		if err = g.send(ctx); err != nil {
			err = errors.Join(err, table.Release())
		}
	}
	if err != nil {
		return err
	}
	bytes, kept := table.Bytes(), g.to.below.holdOn(w)
	if err := kept.movable(ctx, table); err != nil {
		return kept.failed(err)
	}
	for _, t := range kept.tables { // none if the table has no rows
		g.tables, g.bytes = append(g.tables, ownedTable{t, w}), g.bytes+bytes
	}
	return nil
}

// exact returns a table that needs no copy to be sent, or the same one if memory is short for that.
// The tables of other workers than the first are exact.
func (g *gathering) exact(ctx context.Context, w *worker, table *buffer.Buffer) (*buffer.Buffer, error) {
	if w.number > 0 {
		return table, nil
	}
	if err := table.Retain(); err != nil {
		return nil, err
	}
	copied, err := exactToMove(ctx, table, w.settings)
	if isShort(err) {
		return table, nil
	}
	return release.OnError(copied, err, table.Release())
}

// send copies the tables that were added to all devices: as one table, or one by one if memory is
// short, or if one device has all.
func (g *gathering) send(ctx context.Context) error {
	if g.areOfSeveral() {
		copies, err := g.whole(ctx)
		if err == nil {
			return errors.Join(g.to.hold(ctx, copies), g.Release())
		}
		if !isShort(err) {
			return err
		}
	}
	for len(g.tables) > 0 {
		first := g.tables[0]
		table, err := first.acquire(ctx)
		if err != nil {
			return err
		}
		g.tables = g.tables[1:]
		if table, err = release.OnError(table, first.Release()); err != nil {
			return err
		}
		if err := g.to.sendPieces(ctx, table); err != nil {
			return err
		}
	}
	g.bytes = 0
	return nil
}

// areOfSeveral reports whether several devices have tables.
func (g *gathering) areOfSeveral() bool {
	return slices.ContainsFunc(g.tables, func(t ownedTable) bool { return t.owner != g.tables[0].owner })
}

// whole returns one table with all rows for each device. If memory is short, it makes none.
func (g *gathering) whole(ctx context.Context) (copies []*buffer.Buffer, err error) {
	tables := make([]*buffer.Buffer, 0, len(g.tables))
	defer func() {
		if failure := release.All(tables); failure != nil {
			err = errors.Join(err, failure, release.All(copies))
			copies = nil
		}
	}()
	for _, t := range g.tables {
		table, err := t.acquire(ctx)
		if err != nil {
			return nil, err
		}
		tables = append(tables, table)
	}
	copies, err = exchange.AllGather(ctx, tables, g.to.managers(), exchange.Options{Tag: g.to.settings.Tag})
	return copies, g.to.failedTo(err)
}

// acquire returns the table on its device. An error names the device.
func (t ownedTable) acquire(ctx context.Context) (*buffer.Buffer, error) {
	table, err := acquired(ctx, t.heldTable)
	return table, t.owner.fragment.holdOn(t.owner).failed(err)
}

// Release releases the tables that were not copied.
func (g *gathering) Release() error {
	err := release.All(g.tables)
	g.tables, g.bytes = nil, 0
	return err
}
