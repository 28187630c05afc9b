package join

import (
	"errors"
	"math"
	"math/bits"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// argument returns the table as kernels take it.
func (t *table) argument() (any, error) {
	slots, err := t.slotMemory()
	return kernels.Struct(slots, t.memory, t.size, t.seed, t.factor, t.least, t.places, t.room, t.sign, t.spans, t.values, uint64(bits.Len(uint(t.rows)))), err
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

// launchLoop launches a kernel for n rows whose blocks loop over them.
func (r *run) launchLoop(entry string, n int, arguments ...any) error {
	f, err := r.call.Kernel(&set, "table", entry)
	if err != nil {
		return err
	}
	grid, err := f.Grid(n, threads, loopRows, 0)
	if err != nil {
		return err
	}
	return f.Launch(r.call.Stream, grid, device.Dim3{X: threads}, 0, arguments...)
}

// insertOnDevice finds the range of the keys, if it may be small, clears the table and inserts the
// rows.
func (r *run) insertOnDevice(t *table, w *words) error {
	argument, err := t.argument()
	if err != nil {
		return err
	}
	if w.rows <= fewRows {
		f, err := r.call.Kernel(&set, "table", "build_few"+w.width())
		if err != nil {
			return err
		}
		return f.Launch(r.call.Stream, device.Dim3{X: 1}, device.Dim3{X: fewThreads}, 0, argument, w.argument(), r.slotBytes(t)/16)
	}
	if t.room == 0 {
		err = t.memory.Fill(r.call.Stream, 0xff)
	} else {
		err = r.boundOnDevice(t, w, argument)
	}
	if err != nil {
		return err
	}
	return r.launch("table", "insert_rows"+w.width(), w.rows, argument, w.argument(), word(!t.decided))
}

// boundOnDevice clears the slots that the range of the keys needs: few, if it is small.
func (r *run) boundOnDevice(t *table, w *words, argument any) error {
	header, err := t.memory.Slice(0, headerBytes)
	if err != nil {
		return err
	}
	if err := header.Fill(r.call.Stream, 0xff); err != nil {
		return err
	}
	if err := r.launchLoop("bound_keys"+w.width(), w.rows, argument, w.argument()); err != nil {
		return err
	}
	pairs := r.slotBytes(t) / 16
	return r.launchLoop("clear_slots", int(pairs), argument, pairs)
}

// sortSlotsOnDevice lists the rows in the order of their slots, and writes the spans of the
// slots. Rows that are not valid are behind the others.
func (r *run) sortSlotsOnDevice(t *table) error {
	s := slotSort{none: t.places} // the slot of rows that are not valid
	if s.none == 0 {
		s.none = t.size
	}
	s.Sort = radix.Sort{Width: 32, High: bits.Len64(s.none), Rows: t.rows, Numbers: radix.RowNumbers}
	if t.places > 0 && !t.wide && t.keys.valid.Len() == 0 {
		// The words are the places plus the least one.
		s.Input, s.Encoding.Subtract, s.High = true, t.least, max(bits.Len64(t.places-1), 1)
		s.none = math.MaxUint32
	}
	list, kept, err := r.allocate(s.NumberBytes())
	if err != nil {
		return err
	}
	t.held.Add(list)
	if t.list, err = memory.Reinterpret[uint32](kept[0]); err != nil {
		return err
	}
	// Of few places the spans are those of the digit that is sorted by.
	s.counted = s.OneDigit() && t.places > 0
	s.DropKeys = s.counted
	if err := r.newSpans(t, !s.counted); err != nil {
		return err
	}
	sizes := []uint64{s.KeyBytes(), s.StateBytes(), 0, 0, 0}
	if s.SecondBuffers() {
		sizes[2], sizes[3] = s.KeyBytes(), s.NumberBytes()
	}
	if s.Paired() && !s.DropKeys {
		sizes[4] = 4 * uint64(t.rows)
	}
	block, scratch, err := r.call.Scratch(sizes...)
	if err != nil {
		return err
	}
	s.buffers = radix.Buffers{
		Input: t.values, Sorted: scratch[4],
		Keys: [2]memory.Slice[uint8]{scratch[0], scratch[2]}, Numbers: [2]memory.Slice[uint8]{kept[0], scratch[3]}, State: scratch[1],
	}
	return errors.Join(r.sortBy(&s, t), block.Release())
}

// slotSort is the sort of the rows of a table by their slots, or by words that are places.
type slotSort struct {
	radix.Sort
	buffers radix.Buffers
	none    uint64
	// counted is set if the sort counts the rows of each place.
	counted bool
}

func (r *run) sortBy(s *slotSort, t *table) error {
	argument, err := t.argument()
	if err != nil {
		return err
	}
	sorted, least := s.buffers.Keys[0], uint32(0)
	if s.Input {
		sorted, least = s.buffers.Sorted, uint32(t.least)
	} else if err := r.launchLoop("slots_of_rows"+t.keys.width(), t.rows, s.buffers.Keys[s.Source()], argument, t.keys.argument(), uint32(s.none)); err != nil {
		return err
	}
	if err := s.Run(&r.call, s.buffers); err != nil {
		return err
	}
	if s.counted {
		begins, err := s.DigitBegins(s.buffers.State)
		if err != nil {
			return err
		}
		return r.launch("table", "digit_spans", int(t.places), argument, begins, uint32(1<<radix.DigitBits), uint64(t.rows))
	}
	return r.launch("table", "slot_spans", (t.rows+3)/4, argument, sorted, least, uint32(s.none), uint64(t.rows))
}

func (r *run) probeOnDevice(t *table, w *words, m *matches) error {
	argument, err := t.argument()
	if err != nil {
		return err
	}
	return r.launch("table", "probe_rows"+w.width(), w.rows, m.first, m.count, argument, w.argument(), word(!t.decided))
}

// wordsOnDevice encodes all rows in scratch memory.
func (r *run) wordsOnDevice(w *words, plan *rowkey.Plan) error {
	sizes := plan.DeviceScratch()
	block, slices, err := r.allocate(append(sizes, plan.WordsBytes(w.rows))...)
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
func (r *run) boundsOnDevice(e *encoding, sources []int) (bounds []rowkey.Bounds, err error) {
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
	bounds = make([]rowkey.Bounds, n)
	for k := range bounds {
		bounds[k] = rowkey.Bounds{Least: words[2*k], Greatest: ^words[2*k+1]}
	}
	return bounds, nil
}
