package join

import (
	"errors"

	"github.com/gpuframe/gpuframe/internal/base/release"
)

// newFilledTable makes a table of the rows of the build side, and takes over their words. If any is
// set it answers only whether a key has a row. The caller releases it.
func newFilledTable(c *call, w *words, probed int, any bool) (*table, error) {
	t := newTable(c, w, probed)
	t.keys, t.values = w, w.values
	err := t.fill(c, w, any || w.unique)
	if err == nil && t.decided {
		err = t.finish(c)
	}
	return release.OnError(t, err)
}

// fill inserts all rows. With distinct set it does not matter whether keys occur twice.
func (t *table) fill(c *call, w *words, distinct bool) error {
	// More rows than places cannot have distinct keys. The slots are not needed then.
	repeated := !distinct && !c.OnHost() && t.places > 0 && uint64(w.rows) > t.places && w.valid.Len() == 0
	size := uint64(headerBytes)
	if !repeated {
		size += max(t.slotBytes(c), (4*t.room+15)&^15)
	}
	block, slices, err := c.allocate(size)
	if err != nil {
		return err
	}
	t.held.Add(block)
	t.memory, t.decided, t.distinct = slices[0], distinct, distinct
	if repeated {
		t.decided, t.distinct = true, false
		return t.sortSlotsOnDevice(c)
	}
	if !c.OnHost() {
		return t.insertOnDevice(c, w)
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
	if err := t.insertOnHost(c, w); err != nil {
		return err
	}
	return t.decideDistinct(c)
}

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
