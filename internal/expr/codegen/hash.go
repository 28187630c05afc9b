package codegen

import (
	"fmt"

	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// hash writes the function that package exprtree documents.
func (l *lane) hash(n *exprtree.Node) Value {
	h := hexadecimal(exprtree.HashSeed)
	for _, argument := range n.Arguments {
		v := l.value(argument)
		if l.err != nil {
			return Value{}
		}
		k := kindOf(argument.Type)
		if k.family == text {
			h = l.hashText(h, v)
			continue
		}
		words := l.hashWords(k, v)
		if words == nil {
			return l.fail(n)
		}
		hashed := h
		for i, word := range words {
			// A null is one word.
			if v.Valid != "" && i == 0 {
				word = l.b.Op(ptx.Word64, "selp.b64", word, hexadecimal(exprtree.HashNull), v.Valid)
			}
			next := l.hashWord(hashed, word)
			if v.Valid != "" && i > 0 {
				next = l.b.Op(ptx.Word64, "selp.b64", next, hashed, v.Valid)
			}
			hashed = next
		}
		h = hashed
	}
	if len(n.Arguments) == 0 {
		h = l.b.Op(ptx.Word64, "mov.u64", h)
	}
	return single(h, "")
}

func hexadecimal(word uint64) ptx.Register { return ptx.Register(fmt.Sprintf("0x%016x", word)) }

// hashWord writes exprtree.HashWord.
func (l *lane) hashWord(h, word ptx.Register) ptx.Register {
	op := func(instruction string, operands ...ptx.Register) ptx.Register {
		return l.b.Op(ptx.Word64, instruction, operands...)
	}
	mix := func(x ptx.Register, shift string) ptx.Register {
		return op("xor.b64", x, op("shr.u64", x, ptx.Register(shift)))
	}
	x := op("xor.b64", op("add.s64", h, hexadecimal(exprtree.HashIncrement)), word)
	x = op("mul.lo.u64", mix(x, "30"), hexadecimal(exprtree.HashMultiplier))
	x = op("mul.lo.u64", mix(x, "27"), hexadecimal(exprtree.HashSecond))
	return mix(x, "31")
}

// hashWords returns the words of a value that is not null.
func (l *lane) hashWords(k kind, v Value) []ptx.Register {
	r := v.Registers[0]
	switch k.family {
	case boolean:
		return []ptx.Register{l.b.Op(ptx.Word64, "selp.b64", "1", "0", r)}
	case integer:
		return []ptx.Register{l.convert(k, kind{integer, 64, k.signed}, r)}
	case decimal:
		return v.Registers
	case float:
		double := kind{float, 64, true}
		r = l.convertFloat(k, double, r)
		bits := l.b.Op(ptx.Word64, "mov.b64", r)
		bits = l.b.Op(ptx.Word64, "selp.b64", "0", bits, l.predicate("setp.eq.f64", r, double.float(0)))
		return []ptx.Register{l.b.Op(ptx.Word64, "selp.b64", hexadecimal(exprtree.HashNaN), bits, l.predicate("setp.nan.f64", r, r))}
	}
	return nil
}

// hashText adds a string to a hash.
func (l *lane) hashText(h ptx.Register, v Value) ptx.Register {
	h = l.b.Op(ptx.Word64, "mov.u64", h)
	if v.Valid == "" {
		return l.call(word64, "gpuframe_hash_text", h, v.Registers[0], v.Registers[1], v.Registers[2], v.Registers[3])
	}
	result := l.hashWord(h, hexadecimal(exprtree.HashNull))
	done := l.b.Label()
	l.b.Branch("!"+v.Valid, done)
	hashed := l.call(word64, "gpuframe_hash_text", h, v.Registers[0], v.Registers[1], v.Registers[2], v.Registers[3])
	l.b.Move("mov.u64", result, hashed)
	l.b.Place(done)
	return result
}
