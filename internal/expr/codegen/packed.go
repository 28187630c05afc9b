package codegen

import (
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// A packed kernel computes on columns of one and two bytes. A lane has groups of eight
// consecutive rows: one load takes the values of a group, 8 or 16 bytes, one byte its
// bits, and one store its results. The other kernels load a value with each
// instruction, which for narrow values is too little to keep the memory busy.
const (
	packedRows = 8
	packedWarp = packedRows * warp
	// mostGroups limits the groups of a lane, for the driver's compile time.
	mostGroups = 4
)

// packs reports whether a packed kernel can compute a program on columns: if inputs and
// outputs are integers of one or two bytes and bools, the groups of values are aligned
// and inside their blocks, and the bits of a group are in one byte.
func packs(program *exprtree.Program, inputs []*column.Column) bool {
	narrow := false
	for i, c := range inputs {
		k := kindOf(program.Types[i])
		switch {
		case c.Dictionary() != nil || !k.packs() || (k.family == boolean || op.Nullable(c)) && c.Offset()%packedRows != 0:
			return false
		case k.family == boolean:
			continue
		}
		narrow = true
		values, group := c.Buffer(1), uint64(packedRows*k.bytes())
		if values.Bytes() == 0 {
			return false
		}
		first := uint64(values.Pointer()) + uint64(c.Offset()*k.bytes())
		last := first + (uint64(c.Len())+packedRows-1)/packedRows*group
		if first%group != 0 || last > uint64(values.Block().Pointer())+values.Block().Bytes() {
			return false
		}
	}
	for _, output := range program.Outputs {
		if !kindOf(output.Type).packs() {
			return false
		}
	}
	return narrow
}

// packs reports whether values are packed: integers of one and two bytes, and bools.
func (k kind) packs() bool { return k.family == boolean || k.family == integer && k.bits <= 16 }

// groupsOfLane returns the number of groups per lane of a packed kernel: a power of two.
func groupsOfLane(g *Generator) int {
	bytes := 0
	for _, input := range g.used() {
		if k := kindOf(g.program.Types[input]); k.family == integer {
			bytes += k.bytes()
		}
	}
	groups := 1
	for groups < mostGroups && 2*groups*packedRows*bytes <= bytesInFlight && 2*groups*packedRows*len(g.program.Nodes) <= mostOperations {
		groups *= 2
	}
	return groups
}

// packed writes the span of groups of eight rows. All lanes of the last warp continue,
// with predicates for their groups.
func packed(b *ptx.Builder, groups int) span {
	s, first, left := chunkOf(b, packedWarp*groups)
	s.packed, s.row = true, b.Op(ptx.Word64, "mad.wide.u32", s.lane, number(packedRows), first)
	s.left = b.Op(ptx.Word32, "sub.s32", left, b.Op(ptx.Word32, "shl.b32", s.lane, number(log2(packedRows))))
	for group := range groups {
		inside := b.Op(ptx.Predicate, "setp.gt.s32", s.left, number(group*packedWarp))
		for range packedRows {
			s.inside = append(s.inside, inside)
		}
	}
	return s
}

// element is a value among the loaded values of a group.
type element struct {
	word ptx.Register
	bit  int
	kind kind
}

// extract returns the value, extended to 32 bits.
func (e *element) extract(b *ptx.Builder) ptx.Register {
	return b.Op(ptx.Word32, "bfe."+e.kind.arithmetic(), e.word, number(e.bit), number(e.kind.bits))
}

// group returns the first row of a packed row's group, and the row's
// number in it.
func (p rowIndex) group() (rowIndex, int) {
	row := p.add % packedRows
	p.add -= row
	return p, row
}

// packed loads the values of a row's group once.
func (l *loader) packed(k kind, word int, p rowIndex) *element {
	group, row := p.group()
	key := func(i int) string { return fmt.Sprint("g", word, p.row, group.add, "-", i) }
	if _, ok := l.addresses[key(0)]; !ok {
		registers := make([]ptx.Register, packedRows*k.bytes()/4)
		list := ""
		for i := range registers {
			registers[i] = l.nothing(ptx.Word32)
			l.addresses[key(i)] = registers[i]
			list += ", " + string(registers[i])
		}
		address := l.address(word, group, k.bytes())
		l.b.Void(l.when()+load+fmt.Sprintf("v%d.u32", len(registers)), ptx.Register("{"+list[2:]+"}"), address)
	}
	bit := row * k.bits
	return &element{word: l.addresses[key(bit/32)], bit: bit % 32, kind: k}
}

// packedBits loads the byte with the bits of a row's group once. With optional set the
// address may be zero, and the bits are then ones.
func (l *loader) packedBits(word int, p rowIndex, optional bool) *bit {
	group, row := p.group()
	bits := l.once(fmt.Sprint("o", word, p.row, group.add), func() ptx.Register {
		base := l.once(fmt.Sprint("pb", word, p.row), func() ptx.Register {
			at := l.b.Op(ptx.Word64, "add.s64", p.row, l.word(word+1))
			return l.b.Op(ptx.Word64, "add.s64", l.word(word), l.b.Op(ptx.Word64, "shr.u64", at, "3"))
		})
		if !optional {
			return l.read(ptx.Word32, "u8", at(base, group.add/8))
		}
		return l.readIfPresent(word, "u8", at(base, group.add/8))
	})
	return &bit{bits, number(1 << row)}
}

// packer writes stores of a lane's groups to the outputs of a packed kernel.
type packer struct {
	b    *ptx.Builder
	rows span
	// addresses are the addresses of the results of the lane's first row, by the index
	// of the argument word.
	addresses map[int]ptx.Register
	// words are the collected results of the current group, by the index of the argument
	// word. Bits have one word.
	words map[int][]ptx.Register
	// masks have a bit for each existing row of a group.
	masks map[int]ptx.Register
}

func newPacker(b *ptx.Builder, rows span) *packer {
	return &packer{b: b, rows: rows, addresses: map[int]ptx.Register{}, words: map[int][]ptx.Register{}, masks: map[int]ptx.Register{}}
}

// first returns the address of the results of the lane's first row, for outputs of a
// number of bits.
func (s *packer) first(word, bits int) ptx.Register {
	address, ok := s.addresses[word]
	if !ok {
		bytes := s.b.Op(ptx.Word64, "mul.lo.u64", s.rows.row, number(bits))
		bytes = s.b.Op(ptx.Word64, "shr.u64", bytes, "3")
		address = s.b.Op(ptx.Word64, "add.s64", newStorer(s.b, s.rows).output(word), bytes)
		s.addresses[word] = address
	}
	return address
}

// value adds the value of row r to its group, and stores the group after its last row.
func (s *packer) value(word int, k kind, value ptx.Register, r int) {
	row, each := r%packedRows, 32/k.bits
	if row == 0 {
		s.words[word] = nil
	}
	if row%each == 0 {
		s.words[word] = append(s.words[word], s.b.Op(ptx.Word32, "mov.b32", value))
	} else {
		last := len(s.words[word]) - 1
		s.words[word][last] = s.b.Op(ptx.Word32, "bfi.b32", value, s.words[word][last], number(row%each*k.bits), number(k.bits))
	}
	if row < packedRows-1 {
		return
	}
	list := ""
	for _, each := range s.words[word] {
		list += ", " + string(each)
	}
	to := at(s.first(word, k.bits), r/packedRows*packedWarp*k.bytes())
	s.b.Void(fmt.Sprintf("@%s st.global.v%d.b32", s.rows.inside[r], len(s.words[word])), to, ptx.Register("{"+list[2:]+"}"))
}

// bit adds the bit of row r to its group, and stores the group's byte after its last
// row: zeros for rows that do not exist. The buffers are padded for whole warps. With
// optional set the address of the bitmap may be zero. Nothing is stored then.
func (s *packer) bit(word int, p ptx.Register, r int, optional bool) {
	row, group := r%packedRows, r/packedRows
	if row == 0 {
		s.words[word] = []ptx.Register{s.b.Op(ptx.Word32, "mov.b32", "0")}
	}
	bits := s.words[word][0]
	s.b.Emit("@%s or.b32 %s, %s, %d", p, bits, bits, 1<<row)
	if row < packedRows-1 {
		return
	}
	base, guard := s.first(word, 1), ""
	if optional {
		present := s.b.Op(ptx.Predicate, "setp.ne.u64", newStorer(s.b, s.rows).output(word), "0")
		guard = "@" + string(present) + " "
	}
	s.b.Void(guard+"st.global.u8", at(base, group*packedWarp/8), s.b.Op(ptx.Word32, "and.b32", bits, s.mask(group)))
}

// mask returns the bits of a group's existing rows.
func (s *packer) mask(group int) ptx.Register {
	mask, ok := s.masks[group]
	if !ok {
		left := s.b.Op(ptx.Word32, "sub.s32", s.rows.left, number(group*packedWarp))
		left = s.b.Op(ptx.Word32, "min.s32", s.b.Op(ptx.Word32, "max.s32", left, "0"), number(packedRows))
		mask = s.b.Op(ptx.Word32, "sub.u32", s.b.Op(ptx.Word32, "shl.b32", "1", left), "1")
		s.masks[group] = mask
	}
	return mask
}

// computePacked writes the computation of a warp's groups.
func (k *elementwise) computePacked(b *ptx.Builder, rows span) (err error) {
	s := newPacker(b, rows)
	_, failure := k.g.evaluate(b, rows.indices(k.rows), nil, func(r int, values []Value) {
		if r == 0 {
			err = k.note(values)
		}
		for i, output := range k.outputs {
			v := values[i]
			if output.kind.family == boolean {
				s.bit(output.values, v.Registers[0], r, false)
			} else {
				s.value(output.values, output.kind, v.Registers[0], r)
			}
			if output.validity >= 0 {
				s.bit(output.validity, v.Valid, r, k.g.shape.optional())
			}
		}
	})
	if failure != nil {
		return failure
	}
	return err
}
