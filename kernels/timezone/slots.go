package timezone

// The slots of a zone answer most look-ups of an offset with one load from the shared memory
// of a block. Slot i describes the seconds from slotStart + i·2^slotShift on, 24 days. Most
// slots have at most one change of the offset:
//
//	bit 0        1 if the slot has several changes, so that the table is searched
//	bits 1-22    the second of the slot from which the later offset holds, or 2^slotShift
//	bits 24-43   the earlier offset, signed
//	bits 44-63   the later offset, signed
//
// The slots reach from 1901 to 2106.
const (
	slotCount  = 3072
	slotShift  = 21
	slotStart  = -1 << 31
	slotOffset = 1<<20 - 1
)

func slotsOf(t *table) []uint64 {
	slots := make([]uint64, slotCount)
	i := 0
	for s := range slots {
		begin := slotStart + int64(s)<<slotShift
		end := begin + 1<<slotShift
		for i+1 < len(t.starts) && t.starts[i+1] <= begin {
			i++
		}
		earlier, later, change := t.offsets[i], t.offsets[i], int64(1)<<slotShift
		if i+1 < len(t.starts) && t.starts[i+1] < end {
			later, change = t.offsets[i+1], t.starts[i+1]-begin
		}
		slots[s] = uint64(change)<<1 | uint64(earlier&slotOffset)<<24 | uint64(later&slotOffset)<<44
		if i+2 < len(t.starts) && t.starts[i+2] < end {
			slots[s] |= 1
		}
	}
	return slots
}
