package window

import (
	"errors"
	"math/bits"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/keys/numbers"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/aggregate"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/memory"
)

// isOfDecimals reports whether a function of values of a type is a sum or a mean of decimals.
func (f Function) isOfDecimals(t arrow.DataType) bool {
	return t.ID() == arrow.DECIMAL128 && (f.kind == sumOf || f.kind == meanOf)
}

// decimalResult returns the type of a sum or a mean of decimals.
func (f Function) decimalResult(t *arrow.Decimal128Type) arrow.DataType {
	if f.kind == meanOf {
		return aggregate.MeanOfDecimals(t)
	}
	return &arrow.Decimal128Type{Precision: 38, Scale: t.Scale}
}

// decimals is a sum or a mean of the decimals of each frame. The words of a decimal are integers of 32
// bits. The sum of those of fewer than 2³¹ rows fits 64 bits, so the folds of integers add up word by word,
// and at last the four sums become one of 192 bits, which nothing overflows.
type decimals struct {
	*arrangement
	call  *op.Call
	in    op.View
	frame *framing
	f     Function
	// words is a word of each decimal, sums are the sums of each word of a frame, and counts are, for a
	// mean, the numbers of values.
	words, counts memory.Slice[uint8]
	sums          [decimalWords]memory.Slice[uint8]
	// factor is that of aggregate.DecimalMean.
	factor uint64
}

// foldDecimals computes the sum or the mean of the decimals of each frame.
func (a *arrangement) foldDecimals(f Function, value *column.Column, t arrow.DataType, frame *framing) (*column.Column, error) {
	call, in, err := a.begin(value)
	if err != nil {
		return nil, err
	}
	d := &decimals{arrangement: a, call: &call, in: in, frame: frame, f: f}
	d.factor = aggregate.MeanFactor(value.Type().(*arrow.Decimal128Type))
	return a.newColumn(&call, t, true, func(out op.Buffers) (err error) {
		n := uint64(a.rows)
		sizes := []uint64{4 * n, 8 * n, 8 * n, 8 * n, 8 * n}
		if f.kind == meanOf {
			sizes = append(sizes, 8*n)
		}
		block, scratch, err := call.Scratch(sizes...)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, block.Release()) }()
		d.words = scratch[0]
		copy(d.sums[:], scratch[1:])
		if f.kind == meanOf {
			d.counts = scratch[1+decimalWords]
		}
		return d.write(out)
	})
}

// write writes the results.
func (d *decimals) write(out op.Buffers) error {
	for i, sums := range d.sums {
		if err := d.findWords(i); err != nil {
			return err
		}
		to := op.Buffers{Values: sums}
		if i == 0 {
			to.Valid = out.Valid // the same for all words
		}
		if err := d.add(i, to); err != nil {
			return err
		}
	}
	if d.f.kind == meanOf {
		counts := d.f
		counts.kind, counts.least = countOf, 0
		by, to := counts.folding(arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Int64)
		if err := d.foldInto(d.call, counts, d.in, by, to, d.frame, op.Buffers{Values: d.counts}); err != nil {
			return err
		}
	}
	return d.join(out)
}

// add adds up a word of the decimals of each frame.
func (d *decimals) add(word int, to op.Buffers) error {
	f, in := d.f, d.in
	f.kind, in.Values = sumOf, d.words
	by := folding{fold: foldIntegers, format: numbers.Type{Class: numbers.Unsigned, Bytes: 4}}
	if word == decimalWords-1 {
		by.format.Class = numbers.Signed
	}
	return d.foldInto(d.call, f, in, by, writing{result: resultInteger, least: uint64(f.least), bytes: 8}, d.frame, to)
}

// findWords copies a word of each decimal.
func (d *decimals) findWords(word int) error {
	if !d.call.OnHost() {
		return d.launchRows("decimals_word", d.rows, d.in.Values, uint32(word), d.words)
	}
	from, fromErr := d.in.Values.Host()
	to, toErr := d.words.Host()
	if err := errors.Join(fromErr, toErr); err != nil {
		return err
	}
	values, words := op.Elements[[decimalWords]uint32](from), op.Elements[uint32](to)
	return parallel.Run(d.ctx, d.rows, parallel.Parts(d.rows), func(_, begin, end int) {
		for i := begin; i < end; i++ {
			words[i] = values[i][word]
		}
	})
}

// launchRows launches a kernel of cuda/decimals.cu with a thread for each of n rows.
func (d *decimals) launchRows(name string, n int, arguments ...any) error {
	f, err := d.call.Kernel(&set, "decimals", name)
	if err != nil {
		return err
	}
	grid, err := f.Grid(n, overThreads, 1, 0)
	if err != nil {
		return err
	}
	return f.Launch(d.call.Stream, grid, device.Dim3{X: overThreads}, 0, append(arguments, d.counted, int64(d.rows))...)
}

// join makes results of the sums of the words.
func (d *decimals) join(out op.Buffers) error {
	if !d.call.OnHost() {
		l := wordSumsLayout{sum: d.sums}
		return d.launchRows("decimals_join", (d.rows+31)/32*32, l.asArgument(), d.counts, uint32(d.factor), out.Values, out.Valid)
	}
	return d.joinOnHost(out)
}

func (d *decimals) joinOnHost(out op.Buffers) error {
	values, valuesErr := out.Values.Host()
	valid, validErr := out.Valid.Host()
	counted, countsErr := d.counts.Host()
	if err := errors.Join(valuesErr, validErr, countsErr); err != nil {
		return err
	}
	results, counts := op.Elements[decimal](values), op.Elements[uint64](counted)
	var sums [decimalWords][]uint64
	for i, s := range d.sums {
		bytes, err := s.Host()
		if err != nil {
			return err
		}
		sums[i] = op.Elements[uint64](bytes)
	}
	// The rows of a part share no byte of the validity with those of another one.
	return parallel.Run(d.ctx, (d.rows+7)/8, parallel.Parts(d.rows), func(_, begin, end int) {
		for i := 8 * begin; i < min(8*end, d.rows); i++ {
			results[i] = decimal{}
			if valid[i/8]>>(i%8)&1 == 0 {
				continue
			}
			total := decimalTotal(sums[0][i], sums[1][i], sums[2][i], sums[3][i])
			result, ok := decimal(total[:2]), aggregate.FitsDecimal(total)
			if counts != nil {
				result, ok = aggregate.DecimalMean(total, counts[i], d.factor)
			}
			if ok {
				results[i] = result
			} else {
				valid[i/8] &^= 1 << (i % 8)
			}
		}
	})
}

// decimalTotal returns the sum of decimals of 192 bits, the lowest word first, by the sums of their words.
func decimalTotal(sums ...uint64) (total [3]uint64) {
	for i, sum := range sums {
		sign := uint64(0)
		if i == decimalWords-1 {
			sign = uint64(int64(sum) >> 63)
		}
		part := [3]uint64{sum, sign, sign}
		if i%2 != 0 {
			part = [3]uint64{sum << 32, sum>>32 | sign<<32, sign}
		}
		if i >= 2 {
			part = [3]uint64{0, part[0], part[1]}
		}
		carry := uint64(0)
		for k := range total {
			total[k], carry = bits.Add64(total[k], part[k], carry)
		}
	}
	return total
}
