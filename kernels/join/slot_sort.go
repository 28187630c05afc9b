package join

import (
	"errors"
	"math"
	"math/bits"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// sortSlots lists the rows in the order of their slots on the host, and writes the spans of
// the slots.
func (t *table) sortSlots(c *call) error {
	numbers, err := selection.RowNumbers(t.slotOf, nil)
	if err != nil {
		return err
	}
	slots, err := tableOf([]string{"slot"}, []*column.Column{numbers}, buffer.Rows{Count: int64(t.rows)})
	if err = errors.Join(err, numbers.Release()); err != nil {
		return errors.Join(err, slots.Release())
	}
	list, err := order.Indices(c.Context(), slots, []order.Key{{Column: "slot"}}, c.building())
	if err = errors.Join(err, slots.Release()); err != nil {
		return errors.Join(err, list.Release())
	}
	t.held.Add(list)
	if t.list, err = uint32sOf(list); err != nil {
		return err
	}
	if err := t.newSpans(c, true); err != nil {
		return err
	}
	return errors.Join(c.waitIdle(), t.slotSpansOnHost(c))
}

// newSpans allocates spans for slots that have no room for them. Places without a row are
// read too: with clear set all spans are empty.
func (t *table) newSpans(c *call, clear bool) error {
	n := t.places
	if n == 0 && !c.OnHost() {
		n = t.size
	}
	if n == 0 {
		return nil
	}
	block, slices, err := c.allocate(8 * n)
	if err != nil {
		return err
	}
	t.held.Add(block)
	if t.spans, err = memory.Reinterpret[uint64](slices[0]); err != nil || t.places == 0 || !clear {
		return err
	}
	return errors.Join(t.spans.Fill(c.Stream, 0), c.waitIdle())
}

// sortSlotsOnDevice lists the rows in the order of their slots, and writes the spans of the
// slots. Rows that are not valid are behind the others.
func (t *table) sortSlotsOnDevice(c *call) error {
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
	list, kept, err := c.allocate(s.NumberBytes())
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
	if err := t.newSpans(c, !s.counted); err != nil {
		return err
	}
	sizes := []uint64{s.KeyBytes(), s.StateBytes(), 0, 0, 0}
	if s.SecondBuffers() {
		sizes[2], sizes[3] = s.KeyBytes(), s.NumberBytes()
	}
	if s.Paired() && !s.DropKeys {
		sizes[4] = 4 * uint64(t.rows)
	}
	block, scratch, err := c.Scratch(sizes...)
	if err != nil {
		return err
	}
	s.buffers = radix.Buffers{
		Input: t.values, Sorted: scratch[4],
		Keys: [2]memory.Slice[uint8]{scratch[0], scratch[2]}, Numbers: [2]memory.Slice[uint8]{kept[0], scratch[3]}, State: scratch[1],
	}
	return errors.Join(s.run(c, t), block.Release())
}

// slotSort is the sort of the rows of a table by their slots, or by words that are places.
type slotSort struct {
	radix.Sort
	buffers radix.Buffers
	none    uint64
	// counted is set if the sort counts the rows of each place.
	counted bool
}

func (s *slotSort) run(c *call, t *table) error {
	argument, err := t.argument()
	if err != nil {
		return err
	}
	sorted, least := s.buffers.Keys[0], uint32(0)
	if s.Input {
		sorted, least = s.buffers.Sorted, uint32(t.least)
	} else if err := c.launchLoop("slots_of_rows"+t.keys.width(), t.rows, s.buffers.Keys[s.Source()], argument, t.keys.argument(), uint32(s.none)); err != nil {
		return err
	}
	if err := s.Run(&c.Call, s.buffers); err != nil {
		return err
	}
	if s.counted {
		begins, err := s.DigitBegins(s.buffers.State)
		if err != nil {
			return err
		}
		return c.launch("table", "digit_spans", int(t.places), argument, begins, uint32(1<<radix.DigitBits), uint64(t.rows))
	}
	return c.launch("table", "slot_spans", (t.rows+3)/4, argument, sorted, least, uint32(s.none), uint64(t.rows))
}
