package codegen

import (
	"fmt"

	"github.com/gpuframe/gpuframe/kernels/internal/ptx"
)

// storer writes stores to the outputs.
type storer struct {
	b         *ptx.Builder
	addresses map[int]ptx.Register
}

// base is the address of row first of an output, in units of 1 << shift bytes, or
// of so many rows a byte where shift is negative.
func (s *storer) base(word int, first ptx.Register, shift int) ptx.Register {
	if address, ok := s.addresses[word]; ok {
		return address
	}
	begin := s.b.Op(ptx.Word64, "ld.param.u64", ptx.Register(fmt.Sprintf("[outputs+%d]", 8*word)))
	offset := first
	switch {
	case shift > 0:
		offset = s.b.Op(ptx.Word64, "shl.b64", first, number(shift))
	case shift < 0:
		offset = s.b.Op(ptx.Word64, "shr.u64", first, number(-shift))
	}
	address := s.b.Op(ptx.Word64, "add.s64", begin, offset)
	if s.addresses == nil {
		s.addresses = map[int]ptx.Register{}
	}
	s.addresses[word] = address
	return address
}

// values stores the value of row first + add, where inside holds.
func (s *storer) values(output output, v Value, first ptx.Register, add int, inside ptx.Register) {
	guard := ""
	if inside != "" {
		guard = "@" + string(inside) + " "
	}
	width := output.kind.bytes()
	address := at(s.base(output.values, first, log2(width)), add*width)
	if output.kind.family == decimal {
		s.b.Void(guard+"st.global.v2.u64", address, "{"+v.Registers[0]+", "+v.Registers[1]+"}")
		return
	}
	instruction := fmt.Sprintf("st.global.u%d", output.kind.bits)
	if output.kind.family == float {
		instruction = fmt.Sprintf("st.global.f%d", output.kind.bits)
	}
	s.b.Void(guard+instruction, address, v.Registers[0])
}

// ballot is the word of the lanes' predicates.
func (s *storer) ballot(p ptx.Register) ptx.Register {
	return s.b.Op(ptx.Word32, "vote.sync.ballot.b32", p, "0xffffffff")
}

// words stores words of a bitmap, which all lanes have: the first lane as many at a
// time as one instruction takes. first is the number of the first bit, a multiple of
// 32 times as many as there are words.
func (s *storer) words(word int, words []ptx.Register, first, lane ptx.Register) {
	leads := s.b.Op(ptx.Predicate, "setp.eq.u32", lane, "0")
	base := s.base(word, first, -3)
	for i := 0; i < len(words); {
		group := words[i:min(i+4, len(words))] // of a power of two, as all of them are
		to := at(base, 4*i)
		switch len(group) {
		case 4:
			s.b.Void("@"+string(leads)+" st.global.v4.b32", to, "{"+group[0]+", "+group[1]+", "+group[2]+", "+group[3]+"}")
		case 2:
			s.b.Void("@"+string(leads)+" st.global.v2.b32", to, "{"+group[0]+", "+group[1]+"}")
		default:
			s.b.Void("@"+string(leads)+" st.global.b32", to, group[0])
		}
		i += len(group)
	}
}
