package text

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/text/regex"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/memory"
)

// tables is a compiled search.
type tables struct {
	program *regex.Program
	parts   []regex.Part
	// place is the place of the group in regex.Searcher.Match.
	place int
	// bytes are the tables in the order of Automaton in regex.cu, and ends where they end.
	bytes []byte
	ends  []int
}

// mostKept is the number of compiled searches that are kept. When there are more, all are
// forgotten.
const mostKept = 256

var kept struct {
	sync.Mutex
	tables map[search]*tables
}

// tablesOf compiles a search, or returns the tables of an earlier call.
func tablesOf(ctx context.Context, s search) (*tables, error) {
	kept.Lock()
	t := kept.tables[s]
	kept.Unlock()
	if t != nil {
		return t, nil
	}
	t, err := compile(ctx, s)
	if err != nil {
		return nil, err
	}
	kept.Lock()
	defer kept.Unlock()
	if kept.tables == nil || len(kept.tables) >= mostKept {
		kept.tables = map[search]*tables{}
	}
	kept.tables[s] = t
	return t, nil
}

// check reports a pattern that is no regular expression, and a group that it does not have.
func (s search) check() error {
	groups, err := regex.Check(s.pattern)
	if err == nil && (s.group < 0 || s.group > groups) {
		err = fmt.Errorf("group %d of the pattern %q, expected 0 to %d: %w", s.group, s.pattern, groups, expr.ErrLiteral)
	}
	return err
}

func compile(ctx context.Context, s search) (*tables, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	t := &tables{}
	switch s.kind {
	case replace:
		r, err := regex.NewReplacer(ctx, s.pattern, s.with)
		if err != nil {
			return nil, err
		}
		t.program, t.parts = r.Program, r.Parts
	default:
		options := regex.Options{Positions: s.kind != matches}
		if s.kind == extract && s.group != 0 {
			options.Groups, t.place = []int{s.group}, 2
		}
		var err error
		if t.program, err = regex.Compile(ctx, s.pattern, options); err != nil {
			return nil, err
		}
	}
	t.lay()
	return t, nil
}

// lay appends all tables to one slice of bytes.
func (t *tables) lay() {
	p := t.program
	end := func() {
		for len(t.bytes)%8 != 0 {
			t.bytes = append(t.bytes, 0)
		}
		t.ends = append(t.ends, len(t.bytes))
	}
	words := func(words []uint32) {
		for _, word := range words {
			t.bytes = binary.NativeEndian.AppendUint32(t.bytes, word)
		}
		end()
	}
	t.bytes = append(t.bytes, p.ASCII[:]...)
	end()
	t.bytes = append(t.bytes, p.Kinds[:]...)
	end()
	words(p.Transitions)
	for _, word := range p.Work {
		t.bytes = binary.NativeEndian.AppendUint16(t.bytes, word)
	}
	end()
	words(p.RangeStarts)
	t.bytes = append(t.bytes, p.RangeClasses...)
	end()
	var parts []uint32
	var literals []byte
	for _, part := range t.parts {
		if part.Literal == "" {
			parts = append(parts, 0, uint32(part.Begin), 0)
		} else {
			parts = append(parts, 1, uint32(len(literals)), uint32(len(part.Literal)))
			literals = append(literals, part.Literal...)
		}
	}
	words(parts)
	t.bytes = append(t.bytes, literals...)
	end()
}

// loaded is tables on a device.
type loaded struct {
	*tables
	argument any
}

// upload copies the tables to the device. The caller releases the block.
func (t *tables) upload(call *op.Call) (*memory.Block, *loaded, error) {
	block, scratch, err := call.Scratch(uint64(len(t.bytes)))
	if err != nil {
		return nil, nil, err
	}
	err = scratch[0].Upload(call.Context(), call.Stream, t.bytes)
	p := t.program
	l := automatonLayout{
		stride: uint32(p.Stride), states: uint32(p.States()), ranges: uint32(len(p.RangeStarts)), partCount: uint32(len(t.parts)), perThread: uint32(p.PerThread),
	}
	begin := 0
	for i, to := range []*memory.Slice[uint8]{&l.ascii, &l.kinds, &l.transitions, &l.work, &l.rangeStarts, &l.rangeClasses, &l.parts, &l.literals} {
		part, sliceErr := scratch[0].Slice(begin, t.ends[i])
		err = errors.Join(err, sliceErr)
		*to, begin = part, t.ends[i]
	}
	if err != nil {
		return nil, nil, errors.Join(err, block.Release())
	}
	for i, start := range p.Starts {
		l.starts[i] = uint32(start)
	}
	return block, &loaded{t, l.asArgument()}, nil
}

// mostShared is the number of transitions of two bytes that a block copies to its shared
// memory.
const mostShared = 20_000

func (l *loaded) matches(call *op.Call, in texts, out op.Buffers) error {
	kernel, err := call.Kernel(&set, "regex", "regex_matches")
	if err != nil {
		return err
	}
	shared, bytes := uint32(0), uint32(0)
	if n := len(l.program.Transitions); n <= mostShared {
		shared, bytes = 1, uint32(128+(2*n+7)/8*8)
	}
	rows := (in.column.Len() + 63) / 64 * 64
	grid, err := kernel.Grid(rows, threads, 1, bytes)
	if err != nil {
		return err
	}
	return kernel.Launch(call.Stream, grid, block256, bytes, out.Values, out.Valid, in.argument(), l.argument, shared)
}

func (l *loaded) search(call *op.Call, in texts, kind searchKind, out, lengths, valid memory.Slice[uint8]) error {
	kernel, err := call.Kernel(&set, "regex", "regex_search")
	if err != nil {
		return err
	}
	rows := (in.column.Len() + 63) / 64 * 64
	return kernel.Launch(call.Stream, kernels.GridFor(rows, threads), block256, 0, out, lengths, valid, in.argument(), l.argument, uint32(kind), uint32(l.place))
}

func (l *loaded) replace(call *op.Call, in texts, to, lengths memory.Slice[uint8], ends memory.Slice[int64]) error {
	kernel, err := call.Kernel(&set, "regex", "regex_replace")
	if err != nil {
		return err
	}
	return kernel.Launch(call.Stream, kernels.GridFor(in.column.Len(), threads), block256, 0, to, lengths, ends, in.argument(), l.argument)
}
