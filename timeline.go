package gpuframe

import (
	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/plan"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/window"
)

// FillForward is the value or, for a null, the last value before it in the partition.
func (e Expr) FillForward() Expr { return e.Last().SkipNulls().cumulative() }

// FillBackward is the value or, for a null, the first value behind it in the partition.
func (e Expr) FillBackward() Expr { return e.First().SkipNulls().behind() }

// Interpolate is the value, as float64, or for a null the value on the line between the last
// value before it and the first value behind it, as if the rows had the same distance. It is
// null before the first and behind the last value of the partition.
func (e Expr) Interpolate() Expr {
	return e.interpolated(RowNumber().Cast(arrow.PrimitiveTypes.Float64))
}

// InterpolateBy is [Expr.Interpolate] for rows at places x, a number or a time: usually the
// key of the order. A row without a place stays null.
func (e Expr) InterpolateBy(x Expression) Expr {
	// The distance from the least place of all rows keeps more digits of a time than the time itself.
	// If its type does not hold it, it is null or has wrapped around to a negative number; the
	// difference of two floats is as good then.
	at := x.expression()
	least := at.Min().Over(By())
	distance := unary(at.Sub(least), window.Real)
	return e.interpolated(Coalesce(If(distance.Ge(0), distance, LitOf(arrow.PrimitiveTypes.Float64, nil)), unary(at, window.Real).Sub(unary(least, window.Real))))
}

// interpolated interpolates by places that are floats.
func (e Expr) interpolated(x Expr) Expr {
	float := arrow.PrimitiveTypes.Float64
	known := If(e.IsValid(), x, LitOf(float, nil))
	x0, x1 := known.FillForward().inheriting(), known.FillBackward().inheriting()
	y0, y1 := e.FillForward().Cast(float), e.FillBackward().Cast(float)
	part := x.Sub(x0).Div(x1.Sub(x0))
	between := Coalesce(e.Cast(float), y0.Add(y1.Sub(y0).Mul(part)))
	between.root = e.Name()
	return between
}

// Session is the number, from 1, of the session of a row: a session ends where the value is
// more than gap above that of the row before. It is of the key of the order, a number or a
// time: ts.Session(30*time.Minute).Over(By(user).OrderBy(ts)). A row without a value, and the
// one behind it, begin a session each.
func (e Expr) Session(gap any) Expr {
	begins := apply(func(list []expr.Expr) expr.Expr { return list[0].Exceeds(list[1], list[2]) }, e, e.Lag(1), operand(gap)).FillNull(true)
	number := If(begins, 1, 0).CumSum().inheriting()
	number.root = e.Name()
	return number
}

// behind gives aggregates the frame of the rows from the current one on.
func (e Expr) behind() Expr {
	return e.eachPart(func(original *part) part {
		p := *original
		p.frame = plan.Frame{Kind: plan.RowsFrame, Low: 0, High: LastRow}
		return p
	})
}

// inheriting gives the functions in the values of windows the window of Over.
func (e Expr) inheriting() Expr {
	return e.eachPart(func(original *part) part {
		p := *original
		p.inherits = true
		return p
	})
}

// inheritance returns a function that returns parts with a window, which inner parts inherit. It keeps
// its results, because parts share inner ones.
func inheritance(w *Window) func(*part) part {
	known := map[*part]part{}
	var within func(*part) part
	within = func(p *part) part {
		result, ok := known[p]
		if !ok {
			result = p.within(w, within)
			known[p] = result
		}
		return result
	}
	return within
}

// within returns a part with a window, and the inner parts that inherit it.
func (p part) within(w *Window, inherit func(*part) part) part {
	p.window = w
	if !p.inherits || len(p.inner) == 0 {
		return p
	}
	var inner parts
	values := make([]Expr, len(p.aggregation.Values))
	for i, v := range p.aggregation.Values {
		values[i] = Expr{value: v, parts: p.inner.readBy(v)}
		if len(values[i].parts) > 0 {
			values[i] = values[i].eachPart(inherit)
		}
	}
	p.aggregation.Values = nil
	for _, v := range values {
		p.aggregation.Values = append(p.aggregation.Values, inner.join(v))
	}
	p.inner = inner
	return p
}

// readBy returns the parts that an expression reads.
func (p parts) readBy(e expr.Expr) parts {
	read := parts{}
	for _, name := range e.Columns() {
		if q, ok := p[name]; ok {
			read[name] = q
		}
	}
	return read
}
