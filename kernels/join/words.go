package join

import (
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/memory"
)

// words are the keys of the rows of a table as numbers of 32 or 64 bits, which are equal
// exactly if the keys are.
type words struct {
	values memory.Slice[uint8]
	wide   bool
	// valid has a bit for each row that can match, from bit bit on, or is empty if all can.
	valid memory.Slice[uint8]
	bit   int
	rows  int
	// bound is above all words, if it is not zero.
	bound uint64
	// column is the only key if its values are the words.
	column *column.Column
	// sign is the bit of the sign of signed integers.
	sign uint64
	// unique is set if no two words are equal.
	unique bool

	held release.Stack
}

// Release releases what the words hold.
func (w *words) Release() error {
	if w == nil {
		return nil
	}
	return w.held.Release()
}

// span returns the least word and the length of the range of the words that are valid, if they
// are known.
func (w *words) span() (least, length uint64, known bool) {
	if w.bound > 0 {
		return 0, w.bound, true
	}
	if w.column == nil {
		return 0, 0, false
	}
	bounds, known := w.column.Bounds()
	if length = bounds.Greatest - bounds.Least + 1; !known || length == 0 {
		return 0, 0, false
	}
	if !w.wide {
		bounds.Least &= math.MaxUint32
	}
	return bounds.Least, length, true
}

// learnSpan records the range of words that was measured.
func (w *words) learnSpan(least, length uint64) {
	if w.column == nil || length == 0 {
		return
	}
	if w.sign != 0 {
		least = (least ^ w.sign) - w.sign // extended by the sign
	}
	w.column.LearnBounds(column.Bounds{Least: least, Greatest: least + length - 1})
}

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

// newEncoding returns the encoding of the keys of the probe and the build side, or nil if
// they do not fit 64 bits, or the build side has too many rows for a table. The values of a
// single key are below bound, if it is not zero.
func (r *run) newEncoding(keys [2][]*column.Column, bound uint64) (*encoding, error) {
	if keys[1][0].Len() > mostBuilt {
		return nil, nil
	}
	nullable := false
	for _, side := range keys {
		for _, c := range side {
			nullable = nullable || op.Nullable(c)
		}
	}
	nullable = nullable && r.options.NullsEqual
	if isRaw(keys[0], nullable) {
		return &encoding{raw: true, bound: bound}, nil
	}
	e := &encoding{}
	var sources [2][]rowkey.Source
	for side := range keys {
		var err error
		if sources[side], err = sourcesOf(keys[side], nullable); err != nil || sources[side] == nil {
			return nil, errors.Join(err, rowkey.Release(sources[0]))
		}
	}
	for side := range sources {
		e.plans[side] = rowkey.NewPlan(sources[side])
	}
	if e.plans[0].Exact() && e.plans[0].Bits() > rowkey.WordBits {
		if err := r.bound(e, sources); err != nil {
			return nil, errors.Join(err, e.Release())
		}
	}
	if !fits(e.plans[0]) {
		return nil, e.Release()
	}
	return e, nil
}

// oneSided returns the encoding of the keys of one table, for tables of unknown values on
// the other side: nil as for newEncoding. The types of the keys
// are those of all tables.
func (r *run) oneSided(side int, keys []*column.Column) (*encoding, error) {
	if rowsOf(r.right) > mostBuilt {
		return nil, nil
	}
	nullable := r.options.NullsEqual
	if isRaw(keys, nullable) {
		return &encoding{raw: true}, nil
	}
	sources, err := sourcesOf(keys, nullable)
	if err != nil || sources == nil {
		return nil, err
	}
	e := &encoding{}
	e.plans[side] = rowkey.NewPlan(sources)
	if !fits(e.plans[side]) {
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

// bound shortens the words of integers to the bits of the range of both tables. A GPU
// waits for the ranges.
func (r *run) bound(e *encoding, sources [2][]rowkey.Source) error {
	var integers []int
	for i := range sources[0] {
		if s := sources[0][i].Storage; s == rowkey.Signed || s == rowkey.Unsigned {
			integers = append(integers, i)
		}
	}
	if len(integers) == 0 {
		return nil
	}
	boundsOf := r.boundsOnDevice
	if r.call.OnHost() {
		boundsOf = r.boundsOnHost
	}
	bounds, err := boundsOf(e, integers)
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
func (r *run) boundsOnHost(e *encoding, sources []int) ([]rowkey.Bounds, error) {
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

// words returns the words of one table. The caller releases them.
func (r *run) words(e *encoding, side int, keys []*column.Column) (*words, error) {
	w := &words{rows: keys[0].Len(), wide: true}
	if err := r.fillWords(w, e, side, keys); err != nil {
		return nil, errors.Join(err, w.Release())
	}
	return w, nil
}

func (r *run) fillWords(w *words, e *encoding, side int, keys []*column.Column) error {
	if err := r.fillValid(w, keys); err != nil {
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
	if !r.call.OnHost() {
		return r.wordsOnDevice(w, plan)
	}
	block, slices, err := r.call.Scratch(8 * uint64(w.rows))
	if err != nil {
		return err
	}
	w.held.Add(block)
	w.values = slices[0]
	return errors.Join(r.waitIdle(), r.wordsOnHost(w, plan))
}

// fillValid finds the rows without a null key, unless nulls are equal.
func (r *run) fillValid(w *words, keys []*column.Column) (err error) {
	if r.options.NullsEqual {
		return nil
	}
	if len(keys) == 1 {
		if op.Nullable(keys[0]) {
			w.valid, w.bit, err = keys[0].Validity()
		}
		return err
	}
	table, _, err := r.keyTable(&w.held, keys)
	if err != nil {
		return err
	}
	valid, err := r.validKeys(&w.held, table)
	if err != nil || valid == nil {
		return err
	}
	w.valid = valid.Buffer(1)
	return nil
}
