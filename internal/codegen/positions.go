package codegen

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/exprtree"
	"github.com/gpuframe/gpuframe/internal/layout"
)

// inputWords are the numbers of the argument words of one input; negative for
// what there is none of.
type inputWords struct {
	// values is the address of the first value, bits the address and, in the word
	// behind it, the number of the first bit of bools.
	values, bits int
	// offsets and data are those of strings; behind data is where it ends, which
	// for strings of fixed size is behind values.
	offsets, data int
	// validity is the address and, in the word behind it, the number of the first
	// bit.
	validity int
	// length is how many values a dictionary has, dictionary are its words.
	length     int
	dictionary *inputWords
}

// wordPositions are the positions of inputs and literals among the argument words.
type wordPositions struct {
	inputs   []inputWords
	literals []int
	words    int
}

func positionsOf(program *exprtree.Program, shape Shape) wordPositions {
	var l wordPositions
	for i, t := range program.Types {
		l.inputs = append(l.inputs, l.input(t, shape.Inputs[i]))
	}
	for i, literal := range program.Literals {
		l.literals = append(l.literals, l.words)
		switch class := shape.Literals[i]; {
		case class > ValueLiteral:
			l.words += 1 + class.words() // length, then bytes
		case kindOf(literal.Type).family == decimal:
			l.words += 2
		default:
			l.words++
		}
	}
	return l
}

func (l *wordPositions) take(words int) int {
	l.words += words
	return l.words - words
}

func (l *wordPositions) input(t arrow.DataType, shape Input) inputWords {
	w := inputWords{values: -1, bits: -1, offsets: -1, data: -1, validity: -1}
	if shape.Validity != NoBits {
		w.validity = l.take(2)
	}
	if dictionary, ok := layout.Storage(t).(*arrow.DictionaryType); ok {
		w.values = l.take(2)
		w.length = w.values + 1
		values := l.input(dictionary.ValueType, *shape.Dictionary)
		w.dictionary = &values
		return w
	}
	switch kindOf(t).family {
	case boolean:
		w.bits = l.take(2)
	case text:
		if layout.Storage(t).ID() == arrow.FIXED_SIZE_BINARY {
			w.values = l.take(2)
			w.data = w.values
		} else {
			w.offsets = l.take(3)
			w.data = w.offsets + 1
		}
	case unknown: // only whether it is null can be asked
	default:
		w.values = l.take(1)
	}
	return w
}
