package vector

import (
	"errors"
	"math"
	"runtime"
	"slices"

	"github.com/gpuframe/gpuframe/internal/op/parallel"
)

// tileBytes is the size of a tile of rows, which stays in the processor's cache for all queries of a block.
const (
	tileBytes    = 128 << 10
	blockQueries = 64
)

// hostSearch is a search in memory that the processor reads. Keys are distances that the least is the nearest of: dot
// products are negated while it runs.
type hostSearch struct {
	*search
	queries, rows hostMatrix
	indices       []int64
	keys          []float32
	// queryNorms and rowNorms are the lengths of the vectors, for the cosine.
	queryNorms, rowNorms []float32
}

// onHost searches on several goroutines. Each takes queries or, if these are few, rows.
func (s *search) onHost() error {
	h := hostSearch{search: s}
	var failures [4]error
	h.queries, failures[0] = s.queries.host(s.dim)
	h.rows, failures[1] = s.rows.host(s.dim)
	h.indices, failures[2] = s.indices.Host()
	h.keys, failures[3] = s.distances.Host()
	if err := errors.Join(failures[:]...); err != nil {
		return err
	}
	queries, rows := s.queries.rows, s.rows.rows
	if s.metric == Cosine {
		h.queryNorms, h.rowNorms = h.queries.norms(queries), h.rows.norms(rows)
	}
	if s.fresh {
		h.empty(0, len(h.indices))
	}
	parts := min(runtime.GOMAXPROCS(0), queries*rows*s.dim/parallel.PartRows+1)
	if queries < parts*blockQueries {
		return h.byRows(min(parts, rows/64+1))
	}
	return parallel.Run(s.Context(), queries, parts, func(_, begin, end int) {
		heaps := h.heaps(begin, end)
		h.scan(heaps, begin, 0, rows)
		h.finish(heaps)
	})
}

// byRows searches for all queries together, each goroutine in some of the rows. Then it merges their heaps.
func (h *hostSearch) byRows(parts int) error {
	heaps := make([][]heap, parts)
	n := h.search.queries.rows
	err := parallel.Run(h.Context(), h.search.rows.rows, parts, func(part, begin, end int) {
		if part == 0 { // adds to the neighbours that exist
			heaps[part] = h.heaps(0, n)
		} else {
			heaps[part] = newHeaps(n, min(h.k, end-begin))
		}
		h.scan(heaps[part], 0, begin, end)
	})
	if err != nil {
		return err
	}
	for _, more := range heaps[1:] {
		for i := range more {
			for j := range more[i].count {
				heaps[0][i].push(more[i].keys[j], more[i].indices[j])
			}
		}
	}
	h.finish(heaps[0])
	return nil
}

// newHeaps returns heaps of at most k rows without any.
func newHeaps(n, k int) []heap {
	heaps, indices, keys := make([]heap, n), make([]int64, n*k), make([]float32, n*k)
	for i := range heaps {
		heaps[i] = heap{indices: indices[i*k : (i+1)*k], keys: keys[i*k : (i+1)*k]}
	}
	return heaps
}

// heaps returns the neighbours of some queries as heaps.
func (h *hostSearch) heaps(begin, end int) []heap {
	heaps := make([]heap, end-begin)
	for i := range heaps {
		from, to := (begin+i)*h.k, (begin+i+1)*h.k
		n := heap{indices: h.indices[from:to], keys: h.keys[from:to]}
		if n.count = slices.Index(n.indices, -1); n.count < 0 {
			n.count = h.k
		}
		slices.Reverse(n.indices[:n.count]) // from the farthest to the nearest is a heap
		slices.Reverse(n.keys[:n.count])
		if h.metric == Dot {
			negate(n.keys[:n.count])
		}
		heaps[i] = n
	}
	return heaps
}

// empty writes that elements are no neighbours.
func (h *hostSearch) empty(begin, end int) {
	for i := begin; i < end; i++ {
		h.indices[i], h.keys[i] = -1, float32(math.NaN())
	}
}

// scan adds rows to the heaps of queries that begin at one. It stops when the context is done.
func (h *hostSearch) scan(heaps []heap, query, begin, end int) {
	tile := max(tileBytes/(4*h.dim)&^3, 4)
	for block := 0; block < len(heaps); block += blockQueries {
		queries := heaps[block:min(block+blockQueries, len(heaps))]
		for from := begin; from < end; from += tile {
			if h.Context().Err() != nil {
				return
			}
			for i := range queries {
				if q := query + block + i; h.queries.isValid(q) {
					h.scanTile(&queries[i], q, from, min(from+tile, end))
				}
			}
		}
	}
}

// scanTile adds rows to the heap of one query, four at a time: their sums do not wait for each other.
func (h *hostSearch) scanTile(to *heap, query, begin, end int) {
	q, row := h.queries.row(query), begin
	for ; row+4 <= end; row += 4 {
		a, b, c, d := h.rows.row(row), h.rows.row(row+1), h.rows.row(row+2), h.rows.row(row+3)
		var sums [4]float32
		if h.metric == L2 {
			sums[0], sums[1], sums[2], sums[3] = squares4(q, a, b, c, d)
		} else {
			sums[0], sums[1], sums[2], sums[3] = products4(q, a, b, c, d)
		}
		for i, sum := range sums {
			h.offer(to, sum, query, row+i)
		}
	}
	for ; row < end; row++ {
		a, sum := h.rows.row(row), float32(0)
		if h.metric == L2 {
			sum, _, _, _ = squares4(q, a, a, a, a)
		} else {
			sum, _, _, _ = products4(q, a, a, a, a)
		}
		h.offer(to, sum, query, row)
	}
}

// offer makes a row a neighbour of a query if it is near enough.
func (h *hostSearch) offer(to *heap, sum float32, query, row int) {
	switch h.metric {
	case Cosine:
		sum = 1 - float32(sum/float32(h.queryNorms[query]*h.rowNorms[row]))
	case Dot:
		sum = -sum
	}
	if to.takes(sum) && h.rows.isValid(row) {
		to.push(sum, h.first+int64(row))
	}
}

// finish sorts neighbours and writes that the others do not exist.
func (h *hostSearch) finish(heaps []heap) {
	for i := range heaps {
		n := &heaps[i]
		count := n.count
		n.sort()
		if h.metric == Dot {
			negate(n.keys[:count])
		}
		for j := count; j < len(n.keys); j++ {
			n.indices[j], n.keys[j] = -1, float32(math.NaN())
		}
	}
}

func negate(keys []float32) {
	for i, key := range keys {
		keys[i] = -key
	}
}

// norms returns the lengths of the vectors.
func (h *hostMatrix) norms(rows int) []float32 {
	norms := make([]float32, rows)
	root := func(x float32) float32 { return float32(math.Sqrt(float64(x))) }
	i := 0
	for ; i+4 <= rows; i += 4 {
		w, x, y, z := lengths4(h.row(i), h.row(i+1), h.row(i+2), h.row(i+3))
		norms[i], norms[i+1], norms[i+2], norms[i+3] = root(w), root(x), root(y), root(z)
	}
	for ; i < rows; i++ {
		a := h.row(i)
		sum, _, _, _ := lengths4(a, a, a, a)
		norms[i] = root(sum)
	}
	return norms
}

// lengths4 returns the squared lengths of four vectors.
func lengths4(a, b, c, d []float32) (w, x, y, z float32) {
	b, c, d = b[:len(a)], c[:len(a)], d[:len(a)]
	for i, v := range a {
		w += float32(v * v)
		x += float32(b[i] * b[i])
		y += float32(c[i] * c[i])
		z += float32(d[i] * d[i])
	}
	return w, x, y, z
}

// products4 returns the dot products of a vector and four others. The conversions forbid to fuse operations.
func products4(q, a, b, c, d []float32) (w, x, y, z float32) {
	a, b, c, d = a[:len(q)], b[:len(q)], c[:len(q)], d[:len(q)]
	for i, v := range q {
		w += float32(v * a[i])
		x += float32(v * b[i])
		y += float32(v * c[i])
		z += float32(v * d[i])
	}
	return w, x, y, z
}

// squares4 returns the squared distances of a vector from four others.
func squares4(q, a, b, c, d []float32) (w, x, y, z float32) {
	a, b, c, d = a[:len(q)], b[:len(q)], c[:len(q)], d[:len(q)]
	for i, v := range q {
		e, f, g, h := v-a[i], v-b[i], v-c[i], v-d[i]
		w += float32(e * e)
		x += float32(f * f)
		y += float32(g * g)
		z += float32(h * h)
	}
	return w, x, y, z
}
