package join

import (
	"errors"
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
	if err := t.allocate(c, max(t.slotBytes(c), (4*t.room+15)&^15)); err != nil {
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
	if err := t.allocate(c, 0); err != nil {
		return err
	}
	t.decided = true
	return t.sortSlotsOnDevice(c)
}

// allocate allocates the header and slots.
func (t *table) allocate(c *call, slots uint64) error {
	block, slices, err := c.allocate(headerBytes + slots)
	if err == nil {
		t.held.Add(block)
		t.memory = slices[0]
	}
	return err
}
