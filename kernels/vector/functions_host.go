package vector

import (
	"errors"
	"math"

	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
)

// partials is the number of sums: lanes of vectors.cu.
const partials = 8

// nan is the NaN of results: see vectors.cu.
var nan = math.Float64frombits(0x7ff8000000000000)

// onHost computes rows on several goroutines.
func (f function) onHost(call *op.Call, out op.Buffers, x, y lists) error {
	a, rows, err := x.host()
	b, _, yErr := y.host()
	to, outErr := out.Host()
	if err := errors.Join(err, yErr, outErr); err != nil {
		return err
	}
	values := op.Elements[float64](to.Values)
	clear(values)
	elements := max(a.extent, b.extent, rows)
	return parallel.Run(call.Context(), rows, parallel.Parts(elements), func(_, begin, end int) {
		c := computation{operation: f.operation, x: a, y: b}
		if a.number == float4 && b.number == float4 {
			c.left, c.right = op.Elements[float32](a.values), op.Elements[float32](b.values)
		}
		for row := begin; row < end; row++ {
			if row%1024 == 0 && call.Context().Err() != nil {
				return
			}
			if value, ok := c.value(row); ok {
				values[row] = value
				to.SetValid(row)
			}
		}
	})
}

// computation computes a function on one goroutine.
type computation struct {
	operation operation
	x, y      hostLists
	scratch   [2][]float64
	// left and right are the elements if both vectors have float32.
	left, right []float32
}

func (c *computation) value(row int) (value float64, ok bool) {
	begin, count, ok := c.x.span(row)
	otherBegin, otherCount, otherOK := c.y.span(row)
	if !ok || !otherOK || count != otherCount {
		return 0, false
	}
	if c.x.number == float4 && c.y.number == float4 {
		value, ok = compute(c.operation, c.left[begin:begin+count], c.right[otherBegin:otherBegin+count])
	} else {
		value, ok = compute(c.operation, c.x.float64s(begin, count, &c.scratch[0]), c.y.float64s(otherBegin, count, &c.scratch[1]))
	}
	if value != value {
		value = nan
	}
	return value, ok
}

func compute[T float32 | float64](o operation, x, y []T) (value float64, ok bool) {
	switch o {
	case l2Distance:
		return math.Sqrt(squares(x, y)), true
	case norm:
		return math.Sqrt(products(x, x)), true
	case cosineSimilarity:
		lengths := productOfLengths(products(x, x), products(y, y))
		if lengths == 0 {
			return 0, false
		}
		value = products(x, y) / lengths
		switch {
		case value > 1:
			value = 1
		case value < -1:
			value = -1
		}
		return value, true
	}
	return products(x, y), true
}

// productOfLengths is the product of two lengths, of which the squares are given: exact for equal ones, unless the product of the squares
// is very small or large.
func productOfLengths(a, b float64) float64 {
	if squared := float64(a * b); squared >= 0x1p-900 && squared <= 0x1p900 {
		return math.Sqrt(squared)
	}
	return math.Sqrt(a) * math.Sqrt(b)
}

// products is Σ xy in float64. The conversions forbid to fuse operations.
func products[T float32 | float64](x, y []T) float64 {
	var a, b, c, d, e, f, g, h float64
	for len(x) >= partials && len(y) >= partials {
		a += product(x[0], y[0])
		b += product(x[1], y[1])
		c += product(x[2], y[2])
		d += product(x[3], y[3])
		e += product(x[4], y[4])
		f += product(x[5], y[5])
		g += product(x[6], y[6])
		h += product(x[7], y[7])
		x, y = x[partials:], y[partials:]
	}
	switch y = y[:len(x)]; len(x) {
	case 7:
		g += product(x[6], y[6])
		fallthrough
	case 6:
		f += product(x[5], y[5])
		fallthrough
	case 5:
		e += product(x[4], y[4])
		fallthrough
	case 4:
		d += product(x[3], y[3])
		fallthrough
	case 3:
		c += product(x[2], y[2])
		fallthrough
	case 2:
		b += product(x[1], y[1])
		fallthrough
	case 1:
		a += product(x[0], y[0])
	}
	return folded(a, b, c, d, e, f, g, h)
}

// squares is Σ (x−y)² in float64.
func squares[T float32 | float64](x, y []T) float64 {
	var a, b, c, d, e, f, g, h float64
	for len(x) >= partials && len(y) >= partials {
		a += square(x[0], y[0])
		b += square(x[1], y[1])
		c += square(x[2], y[2])
		d += square(x[3], y[3])
		e += square(x[4], y[4])
		f += square(x[5], y[5])
		g += square(x[6], y[6])
		h += square(x[7], y[7])
		x, y = x[partials:], y[partials:]
	}
	switch y = y[:len(x)]; len(x) {
	case 7:
		g += square(x[6], y[6])
		fallthrough
	case 6:
		f += square(x[5], y[5])
		fallthrough
	case 5:
		e += square(x[4], y[4])
		fallthrough
	case 4:
		d += square(x[3], y[3])
		fallthrough
	case 3:
		c += square(x[2], y[2])
		fallthrough
	case 2:
		b += square(x[1], y[1])
		fallthrough
	case 1:
		a += square(x[0], y[0])
	}
	return folded(a, b, c, d, e, f, g, h)
}

func product[T float32 | float64](x, y T) float64 { return float64(float64(x) * float64(y)) }

func square[T float32 | float64](x, y T) float64 {
	d := float64(x) - float64(y)
	return float64(d * d)
}

// folded adds the sums as the lanes of a warp do.
func folded(a, b, c, d, e, f, g, h float64) float64 {
	return ((a + e) + (c + g)) + ((b + f) + (d + h))
}
