package vector

import (
	"cmp"
	"errors"
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// A search on a GPU compares some rows after others with all queries, as a product of matrices: L2 by |a|² + |b|² − 2ab.
// These numbers have errors, of which the kernels know a bound. So a scan finds each row that may be nearer than the
// farthest neighbour so far, and a few more, and a selection computes the distances of these alone, to all digits. The first
// rows are selected without a scan.
//
// With the rows in any order a scan of n rows after as many others finds about k of them for each query, so that each scan
// can have many times the rows of that before. If a query finds more than there is room for, the scan is repeated with
// half the rows.

// The numbers of cuda/nearest.cu and cuda/nearest.cuh.
const (
	scanTile       = 128
	scanThreads    = 256
	warpThreads    = 32
	selectionRoom  = 4096
	mostNeighbours = 1024
	// tensorShared is the shared memory of a scan with tensor cores.
	tensorShared = 4 * 2 * scanTile * 20 * 4
)

const (
	// groupQueries is the number of queries that are searched together, with 64 MiB of room for what they find. The rows
	// are read from the cache for most of their tiles.
	groupQueries = 4096
	// fewestRows is the least number of rows that are selected without a scan.
	fewestRows = 256
	// mostTiles is the number of tiles of rows that a block scans in its loop, if there are enough blocks.
	mostTiles  = 16
	manyBlocks = 1024
	// tensorError is the error of a product of two numbers that are rounded to 11 bits, as a part of it.
	tensorError = 1.01 / (1 << 10)
)

// tuning has what tests may set.
type tuning struct {
	precision precision
	// fewest is the number of rows that are selected without a scan, room that for rows that a query finds.
	fewest, room int
}

// precision is how a search multiplies.
type precision uint8

const (
	// byDevice uses tensor cores if the GPU has them for TF32.
	byDevice precision = iota
	single
	tensor
)

// deviceSearch is a search on a GPU for a group of queries.
type deviceSearch struct {
	*search
	tensor bool
	// room is that for the rows that a query finds.
	room int
	// Of the rows, see nearest_rows.
	scales, offsets memory.Slice[float32]
	// Of the queries of the group, see nearest_queries and nearest_select.
	slopes, bounds     memory.Slice[float32]
	squares            memory.Slice[float64]
	counts, candidates memory.Slice[uint32]
	most               memory.Slice[uint32]
	// group has the queries of the group, and where their neighbours are written.
	group     matrix
	indices   memory.Slice[int64]
	distances memory.Slice[float32]
}

// deviceScratch returns the sizes of the scratch memory of a search on a GPU.
func deviceScratch(queries, rows, k int) []uint64 {
	group := uint64(min(queries, groupQueries))
	room := uint64(max(selectionRoom-k, 0))
	return []uint64{4 * uint64(rows), 4 * uint64(rows), 4 * group, 4 * group, 8 * group, 4 * group, 4 * group * room, 4}
}

// onDevice is the search on a GPU.
func (s *search) onDevice() error {
	if s.k > mostNeighbours {
		return fmt.Errorf("k is %d, a GPU finds up to %d neighbours: search on the host: %w", s.k, mostNeighbours, device.ErrNotSupported)
	}
	if most := uint64(math.MaxUint32 - mostNeighbours); uint64(s.rows.rows) > most {
		return fmt.Errorf("a batch of %d rows, expected up to %d: divide it: %w", s.rows.rows, most, device.ErrNotSupported)
	}
	block, buffers, err := s.Scratch(deviceScratch(s.queries.rows, s.rows.rows, s.k)...)
	if err != nil {
		return err
	}
	d := deviceSearch{search: s, room: cmp.Or(s.tuning.room, selectionRoom-s.k)}
	d.tensor = s.tuning.precision == tensor || s.tuning.precision == byDevice && s.Stream.Device().Info().ComputeCapability.Major >= 8
	var failures [8]error
	d.scales, failures[0] = memory.Reinterpret[float32](buffers[0])
	d.offsets, failures[1] = memory.Reinterpret[float32](buffers[1])
	d.slopes, failures[2] = memory.Reinterpret[float32](buffers[2])
	d.bounds, failures[3] = memory.Reinterpret[float32](buffers[3])
	d.squares, failures[4] = memory.Reinterpret[float64](buffers[4])
	d.counts, failures[5] = memory.Reinterpret[uint32](buffers[5])
	d.candidates, failures[6] = memory.Reinterpret[uint32](buffers[6])
	d.most, failures[7] = memory.Reinterpret[uint32](buffers[7])
	if err = errors.Join(failures[:]...); err == nil {
		err = d.run()
	}
	return errors.Join(err, block.Release())
}

func (d *deviceSearch) run() error {
	if err := d.weighRows(); err != nil {
		return err
	}
	usual := d.tensor
	for begin := 0; begin < d.queries.rows; begin += groupQueries {
		if d.tensor != usual {
			d.tensor = usual
			if err := d.weighRows(); err != nil {
				return err
			}
		}
		if err := d.take(begin, min(begin+groupQueries, d.queries.rows)); err != nil {
			return err
		}
		if err := d.searchGroup(); err != nil {
			return err
		}
	}
	return nil
}

// take makes queries the group.
func (d *deviceSearch) take(begin, end int) error {
	d.group = matrix{rows: end - begin}
	var failures [4]error
	d.group.values, failures[0] = d.queries.values.Slice(begin*d.dim, end*d.dim)
	if d.queries.valid.Len() > 0 { // groups begin at whole bytes
		d.group.valid, failures[1] = d.queries.valid.Slice(begin/8, (end+7)/8)
	}
	d.indices, failures[2] = d.search.indices.Slice(begin*d.k, end*d.k)
	d.distances, failures[3] = d.search.distances.Slice(begin*d.k, end*d.k)
	return errors.Join(failures[:]...)
}

// searchGroup scans and selects until all rows are done.
func (d *deviceSearch) searchGroup() error {
	if err := d.weighQueries(); err != nil {
		return err
	}
	rows, end := d.rows.rows, 0
	if d.fresh {
		end = min(rows, d.room, max(cmp.Or(d.tuning.fewest, fewestRows), 4*d.k))
	}
	if err := d.counts.Fill(d.Stream, 0); err != nil {
		return err
	}
	// Neighbours of a batch before are merged with none, which makes their bounds.
	if err := d.selectRows(0, end, d.fresh); err != nil {
		return err
	}
	growth := d.room / (4 * d.k)
	step := max(d.room, min(rows, (int(min(d.first, int64(rows)))+end)*max(1, min(growth, 64))))
	for begin := end; begin < rows; {
		if err := cancel.Error(d.Context()); err != nil {
			return err
		}
		end := begin + min(step, rows-begin)
		most, err := d.scan(begin, end)
		if err != nil {
			return err
		}
		if most > d.room {
			if d.tensor && most > (end-begin)/2 {
				if err := d.refine(); err != nil {
					return err
				}
				continue
			}
			step = max((end-begin)/2, d.room)
			continue
		}
		if err := d.selectRows(begin, 0, false); err != nil {
			return err
		}
		step = (end - begin) * max(1, min(d.room/4/max(most, 1), 64))
		begin = end
	}
	return nil
}

// refine continues without tensor cores: their rounding is larger than the distances of the rows from each other.
func (d *deviceSearch) refine() error {
	d.tensor = false
	if err := errors.Join(d.weighRows(), d.weighQueries(), d.counts.Fill(d.Stream, 0)); err != nil {
		return err
	}
	return d.selectRows(0, 0, false)
}

// slack is a bound of the errors of a dot product, in a scan or as the distances have it, as a part of the product
// of the lengths. A sum of n terms in float32 has an error of n · 2⁻²⁴ of the sum of their sizes (Higham, Accuracy and
// Stability of Numerical Algorithms, 2002, section 3.1), and tensor cores may cut off instead of rounding.
func (d *deviceSearch) slack() float64 {
	slack := float64(d.dim+8) / (1 << 22)
	if d.tensor {
		slack += tensorError
	}
	return slack
}

func (d *deviceSearch) vectors(m matrix) any {
	layout := vectorsLayout{values: m.values, valid: m.valid, count: uint64(m.rows), dimension: uint32(d.dim), metric: uint32(d.metric), slack: d.slack()}
	return layout.asArgument()
}

func (d *deviceSearch) weighRows() error {
	if d.rows.rows == 0 {
		return nil
	}
	return d.launchWarps("nearest_rows", d.rows.rows, d.scales, d.offsets, d.vectors(d.rows))
}

func (d *deviceSearch) weighQueries() error {
	return d.launchWarps("nearest_queries", d.group.rows, d.slopes, d.squares, d.vectors(d.group))
}

// launchWarps launches a kernel with a warp for each of n things.
func (d *deviceSearch) launchWarps(entry string, n int, arguments ...any) error {
	f, err := d.Kernel(&set, "nearest", entry)
	if err != nil {
		return err
	}
	grid, err := f.Grid(n*warpThreads, scanThreads, 1, 0)
	if err != nil {
		return err
	}
	return f.Launch(d.Stream, grid, device.Dim3{X: scanThreads}, 0, arguments...)
}

// scan finds rows for the queries, and returns the most that one of them has found.
func (d *deviceSearch) scan(begin, end int) (most int, err error) {
	if err := errors.Join(d.counts.Fill(d.Stream, 0), d.most.Fill(d.Stream, 0)); err != nil {
		return 0, err
	}
	file, entry, shared := "nearest", "nearest_scan", uint32(0)
	if d.tensor {
		file, entry, shared = "nearest_sm80", "nearest_scan_tensor", tensorShared
	}
	f, err := d.Kernel(&set, file, entry)
	if err != nil {
		return 0, err
	}
	queryTiles, rowTiles := tilesOf(d.group.rows), tilesOf(end-begin)
	layout := scanLayout{
		queries: d.group.values, rows: d.rows.values, begin: uint64(begin), end: uint64(end), scales: d.scales, offsets: d.offsets,
		slopes: d.slopes, bounds: d.bounds, counts: d.counts, candidates: d.candidates, queryCount: uint32(d.group.rows), dimension: uint32(d.dim),
		room: uint32(d.room), tiles: uint32(max(1, min(queryTiles*rowTiles/manyBlocks, mostTiles))),
	}
	if d.dim%4 == 0 && (d.group.values.Pointer()|d.rows.values.Pointer())%16 == 0 {
		layout.aligned = 1
	}
	blocks := queryTiles * ((rowTiles-1)/int(layout.tiles) + 1)
	if blocks > math.MaxInt32 {
		return 0, fmt.Errorf("a scan of %d rows by %d queries: divide the batch: %w", end-begin, d.group.rows, device.ErrNotSupported)
	}
	if err := f.Launch(d.Stream, device.Dim3{X: uint32(blocks)}, device.Dim3{X: scanThreads}, shared, layout.asArgument()); err != nil {
		return 0, err
	}
	if f, err = d.Kernel(&set, "nearest", "nearest_most"); err != nil {
		return 0, err
	}
	grid := kernels.GridFor(d.group.rows, scanThreads)
	if err := f.Launch(d.Stream, grid, device.Dim3{X: scanThreads}, 0, d.most, d.counts, uint64(d.group.rows)); err != nil {
		return 0, err
	}
	var word [1]uint32
	err = d.most.Download(d.Context(), d.Stream, word[:])
	return int(word[0]), err
}

func tilesOf(n int) int { return (n-1)/scanTile + 1 }

// selectRows merges rows into the neighbours: those that were found, or every row of a number of them.
func (d *deviceSearch) selectRows(begin, every int, fresh bool) error {
	f, err := d.Kernel(&set, "nearest", "nearest_select")
	if err != nil {
		return err
	}
	layout := selectionLayout{
		queries: d.group.values, rows: d.rows.values, valid: d.rows.valid, squares: d.squares, bounds: d.bounds, counts: d.counts, candidates: d.candidates,
		indices: d.indices, distances: d.distances, begin: uint64(begin), first: d.first, slack: d.slack(), dimension: uint32(d.dim),
		metric: uint32(d.metric), k: uint32(d.k), room: uint32(d.room), every: uint32(every),
	}
	if fresh {
		layout.fresh = 1
	}
	return f.Launch(d.Stream, device.Dim3{X: uint32(d.group.rows)}, device.Dim3{X: scanThreads}, 0, layout.asArgument())
}
