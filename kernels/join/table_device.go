package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/internal/rowkey"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// argument returns the table as kernels take it.
func (t *table) argument() (any, error) {
	slots, err := t.slotMemory()
	return kernels.Struct(slots, t.memory, t.size, t.seed, t.factor, t.least, t.places, t.room, t.sign, t.spans), err
}

// argument returns the words as kernels take them.
func (w *words) argument() any {
	return kernels.Struct(w.values, w.valid, uint64(w.bit), uint64(w.rows))
}

// width returns the suffix of kernels for the width of the words.
func (w *words) width() string {
	if w.wide {
		return "_64"
	}
	return "_32"
}

// entry returns the name of a kernel for words in a table.
func (t *table) entry(name string, w *words) string {
	if name += w.width(); !w.wide && !t.narrow {
		name += "_wide"
	}
	return name
}

func (r *run) insertOnDevice(t *table, w *words) error {
	argument, err := t.argument()
	if err == nil && t.room > 0 {
		err = r.launch("table", "bound_keys"+w.width(), w.rows, argument, w.argument())
	}
	if err != nil {
		return err
	}
	return r.launch("table", t.entry("insert_rows", w), w.rows, argument, w.argument(), t.slotOf)
}

func (r *run) slotSpansOnDevice(t *table) error {
	argument, err := t.argument()
	if err != nil {
		return err
	}
	return r.launch("table", "slot_spans", t.rows, argument, t.list, t.slotOf, uint64(t.rows))
}

func (r *run) probeOnDevice(t *table, w *words, m *matches) error {
	argument, err := t.argument()
	if err != nil {
		return err
	}
	return r.launch("table", t.entry("probe_rows", w), w.rows, m.first, m.count, argument, w.argument(), word(!t.settled))
}

// wordsOnDevice encodes all rows in scratch memory.
func (r *run) wordsOnDevice(w *words, plan *rowkey.Plan) error {
	sizes := plan.DeviceScratch()
	block, slices, err := r.call.Scratch(append(sizes, plan.WordsBytes(w.rows))...)
	if err != nil {
		return err
	}
	w.held.Add(block)
	w.values, w.wide = slices[len(sizes)], plan.Segments[0].Width() == 8
	encoder, err := rowkey.NewDevice(&r.call, plan, slices[:len(sizes)])
	if err != nil {
		return err
	}
	return encoder.Encode(0, 0, rowkey.DeviceRows{Rows: w.rows}, w.values)
}

// boundsOnDevice waits once for the bounds of sources, of each of the two sides.
func (r *run) boundsOnDevice(e *encoding, sources []int) (found []rowkey.Bounds, err error) {
	n := 2 * len(sources)
	sizes := append(e.plans[0].DeviceScratch(), e.plans[1].DeviceScratch()...)
	block, slices, err := r.call.Scratch(append(sizes, 16*uint64(n))...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, block.Release()) }()
	pairs, err := memory.Reinterpret[uint64](slices[len(sizes)])
	if err != nil {
		return nil, err
	}
	for side, p := range e.plans {
		encoder, err := rowkey.NewDevice(&r.call, p, slices[side*len(p.Sources):][:len(p.Sources)])
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
	if err := pairs.Download(r.call.Context(), r.call.Stream, words); err != nil {
		return nil, err
	}
	found = make([]rowkey.Bounds, n)
	for k := range found {
		found[k] = rowkey.Bounds{Least: words[2*k], Greatest: ^words[2*k+1]}
	}
	return found, nil
}
