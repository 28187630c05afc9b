package codegen

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// bit is a loaded word and the mask of one of its bits. It is tested only when it is
// used: a test here would wait for one load before the next is issued.
type bit struct{ word, mask ptx.Register }

// test returns the predicate that the bit is set.
func (t *bit) test(b *ptx.Builder) ptx.Register {
	return b.Op(ptx.Predicate, "setp.ne.u32", b.Op(ptx.Word32, "and.b32", t.word, t.mask), "0")
}

// bit loads the bit of a row: the bits begin at the address in a word, with the bit of
// the number in the next word.
func (l *loader) bit(word int, bits Bits, p rowIndex) *bit {
	if p.packed {
		return l.packedBits(word, p, false)
	}
	instruction, address, mask := l.bitAt(word, bits, p)
	return &bit{l.read(ptx.Word32, instruction, address), mask}
}

// valid loads the bit of a row from a validity bitmap. Without the bitmap it is one.
func (l *loader) valid(word int, shape Input, p rowIndex) *bit {
	switch {
	case p.packed:
		return l.packedBits(word, p, shape.Optional)
	case !shape.Optional:
		return l.bit(word, shape.Validity, p)
	}
	instruction, address, mask := l.bitAt(word, shape.Validity, p)
	return &bit{l.readIfPresent(word, instruction, address), mask}
}

// readIfPresent loads from a bitmap with its address in a word, or ones if that is zero.
func (l *loader) readIfPresent(word int, instruction string, address ptx.Register) ptx.Register {
	present := l.once(fmt.Sprint("v", word), func() ptx.Register {
		return l.b.Op(ptx.Predicate, "setp.ne.u64", l.word(word), "0")
	})
	guard := l.guard
	defer func() { l.guard = guard }()
	l.guard = l.b.Both(guard, present)
	loaded := l.absent(ptx.Word32, "0xffffffff")
	l.b.Void(l.when()+load+instruction, loaded, address)
	return loaded
}

// bitAt returns the instruction that loads the word or byte with the bit of a row, its
// address, and the mask of the bit.
func (l *loader) bitAt(word int, bits Bits, p rowIndex) (instruction string, address, mask ptx.Register) {
	unit := 32
	instruction = "u32"
	if bits == ByteBits {
		unit, instruction = 8, "u8"
	}
	row := p.row
	if p.add%unit != 0 {
		row = l.once(fmt.Sprint("r", p.row, p.add), func() ptx.Register { return l.plus(p) })
		p.add = 0
	}
	position := func() ptx.Register {
		return l.once(fmt.Sprint("p", word, row), func() ptx.Register {
			if p.short {
				return l.b.Op(ptx.Word32, "add.u32", row, l.argument(ptx.Word32, "u32", word+1))
			}
			return l.b.Op(ptx.Word64, "add.s64", row, l.word(word+1))
		})
	}
	base := l.once(fmt.Sprint("b", word, row), func() ptx.Register {
		if p.short {
			unitOf := l.b.Op(ptx.Word32, "shr.u32", position(), number(log2(unit)))
			return l.b.Op(ptx.Word64, "mad.wide.u32", unitOf, number(unit/8), l.word(word))
		}
		offset := l.b.Op(ptx.Word64, "shr.u64", position(), number(log2(unit)))
		if unit == 32 {
			offset = l.b.Op(ptx.Word64, "shl.b64", offset, "2")
		}
		return l.b.Op(ptx.Word64, "add.s64", l.word(word), offset)
	})
	mask = l.once(fmt.Sprint("m", word, row), func() ptx.Register {
		low := position()
		if !p.short {
			low = l.b.Op(ptx.Word32, "cvt.u32.u64", low)
		}
		if unit == 32 { // by the last five bits of its number
			return l.b.Op(ptx.Word32, "shf.l.wrap.b32", "0", "1", low)
		}
		return l.b.Op(ptx.Word32, "shl.b32", "1", l.b.Op(ptx.Word32, "and.b32", low, number(unit-1)))
	})
	return instruction, at(base, p.add/8), mask
}
