package join

import (
	"errors"
	"slices"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// encoding makes words of the keys of both tables. Its plans differ only in the columns.
type encoding struct {
	// raw is set if the values of the only key are its words. bound is above all of them, if
	// it is not zero.
	raw   bool
	bound uint64
	plans [2]*rowkey.Plan
}

// Release releases the columns of the plans.
func (e *encoding) Release() error {
	if e == nil {
		return nil
	}
	var failures []error
	for _, p := range e.plans {
		if p != nil {
			failures = append(failures, rowkey.Release(p.Sources))
		}
	}
	return errors.Join(failures...)
}

// newEncoding returns the encoding of the keys of the probe and the build side, or nil if they do not fit 64 bits. The keys
// of a side are nil if its values are not known; their types are those of the other side. The values of a single key are
// below bound, if it is not zero.
func newEncoding(c *call, keys [2][]*column.Column, bound uint64) (*encoding, error) {
	known, both, nullable := 0, true, false
	for side := range keys {
		if keys[side] == nil {
			known, both, nullable = 1-side, false, true
		}
		nullable = nullable || slices.ContainsFunc(keys[side], op.Nullable)
	}
	nullable = nullable && c.nullsEqual
	if isRaw(keys[known], nullable) {
		return &encoding{raw: true, bound: bound}, nil
	}
	e := &encoding{}
	var sources [2][]rowkey.Source
	for side := range keys {
		if keys[side] == nil {
			continue
		}
		var err error
		if sources[side], err = sourcesOf(keys[side], nullable); err != nil || sources[side] == nil {
			return nil, errors.Join(err, e.Release())
		}
		e.plans[side] = rowkey.NewPlan(sources[side])
	}
	if p := e.plans[known]; both && p.Exact() && p.Bits() > rowkey.WordBits {
		if err := e.shorten(c, sources); err != nil {
			return nil, errors.Join(err, e.Release())
		}
	}
	if !fits(e.plans[known]) {
		return nil, e.Release()
	}
	return e, nil
}

// fits reports whether the words of a plan are numbers of at most 64 bits.
func fits(p *rowkey.Plan) bool { return p.Exact() && p.Bits() > 0 && p.Bits() <= rowkey.WordBits }

// isRaw reports whether the only key is an integer of 4 or 8 bytes, and null is no value.
func isRaw(keys []*column.Column, nullable bool) bool {
	if len(keys) != 1 || nullable {
		return false
	}
	l, err := layout.Of(keys[0].Type())
	if err != nil || l.Kind != layout.Fixed || l.Width != 4 && l.Width != 8 {
		return false
	}
	class := l.Stored()
	return class == layout.Signed || class == layout.Unsigned
}

// sourcesOf returns the sources of keys, nil if a key has no words of a fixed length. A
// null is a value if nullable is set.
func sourcesOf(keys []*column.Column, nullable bool) ([]rowkey.Source, error) {
	list := make([]rowkey.Key, len(keys))
	for i, c := range keys {
		if c.NumChildren() > 0 {
			return nil, nil // fields of structs can be null
		}
		list[i].Column = c
	}
	sources, err := rowkey.Sources(list)
	if err != nil {
		return nil, err
	}
	for i := range sources {
		sources[i].Nullable = nullable
		switch sources[i].Storage {
		case rowkey.Boolean, rowkey.Unsigned, rowkey.Signed, rowkey.Float:
		default:
			return nil, rowkey.Release(sources)
		}
	}
	return sources, nil
}

// shorten shortens the words of integers to the bits of the range of both tables. A GPU
// waits for the ranges.
func (e *encoding) shorten(c *call, sources [2][]rowkey.Source) error {
	var integers []int
	for i := range sources[0] {
		if s := sources[0][i].Storage; s == rowkey.Signed || s == rowkey.Unsigned {
			integers = append(integers, i)
		}
	}
	if len(integers) == 0 {
		return nil
	}
	boundsOf := e.boundsOnDevice
	if c.OnHost() {
		boundsOf = e.boundsOnHost
	}
	bounds, err := boundsOf(c, integers)
	if err != nil {
		return err
	}
	for k, i := range integers {
		all := bounds[2*k]
		all.Add(bounds[2*k+1])
		all.Apply(&sources[0][i])
		all.Apply(&sources[1][i])
	}
	for side := range sources {
		e.plans[side] = rowkey.NewPlan(sources[side])
	}
	return nil
}

// boundsOnHost returns the bounds of sources, of each of the two sides.
func (e *encoding) boundsOnHost(_ *call, sources []int) ([]rowkey.Bounds, error) {
	bounds := make([]rowkey.Bounds, 2*len(sources))
	for side, p := range e.plans {
		host, err := rowkey.NewHost(p)
		if err != nil {
			return nil, err
		}
		for k, i := range sources {
			bounds[2*k+side] = host.Bounds(i, 0, p.Sources[i].Column.Len())
		}
	}
	return bounds, nil
}

// boundsOnDevice waits once for the bounds of sources, of each of the two sides.
func (e *encoding) boundsOnDevice(c *call, sources []int) (bounds []rowkey.Bounds, err error) {
	n := 2 * len(sources)
	sizes := append(e.plans[0].DeviceScratch(), e.plans[1].DeviceScratch()...)
	block, slices, err := c.Scratch(append(sizes, 16*uint64(n))...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	pairs, err := memory.Reinterpret[uint64](slices[len(sizes)])
	if err != nil {
		return nil, err
	}
	for side, p := range e.plans {
		encoder, err := rowkey.NewDevice(&c.Call, p, slices[side*len(p.Sources):][:len(p.Sources)])
		if err != nil {
			return nil, err
		}
		for k, i := range sources {
			pair, err := pairs.Slice(2*(2*k+side), 2*(2*k+side)+2)
			if err != nil {
				return nil, err
			}
			if err := encoder.Bounds(i, rowkey.DeviceRows{Rows: p.Sources[i].Column.Len()}, pair); err != nil {
				return nil, err
			}
		}
	}
	words := make([]uint64, 2*n)
	if err := pairs.Download(c.Context(), c.Stream, words); err != nil {
		return nil, err
	}
	bounds = make([]rowkey.Bounds, n)
	for k := range bounds {
		bounds[k] = rowkey.Bounds{Least: words[2*k], Greatest: ^words[2*k+1]}
	}
	return bounds, nil
}

// words returns the words of one table. The caller releases them.
func (e *encoding) words(c *call, side int, keys []*column.Column) (*words, error) {
	w := &words{rows: keys[0].Len(), wide: true}
	if err := w.fill(c, e, side, keys); err != nil {
		return nil, errors.Join(err, w.Release())
	}
	return w, nil
}

func (w *words) fill(c *call, e *encoding, side int, keys []*column.Column) error {
	if err := w.fillValid(c, keys); err != nil {
		return err
	}
	if e.raw {
		l, err := layout.Of(keys[0].Type())
		if err != nil {
			return err
		}
		if err := keys[0].Retain(); err != nil {
			return err
		}
		w.held.Add(keys[0])
		w.wide, w.bound, w.unique = l.Width == 8, e.bound, keys[0].Known().Unique == column.Yes
		if l.Stored() == layout.Signed && e.bound == 0 {
			w.sign = 1 << (8*l.Width - 1)
		}
		if e.bound == 0 {
			w.column = keys[0]
		}
		w.values, err = keys[0].ValuesRegion()
		return err
	}
	plan := e.plans[side]
	if plan.Bits() < rowkey.WordBits {
		w.bound = 1 << plan.Bits()
	}
	if !c.OnHost() {
		return w.encodeOnDevice(c, plan)
	}
	block, slices, err := c.Scratch(8 * uint64(w.rows))
	if err != nil {
		return err
	}
	w.held.Add(block)
	w.values = slices[0]
	return errors.Join(c.waitIdle(), w.encodeOnHost(c, plan))
}
