package aggregate

import "github.com/gpuframe/gpuframe/internal/ptx"

// emitIf adds an instruction that runs if a predicate holds; "" means always.
func emitIf(b *ptx.Builder, keep ptx.Register, format string, arguments ...any) {
	if keep != "" {
		format, arguments = "@%s "+format, append([]any{keep}, arguments...)
	}
	b.Emit(format, arguments...)
}

// moveIf overwrites registers if a predicate holds.
func moveIf(b *ptx.Builder, keep ptx.Register, to, from []ptx.Register) {
	for i := range to {
		emitIf(b, keep, "mov.b64 %s, %s", to[i], from[i])
	}
}

// name returns the type of a form's values in instructions that compute.
func (f Form) name() string {
	return [...]string{Boolean: "pred", Signed32: "s32", Unsigned32: "u32", Signed64: "s64", Unsigned64: "u64",
		Float32: "f32", Float64: "f64", Wide: "b64"}[f]
}

// extreme returns the instruction of a minimum or maximum.
func (k Kind) extreme() string {
	switch k {
	case MinSigned, MinUnsigned, MinFloat:
		return "min"
	}
	return "max"
}

func wideInteger(b *ptx.Builder, form Form, x ptx.Register) ptx.Register {
	switch form {
	case Boolean:
		return b.Op(ptx.Word64, "selp.b64", "1", "0", x)
	case Signed32:
		return b.Op(ptx.Word64, "cvt.s64.s32", x)
	case Unsigned32:
		return b.Op(ptx.Word64, "cvt.u64.u32", x)
	}
	return x
}

// wideFloat converts a number to float64.
func wideFloat(b *ptx.Builder, form Form, x ptx.Register) ptx.Register {
	switch form {
	case Float32:
		return b.Op(ptx.Word64, "cvt.f64.f32", x)
	case Signed32, Unsigned32, Signed64, Unsigned64:
		return b.Op(ptx.Word64, "cvt.rn.f64."+form.name(), x)
	}
	return x
}

// orNothing returns a float if its row is included, and otherwise −0, because adding −0
// to any number changes no bit. The additions of a lane's rows, each of which depends
// on the previous one, then have no instructions between them.
func orNothing(b *ptx.Builder, form Form, x, keep ptx.Register) ptx.Register {
	switch {
	case keep == "":
		return x
	case form == Float32:
		return b.Op(ptx.Float32, "selp.f32", x, "0f80000000", keep)
	}
	return b.Op(ptx.Word64, "selp.f64", x, "0d8000000000000000", keep)
}

// lessWide returns the predicate that x is less, or greater, than y, in 128 bits.
func lessWide(b *ptx.Builder, greater bool, x, y []ptx.Register) ptx.Register {
	if greater {
		x, y = y, x
	}
	less := b.Op(ptx.Predicate, "setp.lt.s64", x[1], y[1])
	equal := b.Op(ptx.Predicate, "setp.eq.s64", x[1], y[1])
	low := b.Op(ptx.Predicate, "setp.lt.u64", x[0], y[0])
	return b.Op(ptx.Predicate, "or.pred", less, b.Op(ptx.Predicate, "and.pred", equal, low))
}

// before returns the predicate that a candidate of FirstLeast or a similar kind comes
// before another one: by its key, and for equal keys by its row.
func before(b *ptx.Builder, x, y []ptx.Register) ptx.Register {
	keys := len(x) - 1
	earlier := b.Op(ptx.Predicate, "setp.lt.s64", x[keys], y[keys])
	for i := range keys {
		compare := "setp.lt.u64"
		if i == keys-1 {
			compare = "setp.lt.s64"
		}
		equal := b.Op(ptx.Predicate, "setp.eq.s64", x[i], y[i])
		tied := b.Op(ptx.Predicate, "and.pred", equal, earlier)
		earlier = b.Op(ptx.Predicate, "or.pred", b.Op(ptx.Predicate, compare, x[i], y[i]), tied)
	}
	return earlier
}

// key returns a value as the key of FirstLeast and similar kinds. Floats become
// integers in the same order, with one key for both zeros. NaN has the largest key for
// either order.
func key(b *ptx.Builder, kind Kind, form Form, value []ptx.Register) []ptx.Register {
	words := make([]ptx.Register, 0, 3)
	for _, x := range value {
		switch form {
		case Unsigned64:
			x = b.Op(ptx.Word64, "xor.b64", x, immediate(1<<63))
		case Float32, Float64:
			x = wideFloat(b, form, x)
			// −0 + 0 is +0. For negative numbers the other bits are inverted.
			x = b.Op(ptx.Word64, "add.rn.f64", x, zero)
			flip := b.Op(ptx.Word64, "shr.u64", b.Op(ptx.Word64, "shr.s64", x, "63"), "1")
			x = b.Op(ptx.Word64, "xor.b64", x, flip)
		default:
			x = wideInteger(b, form, x)
		}
		if kind == FirstGreatest || kind == FirstGreatestWide {
			x = b.Op(ptx.Word64, "not.b64", x)
		}
		if form == Float32 || form == Float64 {
			suffix := form.name()
			isNaN := b.Op(ptx.Predicate, "setp.nan."+suffix, value[0], value[0])
			x = b.Op(ptx.Word64, "selp.b64", immediate(NoRow), x, isNaN)
		}
		words = append(words, x)
	}
	return words
}
