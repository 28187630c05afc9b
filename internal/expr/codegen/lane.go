package codegen

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// lane writes the evaluation of one row. It keeps the first error; instructions written
// after it are useless.
type lane struct {
	g      *Generator
	b      *ptx.Builder
	inputs []loaded
	// loads writes the loads that all rows share: literals.
	loads *loader
	// values are the values of nodes by number; both are the conjunctions of two
	// predicates.
	values map[int]Value
	both   map[[2]ptx.Register]ptx.Register
	// bitmaps are the predicates of the validity bitmaps of inputs.
	bitmaps map[ptx.Register]bool
	// days caches the days since 1970 of instants, civil the calendar parts of days.
	days  map[instant]ptx.Register
	civil map[ptx.Register][]ptx.Register
	err   error
}

func newLane(g *Generator, b *ptx.Builder, inputs []loaded, loads *loader) *lane {
	return &lane{g: g, b: b, inputs: inputs, loads: loads, values: map[int]Value{}, both: map[[2]ptx.Register]ptx.Register{},
		bitmaps: map[ptx.Register]bool{}, days: map[instant]ptx.Register{}, civil: map[ptx.Register][]ptx.Register{}}
}

// value writes the evaluation of a node, once.
func (l *lane) value(n *exprtree.Node) Value {
	number := l.g.numbers.numberOf(n)
	v, ok := l.values[number]
	if !ok {
		v = l.compute(n)
		if len(v.Registers) == 0 && l.err == nil {
			l.fail(n)
		}
		if l.err != nil {
			v.Registers = []ptx.Register{"error", "error", "error", "error", "error"}
		}
		v.Type, v.kind = n.Type, kindOf(n.Type)
		v.Class = v.kind.class()
		l.values[number] = v
	}
	return v
}

// fail records that a node cannot be computed.
func (l *lane) fail(n *exprtree.Node) Value {
	if l.err == nil {
		var types []arrow.DataType
		for _, argument := range n.Arguments {
			types = append(types, argument.Type)
		}
		l.err = fmt.Errorf("%v of %v to %v: %w", n.Op, types, n.Type, device.ErrNotSupported)
	}
	return Value{}
}

// and returns the conjunction of two predicates, either of which may be "".
func (l *lane) and(x, y ptx.Register) ptx.Register {
	if x == "" || y == "" || x == y {
		return l.b.Both(x, y)
	}
	key := [2]ptx.Register{x, y}
	p, ok := l.both[key]
	if !ok {
		if l.bitmaps[x] && l.bitmaps[y] {
			p = l.b.Both(x, y) // the only operation of predicates on this pair: see combine
		} else {
			p = combine(l.b, "and", x, y)
		}
		l.both[key] = p
	}
	return p
}

// op adds an instruction with a result of a kind.
func (l *lane) op(k kind, instruction string, operands ...ptx.Register) ptx.Register {
	return l.b.Op(k.class(), instruction, operands...)
}

// predicate adds an instruction with a predicate as result.
func (l *lane) predicate(instruction string, operands ...ptx.Register) ptx.Register {
	return l.b.Op(ptx.Predicate, instruction, operands...)
}

func (l *lane) not(p ptx.Register) ptx.Register { return l.predicate("not.pred", p) }

// never returns a predicate that is always false.
func (l *lane) never() ptx.Register { return l.predicate("setp.ne.u32", "0", "0") }

// single returns the value in one register.
func single(r ptx.Register, valid ptx.Register) Value {
	return Value{Registers: []ptx.Register{r}, Valid: valid}
}

// choose selects between two values of one class: x if p holds.
func (l *lane) choose(p ptx.Register, x, y Value) []ptx.Register {
	registers := make([]ptx.Register, len(x.Registers))
	for i := range registers {
		registers[i] = l.either(p, x.Class, x.Registers[i], y.Registers[i])
	}
	return registers
}

// either selects between two registers of a class.
func (l *lane) either(p ptx.Register, class ptx.Class, x, y ptx.Register) ptx.Register {
	if class == ptx.Predicate {
		return choosePredicate(l.b, p, x, y)
	}
	return l.b.Op(class, "selp."+class.Untyped(), x, y, p)
}

// compute writes one operation.
func (l *lane) compute(n *exprtree.Node) Value {
	switch n.Op {
	case exprtree.Column:
		v := l.inputs[n.Input].extract(l.b)
		if v.Valid != "" {
			l.bitmaps[v.Valid] = true
		}
		switch {
		case len(v.Registers) == 0:
			v.Registers = []ptx.Register{"none"} // only the null test can use it
		case kindOf(n.Type).family == text:
			v.Registers = append(slices.Clone(v.Registers), number(n.Input))
		}
		return v
	case exprtree.Literal:
		return l.literal(n)
	case exprtree.OneOf:
		return l.oneOf(n)
	case exprtree.TableRank:
		return l.tableRank(n)
	case exprtree.Like:
		return l.like(n)
	case exprtree.ByteRange:
		return l.byteRange(n)
	}
	switch n.Op.Family() {
	case exprtree.Arithmetic:
		return l.arithmetic(n)
	case exprtree.Signs:
		return l.sign(n)
	case exprtree.Formulas:
		return l.function(n)
	case exprtree.Bitwise:
		return l.bitwise(n)
	case exprtree.Orders:
		return l.compare(n)
	case exprtree.Logic:
		return l.logic(n)
	case exprtree.NullTests, exprtree.NaNTests, exprtree.Choices:
		return l.nulls(n)
	case exprtree.Affixes:
		return l.textCompare(n)
	case exprtree.Measures:
		return l.textMeasure(n)
	case exprtree.Hashes:
		return l.hash(n)
	case exprtree.DateParts:
		return l.datePart(n)
	case exprtree.Moves:
		return l.moveInstant(n)
	case exprtree.Extremes:
		return l.extreme(n)
	case exprtree.Casts:
		return l.cast(n)
	case exprtree.Functions:
		return l.registered(n, n.Op.Function())
	}
	return l.fail(n)
}

// literal loads a literal from the arguments.
func (l *lane) literal(n *exprtree.Node) Value {
	k := kindOf(n.Type)
	if n.Value == nil {
		class := k.class()
		if class == ptx.Predicate {
			never := l.never()
			return single(never, never)
		}
		zero := l.b.Op(class, "mov."+class.Untyped(), class.Zero())
		return Value{Registers: slices.Repeat([]ptx.Register{zero}, k.registers()), Valid: l.never()}
	}
	word := l.g.positions.literals[n.Slot]
	switch {
	case k.family == boolean:
		loaded := l.loads.argument(ptx.Word32, "u32", word)
		return single(l.predicate("setp.ne.u32", loaded, "0"), "")
	case k.family == decimal:
		return Value{Registers: []ptx.Register{l.loads.word(word), l.loads.word(word + 1)}}
	case k.family == text:
		return Value{Registers: []ptx.Register{"0", l.loads.word(word), "0", "0", number(len(l.g.program.Types) + n.Slot)}}
	case k.family == unknown:
		return l.fail(n)
	}
	return single(l.loads.argument(k.class(), k.class().Untyped(), word), "")
}
