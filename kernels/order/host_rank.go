package order

import (
	"errors"

	"github.com/gpuframe/gpuframe/internal/keys/rowkey"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/parallel"
	"github.com/gpuframe/gpuframe/memory"
)

// ranksOnHost writes the ranks of the rows, which are sorted.
func (o *ordering) ranksOnHost(r ranking, sorted memory.Slice[uint32], out op.Buffers) error {
	host, err := rowkey.NewHost(o.plan)
	if err != nil {
		return err
	}
	rows, rowsErr := sorted.Host()
	to, outErr := out.Values.Host()
	if err := errors.Join(rowsErr, outErr); err != nil {
		return err
	}
	rows = rows[:o.rows]
	width := 4
	if r.method == Average {
		width = 8
	}
	clear(to[o.rows*width:])
	if o.rows == 0 {
		return nil
	}
	w := rankWriter{ranking: r, host: host, rows: rows}
	if r.method == Average {
		w.averages = op.Elements[float64](to)
	} else {
		w.ranks = op.Elements[uint32](to)
	}
	if r.nullsZero && host.Word(0, 0, int(rows[0]))>>(o.plan.Segments[0].WordLength(0)-1) == 0 {
		w.before = -1
	}
	return w.write(o)
}

// rankWriter writes ranks of sorted rows.
type rankWriter struct {
	ranking
	host     *rowkey.Host
	rows     []uint32
	ranks    []uint32
	averages []float64
	// before is added to dense ranks.
	before int
}

// write divides the rows among goroutines. Each begins with the first row of a group of
// equal rows.
func (w *rankWriter) write(o *ordering) error {
	n := len(w.rows)
	count := parallel.Parts(n)
	begins, groups := make([]int, count+1), make([]int, count)
	begins[count] = n
	err := parallel.Run(o.call.Context(), n, count, func(part, begin, _ int) {
		for pairs := w.pairs(); begin > 0 && begin < n && !pairs.Differ(begin); {
			begin++
		}
		begins[part] = begin
	})
	if err != nil {
		return err
	}
	if w.method == Dense && count > 1 {
		err = parallel.Run(o.call.Context(), n, count, func(part, _, _ int) {
			pairs := w.pairs()
			for i := begins[part]; i < begins[part+1]; i = w.end(pairs, i, begins[part+1]) {
				groups[part]++
			}
		})
		if err != nil {
			return err
		}
	}
	return parallel.Run(o.call.Context(), n, count, func(part, _, _ int) {
		dense := w.before
		for _, g := range groups[:part] {
			dense += g
		}
		pairs := w.pairs()
		for i := begins[part]; i < begins[part+1]; {
			end := w.end(pairs, i, begins[part+1])
			dense++
			w.group(i, end, dense)
			i = end
		}
	})
}

// pairs returns the comparisons of a goroutine.
func (w *rankWriter) pairs() *rowkey.Neighbours {
	return w.host.Neighbours(rowkey.Rows{Listed: w.rows}, len(w.rows))
}

// end returns the end of the group that begins with row i.
func (w *rankWriter) end(pairs *rowkey.Neighbours, i, limit int) int {
	for i++; i < limit && w.method != First && !pairs.Differ(i); {
		i++
	}
	return i
}

// group writes the ranks of equal rows.
func (w *rankWriter) group(begin, end, dense int) {
	rank := begin + 1
	switch w.method {
	case Max:
		rank = end
	case Dense:
		rank = dense
	case Average:
		average := (float64(begin+1) + float64(end)) / 2
		for _, row := range w.rows[begin:end] {
			w.averages[row] = average
		}
		return
	}
	for _, row := range w.rows[begin:end] {
		w.ranks[row] = uint32(rank)
	}
}
