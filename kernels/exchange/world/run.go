package world

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/schemajson"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/kernels/exchange"
	"github.com/gpuframe/gpuframe/memory"
)

// operation is the part of this rank in an operation.
type operation struct {
	name         string
	root, target int
	// out has the table for each rank, or nil.
	out []*buffer.Buffer
	// from reports which ranks have a table for this one.
	from []bool
}

// job is an operation while it runs.
type job struct {
	*World
	operation
	ctx context.Context
	// live also ends when the World is down. The steps before the blocks have arrived use it, so
	// that none of them waits for memory for an operation that has failed.
	live context.Context
	// prepared are the tables to send.
	prepared map[*buffer.Buffer]*outgoing
	// incoming are the tables that this rank gets, nil for other ranks.
	incoming []*incoming
	// schema is that of the result. described has its types as another rank reads them in the
	// message, which lacks some of their parts.
	schema    *arrow.Schema
	described *arrow.Schema
	rows      int64
	// short is set if the budget of a rank has no room for all columns in one round.
	short bool
}

// incoming is a table from another rank, or from this one.
type incoming struct {
	rows  int64
	bytes uint64
}

func (w *World) run(ctx context.Context, o operation) (*buffer.Buffer, error) {
	// The end of the context closes the connections, for which this operation waits, or one before it
	// that holds the lock.
	stop := context.AfterFunc(ctx, func() { w.group.Fail(cancel.Error(ctx)) })
	defer stop()
	w.running.Lock()
	defer w.running.Unlock()
	live, end := context.WithCancelCause(ctx)
	defer end(nil)
	go func() {
		select {
		case <-w.group.Down():
			end(w.group.Err())
		case <-live.Done():
		}
	}()
	j := &job{World: w, operation: o, ctx: ctx, live: live, prepared: map[*buffer.Buffer]*outgoing{}, incoming: make([]*incoming, w.Size())}
	received, err := j.run()
	for _, table := range j.prepared {
		err = errors.Join(err, table.Release())
	}
	if err != nil {
		err = errors.Join(w.group.Fail(err), w.link.abort())
		if received != nil {
			err = errors.Join(err, received.Release())
		}
		return nil, fmt.Errorf("exchange: world: rank %d: %s: %w", w.Rank(), o.name, err)
	}
	return received, nil
}

func (j *job) run() (*buffer.Buffer, error) {
	if err := j.group.Err(); err != nil {
		return nil, err
	}
	if err := cancel.Error(j.ctx); err != nil {
		return nil, err
	}
	if err := j.prepare(); err != nil {
		return nil, err
	}
	if err := j.announce(); err != nil {
		return nil, err
	}
	step, total, err := j.agree()
	if err != nil {
		return nil, err
	}
	j.short = step < total
	var columns []*column.Column
	for first := 0; first < total; first += step {
		moved, err := j.round(first, min(first+step, total))
		if err != nil {
			return nil, errors.Join(err, release.All(columns))
		}
		columns = append(columns, moved...)
	}
	if j.schema == nil || !j.receives() {
		return nil, release.All(columns)
	}
	received, err := buffer.New(j.schema, columns, buffer.Rows{Count: j.rows, Manager: j.config.Manager})
	return release.OnError(received, err, release.All(columns))
}

func (j *job) receives() bool {
	for _, from := range j.from {
		if from {
			return true
		}
	}
	return false
}

// local is the manager of the device that tables are copied to before they are sent, or nil.
func (j *job) local() *memory.Manager {
	if j.link.comm == nil {
		return nil
	}
	return j.config.Manager
}

func (j *job) prepare() error {
	for rank, table := range j.out {
		if table == nil || j.prepared[table] != nil {
			continue
		}
		prepared, err := newOutgoing(j.live, table, j.local())
		if err != nil {
			return fmt.Errorf("table for rank %d: %w", rank, err)
		}
		j.prepared[table] = prepared
		if j.schema == nil {
			j.schema = table.Schema()
		}
		text, err := schemajson.Of(table.Schema())
		if err != nil {
			return err
		}
		prepared.schema = text
		described, err := text.Schema()
		if err == nil {
			err = j.match(j.Rank(), described)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// match checks that the table of a rank has the types of the others. A field of the result is
// nullable if it is nullable on any rank.
func (j *job) match(rank int, schema *arrow.Schema) error {
	if j.described == nil {
		j.described = schema
	}
	if j.schema == nil {
		j.schema = schema
	}
	if want, got := j.described.NumFields(), schema.NumFields(); want != got {
		return &RankError{Rank: rank, ReportedBy: rank, Err: fmt.Errorf("its table has %d columns, that of rank %d has %d: %w", got, j.Rank(), want, buffer.ErrSchema)}
	}
	for i := range schema.NumFields() {
		if want, got := j.described.Field(i), schema.Field(i); !arrow.TypeEqual(want.Type, got.Type) {
			return &RankError{Rank: rank, ReportedBy: rank, Err: fmt.Errorf("its column %q has type %v, expected %v: cast it: %w", got.Name, got.Type, want.Type, buffer.ErrSchema)}
		}
	}
	j.schema = withNullable(j.schema, schema)
	return nil
}

// withNullable returns a schema with the fields nullable that are nullable in another one too.
func withNullable(schema, other *arrow.Schema) *arrow.Schema {
	fields, metadata := schema.Fields(), schema.Metadata()
	for i := range fields {
		fields[i].Nullable = fields[i].Nullable || other.Field(i).Nullable
	}
	return arrow.NewSchemaWithEndian(fields, &metadata, schema.Endianness())
}

// announce exchanges schemas and row counts.
func (j *job) announce() error {
	j.operations++
	messages := make([][]byte, j.Size())
	for rank := range messages {
		a := announcement{Operation: j.name, Number: j.operations, Root: j.root, Target: j.target}
		if table := j.out[rank]; table != nil {
			prepared := j.prepared[table]
			a.Table = &tableMessage{Schema: prepared.schema, Rows: prepared.rows, Bytes: prepared.bytes}
		}
		messages[rank] = encode(a)
	}
	j.config.at()
	answers, err := j.group.Exchange(j.ctx, messages)
	if err != nil {
		return err
	}
	j.config.at()
	for rank, answer := range answers {
		if err := j.hear(rank, answer); err != nil {
			return err
		}
	}
	return nil
}

// hear handles the announcement of a rank.
func (j *job) hear(rank int, text []byte) error {
	var a announcement
	fail := func(err error) error { return &RankError{Rank: rank, ReportedBy: rank, Err: err} }
	if err := decode(text, &a); err != nil {
		return fail(err)
	}
	if a.Operation != j.name || a.Number != j.operations || a.Root != j.root || a.Target != j.target {
		return fail(fmt.Errorf("it is in operation %d, %s (%d, %d), and rank %d in operation %d, %s (%d, %d): %w",
			a.Number, a.Operation, a.Root, a.Target, j.Rank(), j.operations, j.name, j.root, j.target, ErrMismatch))
	}
	if (a.Table != nil) != j.from[rank] {
		return fail(fmt.Errorf("it has a table for rank %d: %v, expected %v: %w", j.Rank(), a.Table != nil, j.from[rank], ErrProtocol))
	}
	if a.Table == nil {
		return nil
	}
	in := &incoming{rows: a.Table.Rows, bytes: a.Table.Bytes}
	if in.rows < 0 || j.rows+in.rows < 0 || in.rows > math.MaxInt {
		return fail(fmt.Errorf("its table has %d rows: %w", in.rows, memory.ErrOverflow))
	}
	j.rows += in.rows
	schema, err := a.Table.Schema.Schema()
	if err != nil {
		return fail(fmt.Errorf("its schema: %w: %w", err, ErrProtocol))
	}
	j.incoming[rank] = in
	return j.match(rank, schema)
}

// agreement is the number of columns of a round that suits a rank.
type agreement struct {
	Columns int `json:"columns"`
	// Total is the number of columns of the table, or -1 on a rank without one.
	Total int `json:"total"`
}

// agree returns the number of columns in each round, which is all, or one if the budget of any
// rank is small, and the number of columns of the table. A rank without a part in
// the operation takes part in the rounds too.
func (j *job) agree() (step, total int, err error) {
	mine := agreement{Columns: math.MaxInt32, Total: -1}
	if j.schema != nil {
		mine.Total = j.schema.NumFields()
	}
	if !j.fits() {
		mine.Columns = 1
	}
	messages := make([][]byte, j.Size())
	for rank := range messages {
		messages[rank] = encode(mine)
	}
	answers, err := j.group.Exchange(j.ctx, messages)
	if err != nil {
		return 0, 0, err
	}
	j.config.at()
	step, total = math.MaxInt32, mine.Total
	for rank, answer := range answers {
		var a agreement
		err := decode(answer, &a)
		if err == nil && (a.Columns < 1 || a.Columns > math.MaxInt32 || a.Total < -1 || a.Total > math.MaxInt32) {
			err = fmt.Errorf("rounds of %d of %d columns: %w", a.Columns, a.Total, ErrProtocol)
		}
		if err != nil {
			return 0, 0, &RankError{Rank: rank, ReportedBy: rank, Err: err}
		}
		step, total = min(step, a.Columns), max(total, a.Total)
	}
	// A rank that receives has compared the tables before it sent its answer.
	if mine.Total >= 0 && mine.Total != total {
		return 0, 0, fmt.Errorf("the table has %d columns, those of other ranks %d: %w", mine.Total, total, ErrProtocol)
	}
	return min(step, max(total, 1)), total, nil
}

// fits reports whether the budget has room for the blocks of all columns and for the result.
func (j *job) fits() bool {
	free := remaining(j.config.Manager)
	for rank, in := range j.incoming {
		if in == nil {
			continue
		}
		copies := uint64(2) // the block and the rows in the result
		if rank == j.Rank() {
			copies = 1
		}
		if in.bytes > free/copies {
			return false
		}
		free -= copies * in.bytes
	}
	for rank, table := range j.out {
		if table == nil || rank == j.Rank() {
			continue
		}
		out := j.prepared[table] // counted again for each rank of a broadcast
		copies := uint64(1)      // of slices
		if j.link.comm != nil {
			copies = 2 // and of short regions
		}
		if out.bytes > free/copies {
			return false
		}
		free -= copies * out.bytes
	}
	return true
}

// remaining returns the bytes that remain of the budgets of a manager and its ancestors.
func remaining(mgr *memory.Manager) uint64 {
	free := mgr.Stats().Remaining
	for mgr = mgr.Parent(); mgr != nil; mgr = mgr.Parent() {
		free = min(free, mgr.Stats().Remaining)
	}
	return free
}

// round moves the columns from first to the one before last. The caller releases the result.
func (j *job) round(first, last int) (columns []*column.Column, err error) {
	var held release.Stack
	defer func() {
		if failure := held.Release(); failure != nil || err != nil {
			columns, err = nil, errors.Join(err, failure, release.All(columns))
		}
	}()
	messages := make([][]byte, j.Size())
	var sends []send
	blocks := map[*outgoing]*packed{}
	for rank, table := range j.out {
		if table == nil || rank == j.Rank() {
			continue
		}
		out := j.prepared[table]
		p := blocks[out]
		if p == nil {
			if p, err = out.pack(j.live, first, last); err != nil {
				return nil, err
			}
			held.Add(p)
			blocks[out] = p
			if j.link.comm != nil {
				if err := p.cut(j.live, j.config.Manager, !j.short); err != nil {
					return nil, err
				}
			}
		}
		messages[rank] = encode(blockMessage{Bytes: p.plan.Bytes, Columns: p.descriptions, Pieces: p.extents()})
		sends = append(sends, send{rank: rank, block: p})
	}
	j.config.at()
	answers, err := j.group.Exchange(j.ctx, messages)
	if err != nil {
		return nil, err
	}
	j.config.at()
	described := make([]blockMessage, j.Size())
	memories := make([]*memory.Block, j.Size())
	var receives []receive
	for rank, in := range j.incoming {
		if in == nil || rank == j.Rank() {
			continue
		}
		if err := j.checkBlock(&described[rank], answers[rank], last-first, in.rows); err != nil {
			return nil, &RankError{Rank: rank, ReportedBy: rank, Err: err}
		}
		// A column without memory has its manager from the block.
		memories[rank], err = j.config.Manager.AllocateContext(j.live, max(described[rank].Bytes, 1), memory.AllocateOptions{Tag: j.config.Tag})
		if err != nil {
			return nil, fmt.Errorf("memory for the table of rank %d: %w", rank, err)
		}
		held.Add(memories[rank])
		receives = append(receives, receive{rank: rank, block: memories[rank], bytes: described[rank].Bytes, pieces: described[rank].Pieces})
	}
	j.config.at()
	if err := j.move(sends, receives); err != nil {
		return nil, err
	}
	j.traffic.rounds.Add(1)
	j.config.at()
	if !j.receives() {
		return nil, nil
	}
	return j.assemble(first, last, described, memories)
}

// move moves the blocks of a round.
func (j *job) move(sends []send, receives []receive) error {
	if j.link.comm == nil {
		return j.throughSockets(j.ctx, sends, receives)
	}
	if err := j.link.move(j.ctx, sends, receives); err != nil {
		return err
	}
	return j.arrived()
}

// arrivedText is the message that ends a round with NCCL.
const arrivedText = "arrived"

// arrived waits until all ranks have their blocks. Until then a rank must not leave the communicator,
// and a rank that has closed its World has failed.
func (j *job) arrived() error {
	answers, err := j.group.Exchange(j.ctx, repeat([]byte(arrivedText), j.Size()))
	if err != nil {
		return err
	}
	for rank, answer := range answers {
		if string(answer) != arrivedText {
			return &RankError{Rank: rank, ReportedBy: rank, Err: fmt.Errorf("a message of %d bytes at the end of a round, expected %q: %w", len(answer), arrivedText, ErrProtocol)}
		}
	}
	return nil
}

// checkBlock reads the description of a block.
func (j *job) checkBlock(into *blockMessage, text []byte, columns int, rows int64) error {
	if err := decode(text, into); err != nil {
		return err
	}
	if into.Bytes > math.MaxInt64/2 {
		return fmt.Errorf("a block of %d bytes: %w", into.Bytes, memory.ErrOverflow)
	}
	if err := checkExtents(into.Pieces, into.Bytes); err != nil {
		return err
	}
	if len(into.Columns) != columns {
		return fmt.Errorf("a block with %d columns, expected %d: %w", len(into.Columns), columns, ErrProtocol)
	}
	for _, d := range into.Columns {
		if int64(d.Length) != rows {
			return fmt.Errorf("a column with %d rows, expected %d: %w", d.Length, rows, ErrProtocol)
		}
	}
	return nil
}

// assemble makes columns of the blocks of all ranks. The caller releases them.
func (j *job) assemble(first, last int, described []blockMessage, memories []*memory.Block) (moved []*column.Column, err error) {
	var held release.Stack
	defer func() {
		if failure := held.Release(); failure != nil || err != nil {
			moved, err = nil, errors.Join(err, failure, release.All(moved))
		}
	}()
	metadata := j.schema.Metadata()
	schema := arrow.NewSchema(j.schema.Fields()[first:last], &metadata)
	var tables []*buffer.Buffer
	for rank, in := range j.incoming {
		if in == nil {
			continue
		}
		var columns []*column.Column
		if rank == j.Rank() {
			columns = j.prepared[j.out[rank]].columns[first:last]
		} else {
			for i, d := range described[rank].Columns {
				c, err := d.Column(schema.Field(i).Type, []*memory.Block{memories[rank]})
				if err != nil {
					return nil, &RankError{Rank: rank, ReportedBy: rank, Err: fmt.Errorf("column %q: %w: %w", schema.Field(i).Name, err, ErrProtocol)}
				}
				held.Add(c)
				columns = append(columns, c)
			}
		}
		table, err := buffer.New(schema, columns, buffer.Rows{Count: in.rows, Manager: j.config.Manager})
		if err != nil {
			return nil, err
		}
		held.Add(table)
		tables = append(tables, table)
	}
	all, err := exchange.Gather(j.ctx, tables, j.config.Manager, exchange.Options{Tag: j.config.Tag})
	if err != nil {
		return nil, err
	}
	held.Add(all)
	for i := range all.NumColumns() {
		c := all.Column(i)
		if err := c.Retain(); err != nil {
			return moved, err
		}
		moved = append(moved, c)
	}
	return moved, nil
}
