package hashtable

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"math/rand/v2"

	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/memory"
)

// The host finds the first row of each row's group in one of three ways, each in parallel:
// by places (host_places.go) if integers are in a short range, by parts (host_parts.go) if
// there are few groups, and by partitions of the hashes (host_partition.go) if there are many.
//
// Longer keys are words only by their hashes. So rows with equal words are compared with the
// first row of their group once the groups are found: in the order of the rows, where reads
// do not wait for each other. If one differs, all groups are found again by comparing keys in
// the table.

// noRow is no row, and the number of the group of nulls that have none.
const noRow = math.MaxUint32

// hostBlock is the number of rows that are loaded at a time.
const hostBlock = 512

// rowsOnHost returns the number of rows.
func (g *Groups) rowsOnHost() (int, error) {
	if g.rows.Len() == 0 {
		return g.column.Len(), nil
	}
	rows, err := g.rows.Host()
	if err != nil {
		return 0, err
	}
	return int(min(max(rows[0], 0), int64(g.column.Len()))), nil
}

// finder finds the groups on the host.
type finder struct {
	hostKeys
	// nullKey is set if nulls are a group.
	nullKey bool
	// codes has the number of each row's group, or is empty. marks has a bit for each row.
	codes []uint32
	marks []byte
	seeds seeds
	// exact is set if rows of equal words are compared in the table.
	exact bool
}

// findFirstsOnHost marks the first row of each group and, if codes are requested, writes
// them.
func (g *Groups) findFirstsOnHost(ctx context.Context, k keys) error {
	n, err := g.rowsOnHost()
	if err != nil {
		return err
	}
	f := finder{nullKey: g.nullKey(), seeds: newSeeds()}
	var keyErr, codesErr, marksErr error
	f.hostKeys, keyErr = g.hostKeys(k)
	f.codes, codesErr = g.codes.Host()
	f.marks, marksErr = g.firstBits.Host()
	if err := errors.Join(keyErr, codesErr, marksErr); err != nil {
		return err
	}
	clear(f.codes[min(n, len(f.codes)):])
	clear(f.marks)
	return f.find(ctx, n)
}

// hostKeys returns the keys of the column, or of several columns as one.
func (g *Groups) hostKeys(k keys) (hostKeys, error) {
	first, err := k.withNulls(g.valid, g.bit)
	if err != nil || len(g.others) == 0 {
		return first, err
	}
	list := []hostKeys{first}
	for _, c := range g.others {
		k, err := keysOf(c)
		if err != nil {
			return first, err
		}
		valid, bit, err := c.Validity()
		if err != nil { // there is no bitmap
			valid, bit = memory.Slice[uint8]{}, 0
		}
		next, err := k.withNulls(valid, bit)
		if err != nil {
			return first, err
		}
		list = append(list, next)
	}
	return together(list), nil
}

func newSeeds() seeds { return seeds{rand.Uint64(), rand.Uint64() | 1} }

// find marks the first row of each group of n rows, and writes the codes.
func (f *finder) find(ctx context.Context, n int) error {
	if done, err := f.findPlaces(ctx, n); done || err != nil {
		return err
	}
	ok, err := f.findParts(ctx, n)
	if err == nil && !ok {
		if ok, err = f.findPartitions(ctx, n); err == nil && !ok {
			f.exact = true
			_, err = f.findParts(ctx, n)
		}
	}
	return err
}

// load loads the words of rows. Nulls may have any bytes, but offsets of strings that
// cannot be read are an error for values only.
func (k *hostKeys) load(to []uint64, begin int) error {
	err := k.words(to, begin)
	if err == nil || k.valid == nil {
		return err
	}
	for i := range to {
		to[i] = 0
		if k.isValid(begin + i) {
			if err := k.words(to[i:i+1], begin+i); err != nil {
				return err
			}
		}
	}
	return nil
}

// isValid reports whether a row is not null by the bitmap, which is not nil.
func (k *hostKeys) isValid(row int) bool {
	at := k.bit + row
	return k.valid[at/8]>>(at%8)&1 != 0
}

// nullable reports whether a row may be null, and isNull whether a row with a word is.
func (k *hostKeys) nullable() bool { return k.valid != nil || k.last != math.MaxUint64 }

func (k *hostKeys) isNull(row int, word uint64) bool {
	return word > k.last || k.valid != nil && !k.isValid(row)
}

// numbering makes the numbers of groups of the first rows: those of the first rows before it.
type numbering struct {
	// firsts has a bit for each first row, and before the number of these in all words before.
	firsts []uint64
	before []uint32
}

func newNumbering(n int) numbering {
	words := (n + 63) / 64
	return numbering{make([]uint64, words), make([]uint32, words)}
}

// count sets before.
func (m *numbering) count() {
	sum := uint32(0)
	for i, word := range m.firsts {
		m.before[i] = sum
		sum += uint32(bits.OnesCount64(word))
	}
}

// number returns the number of the group with a first row.
func (m *numbering) number(row uint32) uint32 {
	return m.before[row/64] + uint32(bits.OnesCount64(m.firsts[row/64]&(1<<(row%64)-1)))
}

// write writes the bits.
func (m *numbering) write(marks []byte) {
	for i, word := range m.firsts {
		if rest := marks[8*i:]; len(rest) >= 8 {
			binary.LittleEndian.PutUint64(rest, word)
		} else {
			var last [8]byte
			binary.LittleEndian.PutUint64(last[:], word)
			copy(rest, last[:])
		}
	}
}

// markNull marks the first null, counts the first rows, and returns the number of nulls.
func (f *finder) markNull(m *numbering, firstNull uint32) uint32 {
	if firstNull == noRow || !f.nullKey {
		m.count()
		return 0
	}
	m.firsts[firstNull/64] |= 1 << (firstNull % 64)
	m.count()
	return m.number(firstNull)
}

// number marks the first rows, and replaces the first rows in codes by the numbers of their
// groups. Nulls have noRow. Their group begins at firstNull, or they get 0.
func (f *finder) number(ctx context.Context, firsts []uint32, firstNull uint32) error {
	n := len(firsts)
	m := newNumbering(n)
	if err := parallel.Run(ctx, n, parallel.Parts(n), func(_, begin, end int) {
		for at := begin; at < end; at += 64 {
			word := uint64(0)
			for i, first := range firsts[at:min(at+64, end)] {
				if first == uint32(at+i) {
					word |= 1 << i
				}
			}
			m.firsts[at/64] = word
		}
	}); err != nil {
		return err
	}
	null := f.markNull(&m, firstNull)
	m.write(f.marks)
	if len(f.codes) == 0 {
		return nil
	}
	return parallel.Run(ctx, n, parallel.Parts(n), func(_, begin, end int) {
		codes := f.codes[begin:end]
		for i, first := range firsts[begin:end] {
			if first == noRow {
				codes[i] = null
			} else {
				codes[i] = m.number(first)
			}
		}
	})
}

func (g *Groups) countCodesOnHost(ctx context.Context, counts memory.Slice[int64]) error {
	n, err := g.rowsOnHost()
	if err != nil {
		return err
	}
	if err := g.call.WaitIdle(ctx); err != nil {
		return err
	}
	codes, codesErr := g.codes.Host()
	numbers, numbersErr := counts.Host()
	if err := errors.Join(codesErr, numbersErr); err != nil {
		return err
	}
	for _, code := range codes[:n] {
		numbers[code]++
	}
	return nil
}
