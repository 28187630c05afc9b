package join

import (
	"github.com/gpuframe/gpuframe/device"
)

// insertOnDevice finds the range of the keys, if it may be small, clears the table and inserts the
// rows.
func (t *table) insertOnDevice(c *call, w *words) error {
	argument, err := t.argument()
	if err != nil {
		return err
	}
	if w.rows <= fewRows {
		f, err := c.Kernel(&set, "table", "build_few"+w.width())
		if err != nil {
			return err
		}
		return f.Launch(c.Stream, device.Dim3{X: 1}, device.Dim3{X: fewThreads}, 0, argument, w.argument(), t.slotBytes(c)/16)
	}
	if t.room == 0 {
		err = t.memory.Fill(c.Stream, 0xff)
	} else {
		err = t.boundOnDevice(c, w, argument)
	}
	if err != nil {
		return err
	}
	return c.launch("table", "insert_rows"+w.width(), w.rows, argument, w.argument(), word(!t.decided))
}

// boundOnDevice clears the slots that the range of the keys needs: few, if it is small.
func (t *table) boundOnDevice(c *call, w *words, argument any) error {
	header, err := t.memory.Slice(0, headerBytes)
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
