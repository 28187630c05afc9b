package hashtable

import "math/bits"

// hostTable finds the groups of a part of the rows. A key is a word. Several values may have
// the same word if same is given and the word has the bit hashed: same compares the values
// of two rows.
type hostTable struct {
	seeds seeds
	same  func(a, b uint32) bool
	slots []hostSlot
	// rows has the first row of each group.
	rows []uint32
}

// hashed is set in words that are hashes.
const hashed = 1 << 63

// hostSlot is a slot of the table: a key and the number of its group plus 1, or 0.
type hostSlot struct {
	key   uint64
	group uint32
}

// seeds select a hash function. They are random, so that keys chosen to collide do not.
type seeds struct{ seed, factor uint64 }

// hash returns the hash of a word: the halves of a product of 128 bits with a secret factor.
func (s seeds) hash(word uint64) uint64 {
	high, low := bits.Mul64(word^s.seed, s.factor)
	return high ^ low
}

// newHostTable returns a table with slots for some groups, which grows.
func newHostTable(s seeds, same func(a, b uint32) bool, groups int) *hostTable {
	return &hostTable{seeds: s, same: same, slots: make([]hostSlot, max(64, 1<<bits.Len(uint(2*groups-1))))}
}

// find returns the number of the group of a row, which may be a new one.
func (t *hostTable) find(key uint64, row uint32) uint32 {
	mask := uint64(len(t.slots) - 1)
	for at := t.seeds.hash(key) & mask; ; at = (at + 1) & mask {
		s := &t.slots[at]
		if s.group == 0 {
			t.rows = append(t.rows, row)
			*s = hostSlot{key, uint32(len(t.rows))}
			if 2*len(t.rows) > len(t.slots) {
				t.grow()
			}
			return uint32(len(t.rows) - 1)
		}
		if s.key == key && (t.same == nil || key&hashed == 0 || t.same(t.rows[s.group-1], row)) {
			return s.group - 1
		}
	}
}

// grow makes a table of four times as many slots.
func (t *hostTable) grow() {
	old := t.slots
	t.slots = make([]hostSlot, 4*len(old))
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.group == 0 {
			continue
		}
		at := t.seeds.hash(s.key) & mask
		for t.slots[at].group != 0 {
			at = (at + 1) & mask
		}
		t.slots[at] = s
	}
}
