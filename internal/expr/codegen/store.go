package codegen

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// storer writes stores of a warp's rows to the outputs.
type storer struct {
	b    *ptx.Builder
	rows span
	// addresses are the addresses of the lane's first row or the warp's first word of
	// bits, by the index of the argument word.
	addresses map[int]ptx.Register
	leads     ptx.Register
}

func newStorer(b *ptx.Builder, rows span) *storer {
	return &storer{b: b, rows: rows, addresses: map[int]ptx.Register{}}
}

func (s *storer) output(word int) ptx.Register {
	return s.b.Op(ptx.Word64, "ld.param.u64", ptx.Register(fmt.Sprintf("[outputs+%d]", 8*word)))
}

// first returns the address of the lane's first row of an output.
func (s *storer) first(word, width int) ptx.Register {
	address, ok := s.addresses[word]
	switch {
	case ok:
		return address
	case s.rows.short:
		address = s.b.Op(ptx.Word64, "mad.wide.u32", s.rows.row, number(width), s.output(word))
	default:
		address = s.b.Op(ptx.Word64, "add.s64", s.output(word), s.b.Op(ptx.Word64, "shl.b64", s.rows.row, number(log2(width))))
	}
	s.addresses[word] = address
	return address
}

// values stores the lane's row r.
func (s *storer) values(output output, v Value, r int) {
	guard := ""
	if inside := s.rows.inside; inside != nil {
		guard = "@" + string(inside[r]) + " "
	}
	width := output.kind.bytes()
	address := at(s.first(output.values, width), r*warp*width)
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

// ballot returns the word of the lanes' predicates for row r, with zeros after the last
// row.
func (s *storer) ballot(p ptx.Register, r int) ptx.Register {
	if inside := s.rows.inside; inside != nil {
		p = s.b.Both(p, inside[r])
	}
	return s.b.Op(ptx.Word32, "vote.sync.ballot.b32", p, "0xffffffff")
}

// words stores the warp's words of a bitmap, which all lanes have. The first lane
// stores them, as many at a time as one instruction can. It may store after the end of
// the bitmap, where buffers are padded.
//
// With optional set the address of the bitmap may be zero. Nothing is stored then.
func (s *storer) words(word int, words []ptx.Register, optional bool) {
	if s.leads == "" {
		s.leads = s.b.Op(ptx.Predicate, "setp.eq.u32", s.rows.lane, "0")
	}
	to, stores := s.output(word), s.leads
	if optional {
		stores = s.b.Op(ptx.Predicate, "setp.ne.and.u64", to, "0", s.leads)
	}
	base := s.b.Op(ptx.Word64, "mad.wide.u32", s.rows.chunk, number(4*len(words)), to)
	for i := 0; i < len(words); {
		group := words[i:min(i+4, len(words))] // a power of two, like all of them
		to := at(base, 4*i)
		switch len(group) {
		case 4:
			s.b.Void("@"+string(stores)+" st.global.v4.b32", to, "{"+group[0]+", "+group[1]+", "+group[2]+", "+group[3]+"}")
		case 2:
			s.b.Void("@"+string(stores)+" st.global.v2.b32", to, "{"+group[0]+", "+group[1]+"}")
		default:
			s.b.Void("@"+string(stores)+" st.global.b32", to, group[0])
		}
		i += len(group)
	}
}
