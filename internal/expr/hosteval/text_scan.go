package hosteval

import (
	"bytes"
	endian "encoding/binary"
	"math/bits"
	"slices"
	"sort"
	"unicode"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// textScan computes the operations that read a string and give a bool or an integer. It
// returns nil for other operations.
func (e *evaluation) textScan(n *exprtree.Node) arrow.Array {
	switch n.Op {
	case exprtree.OneOf:
		return e.oneOf(n)
	case exprtree.TableRank:
		return e.tableRank(n)
	}
	var measure func(text []byte) int
	switch n.Op {
	case exprtree.ParseInteger, exprtree.ParseDate:
		return e.parse(n)
	case exprtree.Like:
		units := unitsOf(n.Arguments[1].Value.(string))
		return e.buildTruths(n.Arguments[0], eachText(func(text []byte) bool { return like(text, units) }))
	case exprtree.Seek:
		wanted := []byte(n.Arguments[1].Value.(string))
		if start := n.Arguments[2]; start.Op == exprtree.Literal && start.Value != nil && n.Kind() == exprtree.Int64 {
			at := signed(start.Value)
			return e.buildText(n, eachMeasure(func(text []byte) int { return int(seek(text, wanted, at)) }))
		}
		x, from := e.text(n.Arguments[0]), laneOf[int64](e, n.Arguments[2])
		return build(e, n.Type, func(i int) (int64, bool) {
			text, ok := x(i)
			if !ok || !from.ok(i) {
				return 0, false
			}
			return seek(text, wanted, from.at(i)), true
		})
	case exprtree.CharOffset:
		x, position := e.text(n.Arguments[0]), laneOf[int64](e, n.Arguments[1])
		return build(e, n.Type, func(i int) (int64, bool) {
			text, ok := x(i)
			if !ok || !position.ok(i) {
				return 0, false
			}
			return charOffset(text, position.at(i)), true
		})
	case exprtree.LengthBytes:
		measure = func(text []byte) int { return len(text) }
	case exprtree.LengthChars:
		measure = characters
	case exprtree.SpaceStart:
		measure = func(text []byte) int { return len(text) - len(bytes.TrimLeftFunc(text, unicode.IsSpace)) }
	case exprtree.SpaceEnd:
		measure = func(text []byte) int { return len(bytes.TrimRightFunc(text, unicode.IsSpace)) }
	default:
		return nil
	}
	return e.buildText(n, eachMeasure(measure))
}

// tableRank counts the entries of a literal up to values.
func (e *evaluation) tableRank(n *exprtree.Node) arrow.Array {
	packed := []byte(n.Arguments[1].Value.(string))
	entries := make([]int64, len(packed)/4)
	for i := range entries {
		entries[i] = int64(int32(endian.LittleEndian.Uint32(packed[4*i:]))) - n.Constant*int64(i)
	}
	x := laneOf[int64](e, n.Arguments[0])
	return build(e, n.Type, func(i int) (int64, bool) {
		if !x.ok(i) {
			return 0, false
		}
		count := sort.Search(len(entries), func(at int) bool { return entries[at] > x.at(i) })
		return int64(count), true
	})
}

// oneOf looks the words of values up.
func (e *evaluation) oneOf(n *exprtree.Node) arrow.Array {
	packed := []byte(n.Arguments[1].Value.(string))
	table := make([]uint64, len(packed)/8)
	for i := range table {
		table[i] = endian.LittleEndian.Uint64(packed[8*i:])
	}
	if k := n.Arguments[0].Kind(); len(table) <= fewWords && k != exprtree.Bool && k != exprtree.Float32 && k != exprtree.Float64 {
		return e.oneOfFew(n.Arguments[0], table)
	}
	words, valid := e.words(n.Arguments[0])
	return buildBools(e, func(i int) (bool, bool) {
		_, listed := slices.BinarySearch(table, words(i))
		return listed, valid(i)
	})
}

// fewWords is the number of values up to which each is compared: a search takes branches.
const fewWords = 16

// oneOfFew looks integers up in a short list.
func (e *evaluation) oneOfFew(n *exprtree.Node, table []uint64) arrow.Array {
	x, widen := e.operand(n), lowBits(n.Kind(), 64)
	var words [64]uint64
	return e.bools(func(row int) (truths, valid uint64) {
		block := words[:min(64, e.rows-row)]
		widen(address.BytesOf(block), x.rows(row, len(block)))
		for i, word := range block {
			listed := byte(0)
			for _, value := range table {
				listed |= bit(word == value)
			}
			truths |= uint64(listed) << i
		}
		return truths, x.valid.word(row)
	})
}

// words returns functions that give the word of a row, as Hash defines it, and whether
// the row is not null.
func (e *evaluation) words(n *exprtree.Node) (word func(i int) uint64, valid func(i int) bool) {
	switch n.Kind() {
	case exprtree.Bool:
		x := e.boolsOf(n)
		return func(i int) uint64 { return uint64(bit(x.at(i))) }, x.ok
	case exprtree.Float32:
		x := laneOf[float32](e, n)
		return func(i int) uint64 { return exprtree.HashFloat(float64(x.at(i))) }, x.ok
	case exprtree.Float64:
		x := laneOf[float64](e, n)
		return func(i int) uint64 { return exprtree.HashFloat(x.at(i)) }, x.ok
	}
	x, widen, width := e.operand(n), lowBits(n.Kind(), 64), n.Kind().Bits()/8
	words := make([]uint64, e.rows)
	for row := 0; row < e.rows; row += 64 {
		rows := min(64, e.rows-row)
		widen(address.BytesOf(words[row:row+rows]), x.rows(row, rows)[:rows*width])
	}
	return func(i int) uint64 { return words[i] }, x.valid.at
}

// seek returns the position behind the first occurrence from a position on, or -1.
func seek(text, wanted []byte, from int64) int64 {
	if from < 0 || from > int64(len(text)) {
		return -1
	}
	if at := bytes.Index(text[from:], wanted); at >= 0 {
		return from + int64(at+len(wanted))
	}
	return -1
}

// begins reports whether a byte is the first of a character.
func begins(b byte) bool { return b&0xc0 != 0x80 }

func characters(text []byte) (count int) {
	count = len(text)
	for ; len(text) >= 8; text = text[8:] {
		word := endian.LittleEndian.Uint64(text) // continuation bytes have bit 7 and not bit 6
		if inner := word >> 7 &^ (word >> 6) & 0x0101010101010101; inner != 0 {
			count -= bits.OnesCount64(inner)
		}
	}
	for _, b := range text {
		count -= int(bit(!begins(b)))
	}
	return count
}

func charOffset(text []byte, n int64) int64 {
	if n < 0 {
		n = max(n+int64(characters(text)), 0)
	}
	for i, b := range text {
		if begins(b) {
			if n == 0 {
				return int64(i)
			}
			n--
		}
	}
	return int64(len(text))
}

func unitsOf(pattern string) []uint16 {
	units := make([]uint16, len(pattern)/2)
	for i := range units {
		units[i] = uint16(pattern[2*i]) | uint16(pattern[2*i+1])<<8
	}
	return units
}

// like matches a pattern. If a part after a LikeMany does not match, it is tried one
// byte later.
func like(text []byte, pattern []uint16) bool {
	at, unit := 0, 0
	again, mark := -1, 0 // the unit after the last LikeMany, and the byte it was tried at
	for {
		switch {
		case unit < len(pattern) && pattern[unit] == exprtree.LikeMany:
			unit++
			again, mark = unit, at
			continue
		case at == len(text) && unit == len(pattern):
			return true
		case at == len(text):
			return false
		case unit < len(pattern) && pattern[unit] == exprtree.LikeOne && begins(text[at]):
			for at++; at < len(text) && !begins(text[at]); at++ {
			}
			unit++
			continue
		case unit < len(pattern) && pattern[unit] == uint16(text[at]):
			at++
			unit++
			continue
		case again < 0:
			return false
		}
		mark++
		at, unit = mark, again
	}
}
