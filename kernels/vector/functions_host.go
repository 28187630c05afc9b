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
}

func (c *computation) value(row int) (value float64, ok bool) {
	begin, count, ok := c.x.span(row)
	otherBegin, otherCount, otherOK := c.y.span(row)
	if !ok || !otherOK || count != otherCount {
		return 0, false
	}
	if c.x.number == float4 && c.y.number == float4 {
		value, ok = compute(c.operation, op.Elements[float32](c.x.values)[begin:begin+count], op.Elements[float32](c.y.values)[otherBegin:otherBegin+count])
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
		lengths := math.Sqrt(products(x, x)) * math.Sqrt(products(y, y))
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

// products is Σ xy in float64. The conversions forbid to fuse operations.
func products[T float32 | float64](x, y []T) float64 {
	var a, b, c, d, e, f, g, h float64
	for len(x) >= partials && len(y) >= partials {
		a += float64(float64(x[0]) * float64(y[0]))
		b += float64(float64(x[1]) * float64(y[1]))
		c += float64(float64(x[2]) * float64(y[2]))
		d += float64(float64(x[3]) * float64(y[3]))
		e += float64(float64(x[4]) * float64(y[4]))
		f += float64(float64(x[5]) * float64(y[5]))
		g += float64(float64(x[6]) * float64(y[6]))
		h += float64(float64(x[7]) * float64(y[7]))
		x, y = x[partials:], y[partials:]
	}
	sums := [partials]float64{a, b, c, d, e, f, g, h}
	for i, v := range x {
		sums[i] += float64(float64(v) * float64(y[i]))
	}
	return folded(&sums)
}

// squares is Σ (x−y)² in float64.
func squares[T float32 | float64](x, y []T) float64 {
	var a, b, c, d, e, f, g, h float64
	for len(x) >= partials && len(y) >= partials {
		a += square(float64(x[0]) - float64(y[0]))
		b += square(float64(x[1]) - float64(y[1]))
		c += square(float64(x[2]) - float64(y[2]))
		d += square(float64(x[3]) - float64(y[3]))
		e += square(float64(x[4]) - float64(y[4]))
		f += square(float64(x[5]) - float64(y[5]))
		g += square(float64(x[6]) - float64(y[6]))
		h += square(float64(x[7]) - float64(y[7]))
		x, y = x[partials:], y[partials:]
	}
	sums := [partials]float64{a, b, c, d, e, f, g, h}
	for i, v := range x {
		sums[i] += square(float64(v) - float64(y[i]))
	}
	return folded(&sums)
}

func square(x float64) float64 { return float64(x * x) }

// folded adds the sums as the lanes of a warp do.
func folded(s *[partials]float64) float64 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}
