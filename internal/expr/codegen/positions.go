package codegen

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// inputWords are the indices of the argument words of one input; negative for absent
// words.
type inputWords struct {
	// values is the address of the first value. bits is the address of bools; the next
	// word is the number of the first bit.
	values, bits int
	// offsets and data belong to strings. The word after data is the end of the data;
	// for fixed-size strings the word after values is.
	offsets, data int
	// validity is the address of the bitmap; the next word is the number of the first
	// bit.
	validity int
	// length is the number of values of a dictionary, dictionary are its words.
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
	case unknown: // only the null test can use it
	default:
		w.values = l.take(1)
	}
	return w
}
