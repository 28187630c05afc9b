package window

import (
	"fmt"
	"math/bits"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// definition is the PTX of a fold for one storage: the holes of the templates in
// cuda/cumulative.cu. cuda/holes.cuh has their arguments.
type definition struct {
	// none is the identity: an immediate for each word of the accumulator.
	none []ptx.Register
	fold ptx.Code
	// absorbs is nil for a fold that absorbs nothing.
	absorbs ptx.Code
	// widen and narrow are nil if the accumulator has the value's bits.
	widen, narrow ptx.Code
	// rounds is set if the fold is not associative; the accumulator has 64 bits.
	rounds bool
}

// integers defines a fold of one instruction, such as "add.u", whose number of bits is
// appended, on integers of up to 64 bits. An integer of any sign is folded as an unsigned
// word: the low bits of the result do not depend on the high bits of the values.
func integers(s storage, operation string, none uint64) definition {
	word := s.wordBits()
	if word == 32 {
		none = uint64(uint32(none))
	}
	return definition{
		none: []ptx.Register{immediate(none)},
		fold: instruction(fmt.Sprintf("%s%d", operation, word)),
	}
}

// immediate returns a number as an operand.
func immediate(x uint64) ptx.Register { return ptx.Register(fmt.Sprintf("%#x", x)) }

// instruction returns the code of one instruction.
func instruction(name string) ptx.Code {
	return func(b *ptx.Builder, results, arguments []ptx.Register) { b.Move(name, results[0], arguments...) }
}

// wordBits is the number of bits of the words in which values are folded that have no
// other accumulator.
func (s storage) wordBits() int { return 8 * min(max(s.bytes, 4), 8) }

func (d definition) foldedBytes(s storage) int {
	if d.rounds {
		return 8
	}
	return max(s.bytes, 4)
}

// holes returns the code for the holes of the template.
func (d definition) holes(s storage) map[string]ptx.Hole {
	values, words := max(s.bytes/8, 1), len(d.none)
	copied := copyWords(min(8*d.foldedBytes(s), 64))
	hole := func(results, arguments int, code, otherwise ptx.Code) ptx.Hole {
		if code == nil {
			code = otherwise
		}
		return ptx.Function{Results: results, Arguments: arguments, Code: code}.Hole()
	}
	return map[string]ptx.Hole{
		"none":    hole(words, 0, func(b *ptx.Builder, results, _ []ptx.Register) { copied(b, results, d.none) }, nil),
		"fold":    hole(words, 2*words, d.fold, nil),
		"absorbs": hole(1, 2*words, d.absorbs, never),
		"widen":   hole(words, values+1, d.widen, copied),
		"narrow":  hole(values, words+1, d.narrow, copied),
	}
}

// copyWords returns the code that copies arguments of a number of bits to the results.
func copyWords(bits int) ptx.Code {
	move := fmt.Sprintf("mov.b%d", bits)
	return func(b *ptx.Builder, results, arguments []ptx.Register) {
		for i, result := range results {
			b.Move(move, result, arguments[i])
		}
	}
}

// never is the code of a condition that does not hold.
func never(b *ptx.Builder, results, _ []ptx.Register) { b.Move("mov.b32", results[0], "0") }

// template returns the entry of cuda/cumulative.cu for a storage.
func (d definition) template(s storage) string {
	switch {
	case d.rounds:
		return fmt.Sprintf("rounded_%d", 8*s.bytes)
	case s.bytes == 8 && d.absorbs == nil:
		return "exact_kept_64"
	}
	return fmt.Sprintf("exact_%d", 8*s.bytes)
}

// instances are the kernels of a fold, indexed by whether values are floats and by the
// logarithm of their size.
type instances [2][5]instance

// instance is the kernel of a fold for one storage.
type instance struct {
	kernelset.Instance
	foldedBytes int // the size of the accumulator
}

// newInstances returns the kernels of a fold. define returns its definition for the
// storages that the fold takes.
func newInstances(name string, define func(storage) definition) *instances {
	all := new(instances)
	for float := range all {
		for log := range all[float] {
			s, entry := storage{layout.Unsigned, 1 << log}, fmt.Sprintf("%s_%d", name, 8<<log)
			if float == 1 {
				s, entry = storage{layout.Float, 1 << log}, fmt.Sprintf("%s_f%d", name, 8<<log)
			}
			d := define(s)
			all[float][log] = instance{foldedBytes: d.foldedBytes(s), Instance: kernelset.Instance{
				Template: d.template(s), Entry: entry,
				Holes: func() map[string]ptx.Hole { return d.holes(s) },
			}}
		}
	}
	return all
}

func (n *instances) instanceFor(s storage) *instance {
	isFloat := 0
	if s.class == layout.Float {
		isFloat = 1
	}
	return &n[isFloat][bits.TrailingZeros(uint(s.bytes))]
}
