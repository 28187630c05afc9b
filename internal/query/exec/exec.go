package exec

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/query/plan"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// Settings configure the execution of a plan.
type Settings struct {
	// Manager allocates all memory, except that of the operations that run on Others too.
	Manager *memory.Manager
	// Stream is the stream of the query's work, or nil for that of the tables and of the manager.
	Stream *device.Stream
	// Others are further devices that the plan was distributed to: see [plan.Distribute].
	Others []Member
	// Move copies tables between devices, if there are others.
	Move source.Move
	// Scatter copies each part that is not nil to the device of its manager.
	Scatter func(ctx context.Context, parts []*buffer.Buffer, to []*memory.Manager) ([]*buffer.Buffer, error)
	// FewRows is the number of rows up to which those of a shuffle or of ranges all move to the
	// first device.
	FewRows int64
	// Stay is set if scans leave the rows of tables on the devices that have them.
	Stay bool
	// Turns, if it is not nil, holds the work of other devices while the query has no turn.
	Turns *Turns
	// Tag names the memory in the manager's statistics.
	Tag string
	// BatchRows is the approximate number of rows of a source's table, or zero for the
	// source's choice.
	BatchRows int64
	// MostRows is the number of rows of a table from the host that is not exceeded, or zero.
	MostRows int64
	// Spilling moves tables that a query holds to host memory while memory is short.
	Spilling *Spilling
	// KeepNothing is set if empty caches pass their rows on and do not keep them.
	KeepNothing bool
	// Whole is set if the result is read as one table: then its columns may have wider offsets than the
	// plan's, as one of large_utf8 with more than 2 GiB of text.
	Whole bool
	// FixedPointSums lets partial results add floats in fixed point: then the query may fail with an
	// error that wraps group.ErrInexact, and has to begin again without.
	FixedPointSums bool
	// Profile, if it is not nil, receives what each node did.
	Profile *Profile
	// Progress, if it is not nil, receives what the scans read.
	Progress *Progress
	// Working, if it is not nil, receives the node that works.
	Working *Working
	// Tables are the sources for the slots of the plan.
	Tables map[*source.Slot]source.Source
}

// Member is a device that runs a part of a plan, by its memory.
type Member struct {
	Manager  *memory.Manager
	Spilling *Spilling
}

// source returns the source of a scan, or the one for its slot.
func (s *Settings) source(n *plan.Scan) source.Source {
	slot, ok := n.Source().(*source.Slot)
	if !ok {
		return n.Source()
	}
	if table := s.Tables[slot]; table != nil {
		return table
	}
	return slot
}

// Error is the failure of one operation of a plan.
type Error struct {
	// Operation is the description of the plan's node.
	Operation string
	// Device is the name of the device if the plan runs on several.
	Device string
	Err    error
}

// Error names the operation and the device.
func (e *Error) Error() string {
	if e.Device != "" {
		return fmt.Sprintf("%s on %s: %v", e.Operation, e.Device, e.Err)
	}
	return fmt.Sprintf("%s: %v", e.Operation, e.Err)
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Open returns a reader of the result of a plan. The caller closes it, and releases the
// tables that it returns. Only the device may know their row counts.
func Open(ctx context.Context, n plan.Node, settings Settings) (buffer.Reader, error) {
	o := opener{settings: settings, analysis: plan.NewAnalysis(), shared: map[plan.Node]*shared{}, bounds: map[*plan.KeyBounds]*keyBounds{}, readahead: source.NewReadahead(settings.Manager)}
	chain := plan.IsChain(n)
	if !chain {
		o.parents = plan.Parents(n)
	}
	if settings.Whole {
		o.whole, o.settings.Whole = n, false
	}
	if !chain { // a chain has one reader of each node
		if err := o.checkReaders(n); err != nil {
			return nil, err
		}
	}
	return o.open(ctx, n)
}

// opener opens the readers of one plan, or those of a part of it that one of several devices
// runs: then it has a worker.
type opener struct {
	settings Settings
	worker   *worker
	analysis *plan.Analysis
	// parents are the numbers of readers of the nodes, nil if each has one.
	parents map[plan.Node]int
	shared  map[plan.Node]*shared
	bounds  map[*plan.KeyBounds]*keyBounds
	// readahead is that of all scans of the plan on the first device.
	readahead *source.Readahead
	// later, if it is not nil, gets the scans that begin when a union comes near them.
	later *laterScans
	// ends is set while the inputs of a slice are opened: it may end before it has read all of them.
	ends bool
	// whole is a node whose tables may have wider offsets than the plan's, or nil.
	whole plan.Node
}

// open returns a reader of a node. One that others read too is opened once, if it holds rows or
// they are worth keeping.
func (o *opener) open(ctx context.Context, n plan.Node) (buffer.Reader, error) {
	if !o.isShared(n) {
		return o.openAlone(ctx, n)
	}
	if known, ok := o.shared[n]; ok && known.isOpen() {
		return known.user(), nil
	}
	reader, err := o.openAlone(ctx, n)
	if err != nil {
		return nil, err
	}
	s := newShared(&stage{node: n, settings: o.settings}, reader)
	o.shared[n] = s
	return s.user(), nil
}

// isWorthKeeping reports whether the rows of a node, such as a filter, are expected to take a small part
// of the budget, and less time to keep than to compute again.
func (o *opener) isWorthKeeping(n plan.Node) bool {
	if !operationOf(n).keepsFew {
		return false
	}
	size := o.analysis.SizeOf(n)
	return size.Rows >= 0 && uint64(size.Bytes()) <= o.settings.Manager.Budget()/roomShare
}

// readers are a stage and the readers around that of its node, in one piece of memory.
type readers struct {
	stage         stage
	fitting       fitting
	working       working
	interruptible interruptible
}

func (o *opener) openAlone(ctx context.Context, n plan.Node) (buffer.Reader, error) {
	kind := operationOf(n)
	defer func(outer bool) { o.ends = outer }(o.ends)
	o.ends = mayEnd(n, o.ends)
	below := n.Inputs()
	if kind.opensInputs {
		below = nil
	}
	inputs, err := o.openAll(ctx, below)
	if err != nil {
		return nil, err
	}
	opened := &readers{stage: stage{node: n, settings: o.settings, inputs: inputs, bounds: o.bounds, readahead: o.readahead, worker: o.worker}}
	base := &opened.stage
	reader, err := kind.open(ctx, o, base, n)
	if err != nil {
		return nil, errors.Join(base.failed(err), base.Close())
	}
	if !plan.HasStates(n) {
		opened.fitting = fitting{Reader: reader, stage: base, schema: n.Schema(), whole: n == o.whole}
		reader = &opened.fitting
	}
	if o.settings.Working != nil {
		opened.working = working{reader, n, o.settings.Working}
		reader = &opened.working
	}
	opened.interruptible = interruptible{reader, base}
	reader = &opened.interruptible
	if o.settings.Profile != nil {
		reader = o.settings.Profile.measure(n, reader, &o.settings)
	}
	return reader, nil
}

func (o *opener) openAll(ctx context.Context, nodes []plan.Node) (list []buffer.Reader, err error) {
	for _, n := range nodes {
		reader, err := o.open(ctx, n)
		if err != nil {
			return nil, errors.Join(err, release.CloseAll(list))
		}
		list = append(list, reader)
	}
	return list, nil
}

// stage is the common part of the readers of nodes.
type stage struct {
	node     plan.Node
	settings Settings
	inputs   []buffer.Reader
	// bounds are those of the plan's joins that scans use.
	bounds map[*plan.KeyBounds]*keyBounds
	// readahead is shared by the scans, or nil.
	readahead *source.Readahead
	// worker is set if several devices run the node, each on a part of the rows.
	worker *worker
}

// Schema implements buffer.Reader.
func (s *stage) Schema() *arrow.Schema { return s.node.Schema() }

// Close closes the inputs.
func (s *stage) Close() error {
	inputs := s.inputs
	s.inputs = nil
	return release.CloseAll(inputs)
}

// Next is the end: a stage by itself has no tables.
func (s *stage) Next(context.Context) (*buffer.Buffer, error) { return nil, errEnd }

// stream returns the stream of the query's work.
func (s *Settings) stream() *device.Stream {
	if s.Stream != nil {
		return s.Stream
	}
	return s.Manager.Stream()
}

// options configure the operators of the stage.
func (s *stage) options() kernels.Options {
	return kernels.Options{Manager: s.settings.Manager, Stream: s.settings.Stream, Tag: s.settings.Tag}
}

// failed names the operation in an error, unless an input did.
func (s *stage) failed(err error) error {
	var named *Error
	if err == nil || errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &named) {
		return err
	}
	failed := &Error{Operation: s.node.String(), Err: err}
	if len(s.settings.Others) > 0 {
		failed.Device = s.settings.Manager.Device().Name()
	}
	return failed
}

// mapping applies an operator to each table of its input, or to parts of a table if memory
// is short. apply does not keep the table.
type mapping struct {
	*stage
	apply  func(ctx context.Context, table *buffer.Buffer) (*buffer.Buffer, error)
	pieces pieces
	// grown returns the expected memory of the result of apply. A table for which it
	// exceeds this share of the budget, as a divisor, is cut before. It may be nil.
	grown func(ctx context.Context, table *buffer.Buffer) (uint64, error)
	share uint64
}

// Next implements buffer.Reader.
func (m *mapping) Next(ctx context.Context) (*buffer.Buffer, error) {
	if m.pieces.isEmpty() {
		if len(m.inputs) == 0 {
			return nil, errEnd
		}
		table, err := m.inputs[0].Next(ctx)
		if err != nil {
			return nil, err
		}
		if err = m.add(ctx, table); err != nil {
			return nil, m.failed(err)
		}
	}
	mapped, err := m.pieces.next(ctx, func(piece *buffer.Buffer) (*buffer.Buffer, error) { return m.apply(ctx, piece) })
	return mapped, m.failed(unended(err))
}

// add adds a table, which it takes over, or pieces of it.
func (m *mapping) add(ctx context.Context, table *buffer.Buffer) error {
	if m.grown == nil {
		m.pieces.push(table)
		return nil
	}
	bytes, err := m.grown(ctx, table)
	if err != nil {
		return errors.Join(err, table.Release())
	}
	return m.pieces.cut(ctx, table, bytes, m.settings.Manager.Budget()/m.share)
}

// Close implements buffer.Reader.
func (m *mapping) Close() error { return errors.Join(m.pieces.Release(), m.stage.Close()) }

// once makes its whole result in the first call of Next. make returns nil for no table.
type once struct {
	*stage
	done bool
	make func(ctx context.Context) (*buffer.Buffer, error)
}

// Next implements buffer.Reader.
func (o *once) Next(ctx context.Context) (*buffer.Buffer, error) {
	if o.done || len(o.inputs) == 0 {
		return nil, io.EOF
	}
	o.done = true
	table, err := o.make(ctx)
	if table == nil && err == nil {
		return nil, errEnd
	}
	return table, o.failed(unended(err))
}

// unended makes another error of an io.EOF that is not the end of a reader.
func unended(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
