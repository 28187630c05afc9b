package kerneltest

import (
	"fmt"
	"math/big"
	"math/bits"
	"testing"

	"github.com/stretchr/testify/require"
)

// word is an integer type of a test, which registers can hold.
type word interface {
	~int16 | ~int32 | ~int64 | ~uint16 | ~uint32 | ~uint64
}

// pairwise runs an instruction on registers of T and compares the results with f.
func pairwise[T word](t *testing.T, b *bench, name string, f func(x, y T) T, skip func(x, y T) bool) {
	t.Helper()
	width := bits.Len64(uint64(maskOf[T]()))
	reg := map[int]string{16: "%h", 32: "%r", 64: "%q"}[width]
	var code string
	for i, from := range []string{"%a", "%b"} {
		if width == 64 {
			code += fmt.Sprintf("mov.b64 %s%d, %s;\n", reg, i, from)
		} else {
			code += fmt.Sprintf("cvt.u%d.u64 %s%d, %s;\n", width, reg, i, from)
		}
	}
	code += fmt.Sprintf("%s %s2, %s0, %s1;\n", name, reg, reg, reg)
	if width == 64 {
		code += "mov.b64 %d, %q2;"
	} else {
		code += fmt.Sprintf("cvt.u64.u%d %%d, %s2;", width, reg)
	}
	rows := operands()
	got := b.each(code, rows)
	for i, row := range rows {
		x, y := T(row[0]), T(row[1])
		if skip != nil && skip(x, y) {
			continue
		}
		require.Equal(t, f(x, y), T(got[i]), "%s %d, %d", name, x, y)
		require.Zero(t, got[i]&^maskOf[T](), "%s: bits above the width", name)
	}
}

func maskOf[T word]() uint64 {
	var all T
	all--
	if all > 0 {
		return uint64(all)
	}
	switch any(all).(type) {
	case int16:
		return 0xffff
	case int32:
		return 0xffffffff
	}
	return ^uint64(0)
}

func integers[T word](t *testing.T, b *bench, kind string) {
	zero := func(_, y T) bool { return y == 0 }
	signed := kind[0] == 's'
	width := bits.Len64(maskOf[T]())
	wide := func(x T) *big.Int {
		if signed {
			return big.NewInt(int64(x))
		}
		return new(big.Int).SetUint64(uint64(x))
	}
	t.Run(kind, func(t *testing.T) {
		pairwise(t, b, "add."+kind, func(x, y T) T { return x + y }, nil)
		pairwise(t, b, "sub."+kind, func(x, y T) T { return x - y }, nil)
		pairwise(t, b, "mul.lo."+kind, func(x, y T) T { return x * y }, nil)
		pairwise(t, b, "mul.hi."+kind, func(x, y T) T {
			p := new(big.Int).Mul(wide(x), wide(y))
			p.Rsh(p, uint(width))
			return T(new(big.Int).And(p, new(big.Int).SetUint64(maskOf[T]())).Uint64())
		}, nil)
		pairwise(t, b, "div."+kind, func(x, y T) T { return x / y }, zero)
		pairwise(t, b, "rem."+kind, func(x, y T) T { return x % y }, zero)
		pairwise(t, b, "min."+kind, func(x, y T) T { return min(x, y) }, nil)
		pairwise(t, b, "max."+kind, func(x, y T) T { return max(x, y) }, nil)
	})
}

func TestIntegers(t *testing.T) {
	b := open(t, Options{})
	integers[int16](t, b, "s16")
	integers[uint16](t, b, "u16")
	integers[int32](t, b, "s32")
	integers[uint32](t, b, "u32")
	integers[int64](t, b, "s64")
	integers[uint64](t, b, "u64")
}

func TestBitwise(t *testing.T) {
	b := open(t, Options{})
	pairwise(t, b, "and.b32", func(x, y uint32) uint32 { return x & y }, nil)
	pairwise(t, b, "or.b64", func(x, y uint64) uint64 { return x | y }, nil)
	pairwise(t, b, "xor.b16", func(x, y uint16) uint16 { return x ^ y }, nil)
	for _, c := range []struct {
		code string
		want func(a, b, c uint64) uint64
	}{
		{"cvt.u32.u64 %r1, %b; shl.b64 %d, %a, %r1;", func(a, b, _ uint64) uint64 { return a << uint32(b) }},
		{"cvt.u32.u64 %r1, %b; shr.u64 %d, %a, %r1;", func(a, b, _ uint64) uint64 { return a >> uint32(b) }},
		{"cvt.u32.u64 %r1, %b; shr.s64 %d, %a, %r1;", func(a, b, _ uint64) uint64 { return uint64(int64(a) >> uint32(b)) }},
		{"cvt.u32.u64 %r1, %b; cvt.u32.u64 %r2, %a; shl.b32 %r3, %r2, %r1; cvt.u64.u32 %d, %r3;",
			func(a, b, _ uint64) uint64 { return uint64(uint32(a) << uint32(b)) }},
		{"cvt.u32.u64 %r1, %b; cvt.u32.u64 %r2, %a; shr.s32 %r3, %r2, %r1; cvt.u64.u32 %d, %r3;",
			func(a, b, _ uint64) uint64 { return uint64(uint32(int32(a) >> uint32(b))) }},
		{"cvt.u32.u64 %r1, %b; cvt.u16.u64 %h2, %a; shr.s16 %h3, %h2, %r1; cvt.u64.u16 %d, %h3;",
			func(a, b, _ uint64) uint64 { return uint64(uint16(int16(a) >> uint32(b))) }},
		{"popc.b64 %r1, %a; cvt.u64.u32 %d, %r1;", func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount64(a)) }},
		{"cvt.u32.u64 %r1, %a; popc.b32 %r1, %r1; cvt.u64.u32 %d, %r1;", func(a, _, _ uint64) uint64 { return uint64(bits.OnesCount32(uint32(a))) }},
		{"clz.b64 %r1, %a; cvt.u64.u32 %d, %r1;", func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros64(a)) }},
		{"cvt.u32.u64 %r1, %a; clz.b32 %r1, %r1; cvt.u64.u32 %d, %r1;", func(a, _, _ uint64) uint64 { return uint64(bits.LeadingZeros32(uint32(a))) }},
		{"brev.b64 %d, %a;", func(a, _, _ uint64) uint64 { return bits.Reverse64(a) }},
		{"cvt.u32.u64 %r1, %a; brev.b32 %r1, %r1; cvt.u64.u32 %d, %r1;", func(a, _, _ uint64) uint64 { return uint64(bits.Reverse32(uint32(a))) }},
		{"bfind.u64 %r1, %a; cvt.u64.u32 %d, %r1;", func(a, _, _ uint64) uint64 { return uint64(uint32(bits.Len64(a) - 1)) }},
		{"not.b64 %d, %a;", func(a, _, _ uint64) uint64 { return ^a }},
		{"neg.s64 %d, %a;", func(a, _, _ uint64) uint64 { return -a }},
		{"cvt.u16.u64 %h1, %a; neg.s16 %h1, %h1; cvt.u64.u16 %d, %h1;", func(a, _, _ uint64) uint64 { return uint64(uint16(-a)) }},
		{"abs.s64 %d, %a;", func(a, _, _ uint64) uint64 { return uint64(max(int64(a), -int64(a))) }},
		{"cvt.u32.u64 %r1,%a; cvt.u32.u64 %r2,%b; cvt.u32.u64 %r3,%c; shf.l.wrap.b32 %r4,%r1,%r2,%r3; cvt.u64.u32 %d,%r4;",
			func(a, b, c uint64) uint64 { return (b<<32 | a&0xffffffff) << (c & 31) >> 32 }},
		{"cvt.u32.u64 %r1,%a; cvt.u32.u64 %r2,%b; cvt.u32.u64 %r3,%c; shf.r.clamp.b32 %r4,%r1,%r2,%r3; cvt.u64.u32 %d,%r4;",
			func(a, b, c uint64) uint64 { return uint64(uint32((b<<32 | a&0xffffffff) >> min(c&0xffffffff, 32))) }},
		{"cvt.u32.u64 %r1,%b; cvt.u32.u64 %r2,%c; bfe.u64 %d, %a, %r1, %r2;", func(a, b, c uint64) uint64 { return field(a, b, c, 63, false) }},
		{"cvt.u32.u64 %r1,%b; cvt.u32.u64 %r2,%c; bfe.s64 %d, %a, %r1, %r2;", func(a, b, c uint64) uint64 { return field(a, b, c, 63, true) }},
		{"cvt.u32.u64 %r0,%a; cvt.u32.u64 %r1,%b; cvt.u32.u64 %r2,%c; bfe.s32 %r3, %r0, %r1, %r2; cvt.u64.u32 %d, %r3;",
			func(a, b, c uint64) uint64 { return field(a, b, c, 31, true) }},
		{"cvt.u32.u64 %r0,%a; cvt.u32.u64 %r1,%b; cvt.u32.u64 %r2,%c; bfe.u32 %r3, %r0, %r1, %r2; cvt.u64.u32 %d, %r3;",
			func(a, b, c uint64) uint64 { return field(a, b, c, 31, false) }},
		{"cvt.u32.u64 %r1,%b; cvt.u32.u64 %r2,%c; bfi.b64 %d, %a, %c, %r1, %r2;", func(a, b, c uint64) uint64 {
			for i := range c & 255 {
				if at := b&255 + i; at < 64 {
					c = c&^(1<<at) | a>>i&1<<at
				}
			}
			return c
		}},
		{"cvt.u32.u64 %r0,%a; cvt.u32.u64 %r1,%b; cvt.u32.u64 %r2,%c; lop3.b32 %r3, %r0, %r1, %r2, 0xca; cvt.u64.u32 %d, %r3;",
			func(a, b, c uint64) uint64 { return uint64(uint32(a&b | ^a&c)) }},
		{"cvt.u32.u64 %r0,%a; cvt.u32.u64 %r1,%b; prmt.b32 %r3, %r0, %r1, 0x7a10; cvt.u64.u32 %d, %r3;", func(a, b, _ uint64) uint64 {
			return a&0xffff | uint64(uint8(int8(a>>16)>>7))<<16 | b>>24&255<<24
		}},
		{"mul.hi.u64 %q1, %a, %b; mad.lo.u64 %d, %a, %b, %q1;", func(a, b, _ uint64) uint64 { h, l := bits.Mul64(a, b); return h + l }},
		{"cvt.u32.u64 %r0,%a; cvt.u32.u64 %r1,%b; mul.wide.s32 %d, %r0, %r1;", func(a, b, _ uint64) uint64 { return uint64(int64(int32(a)) * int64(int32(b))) }},
		{"cvt.u32.u64 %r0,%a; cvt.u32.u64 %r1,%b; mad.wide.u32 %d, %r0, %r1, %c;", func(a, b, c uint64) uint64 { return uint64(uint32(a))*uint64(uint32(b)) + c }},
		// 128 bits: a + b with the carry into c, and a − b with the borrow.
		{"add.cc.u64 %q1, %a, %b; addc.u64 %d, %c, 0;", func(a, b, c uint64) uint64 { _, carry := bits.Add64(a, b, 0); return c + carry }},
		{"sub.cc.s64 %q1, %a, %b; subc.s64 %d, %c, 5;", func(a, b, c uint64) uint64 { _, carry := bits.Sub64(a, b, 0); return c - 5 - carry }},
		{"mad.lo.cc.u64 %q1, %a, %b, %c; madc.hi.u64 %d, %a, %b, 0;", func(a, b, c uint64) uint64 {
			high, low := bits.Mul64(a, b)
			_, carry := bits.Add64(low, c, 0)
			return high + carry
		}},
		{"setp.lt.s64 %p1|%p2, %a, %b; selp.b64 %q1, 1, 2, %p1; selp.b64 %q2, 4, 8, %p2; or.b64 %d, %q1, %q2;", func(a, b, _ uint64) uint64 {
			if int64(a) < int64(b) {
				return 9
			}
			return 6
		}},
		{"setp.ne.u64 %p3, %c, 0; setp.hi.and.u64 %p1|%p2, %a, %b, !%p3; selp.b64 %q1, 1, 2, %p1; selp.b64 %q2, 4, 8, %p2; or.b64 %d, %q1, %q2;",
			func(a, b, c uint64) uint64 {
				switch {
				case c != 0:
					return 2 | 8
				case a > b:
					return 1 | 8
				}
				return 2 | 4
			}},
		{"cvt.u32.u64 %r1, %a; cvt.u32.u64 %r2, %b; set.ge.u32.s32 %r3, %r1, %r2; cvt.u64.u32 %d, %r3;", func(a, b, _ uint64) uint64 {
			return uint64(-truth(int32(a) >= int32(b)))
		}},
		{"mov.b64 {%r1, %r2}, %a; mov.b64 %d, {%r2, %r1};", func(a, _, _ uint64) uint64 { return a<<32 | a>>32 }},
		{"cvt.u32.u64 %r1, %a; mov.b32 {%h1, %h2}, %r1; mov.b64 %d, {%h2, %h1, %h1, %h2};", func(a, _, _ uint64) uint64 {
			l, h := a&0xffff, a>>16&0xffff
			return h | l<<16 | l<<32 | h<<48
		}},
	} {
		rows := operands()
		for i, got := range b.each(c.code, rows) {
			row := rows[i]
			require.Equal(t, c.want(row[0], row[1], row[2]), got, "%s of %#x, %#x, %#x", c.code, row[0], row[1], row[2])
		}
	}
}

// field is bfe as the PTX manual defines it.
func field(a, b, c uint64, most int, signed bool) uint64 {
	position, length := int(b&255), int(c&255)
	var sign, result uint64
	if signed && length > 0 {
		sign = a >> min(position+length-1, most) & 1
	}
	for i := 0; i <= most; i++ {
		bit := sign
		if i < length && position+i <= most {
			bit = a >> (position + i) & 1
		}
		result |= bit << i
	}
	return result
}
