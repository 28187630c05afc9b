package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
)

// newSlots allocates the slots of the rows.
func (t *table) newSlots(c *call) error {
	block, slices, err := c.uint32s(t.rows)
	if err == nil {
		t.slotBlock, t.slotOf = block, slices[0]
	}
	return err
}

// decideDistinct finds out whether keys occur several times, and sorts the rows by slot if
// they do. A GPU waits.
func (t *table) decideDistinct(c *call) error {
	if t.decided {
		return nil
	}
	words, err := t.header()
	if err != nil {
		return err
	}
	var header [headerWords]uint64
	if err := words.Download(c.Context(), c.Stream, header[:]); err != nil {
		return err
	}
	return t.decideFrom(c, &header)
}

// decideFrom is decideDistinct with the words of the header.
func (t *table) decideFrom(c *call, header *[headerWords]uint64) error {
	t.decided, t.distinct = true, uint32(header[2]) != 0
	if least, greatest := header[0], ^header[1]; t.room > 0 && least <= greatest && greatest-least < t.room {
		t.least, t.places = least^t.sign, greatest-least+1
		t.keys.learnSpan(t.least, t.places)
	}
	t.room = 0
	if t.distinct {
		return t.finish(c)
	}
	if c.OnHost() {
		return errors.Join(t.sortSlots(c), t.finish(c))
	}
	return errors.Join(t.sortSlotsOnDevice(c), t.finish(c))
}

// fill inserts all rows. With distinct set it does not matter whether keys occur twice.
func (t *table) fill(c *call, distinct bool) error {
	if err := t.allocate(c, t.mostBytes(c)); err != nil {
		return err
	}
	t.decided, t.distinct = distinct, distinct
	if !c.OnHost() {
		return t.insertOnDevice(c, t.keys)
	}
	if err := t.memory.Fill(c.Stream, 0xff); err != nil {
		return err
	}
	if !distinct {
		if err := t.newSlots(c); err != nil {
			return err
		}
	}
	if err := c.waitIdle(); err != nil {
		return err
	}
	if err := t.insertOnHost(c, t.keys); err != nil {
		return err
	}
	return t.decideDistinct(c)
}

// listPlaces sorts the rows by their places on a GPU, without inserting them.
func (t *table) listPlaces(c *call) error {
	t.filterBits = 0 // nothing is inserted
	if err := t.allocate(c, 0); err != nil {
		return err
	}
	t.decided = true
	return t.sortSlotsOnDevice(c)
}

// allocate allocates the header, the filter and slots.
func (t *table) allocate(c *call, slots uint64) error {
	block, slices, err := c.allocate(headerBytes + uint64(t.filterBytes()) + slots)
	if err == nil {
		t.held.Add(block)
		t.memory = slices[0]
	}
	return err
}

// insertOnDevice finds the range of the keys, if it may be small, clears the table and inserts the
// rows.
func (t *table) insertOnDevice(c *call, w *words) error {
	argument, err := t.argument()
	if err != nil {
		return err
	}
	if w.rows <= fewRows && t.mostBytes(c) <= fewBytes {
		return c.launchBlocks("table", "build_few"+w.width(), device.Dim3{X: 1}, fewThreads, argument, w.argument(), t.slotBytes(c)/16)
	}
	if t.room == 0 {
		err = t.memory.Fill(c.Stream, 0xff)
	} else {
		err = t.boundOnDevice(c, w, argument)
	}
	if err != nil {
		return err
	}
	return c.launch("table", "insert_rows"+w.width(), w.rows, argument, w.argument(), kernelset.Flag(!t.decided))
}

// boundOnDevice clears the slots that the range of the keys needs: few, if it is small.
func (t *table) boundOnDevice(c *call, w *words, argument any) error {
	header, err := t.memory.Slice(0, headerBytes+t.filterBytes())
	if err != nil {
		return err
	}
	if err := header.Fill(c.Stream, 0xff); err != nil {
		return err
	}
	if err := c.launchLoop("bound_keys"+w.width(), w.rows, argument, w.argument()); err != nil {
		return err
	}
	pairs := t.slotBytes(c) / 16
	return c.launchLoop("clear_slots", int(pairs), argument, pairs)
}
