package group

import (
	"errors"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/kernels/order"
	"github.com/gpuframe/gpuframe/kernels/selection"
	"github.com/gpuframe/gpuframe/memory"
)

// On a GPU the numbers of the rows are sorted by group. The rows of a chunk are added up in registers: each thread has an
// element, so neighbouring threads read neighbouring elements. A group within a chunk is stored once; the pieces of a
// group in several chunks are added by atomic operations that commute.

const (
	// vectorThreads is the number of threads of a block of add_vectors.
	vectorThreads = 128
	// threadsPerMultiprocessor is the number of threads of add_vectors that there are rows for, if there are many.
	threadsPerMultiprocessor = 1024
	// fewestChunkVectors is the fewest rows of a chunk: the states of two pieces then take less memory than the rows.
	fewestChunkVectors = 64
)

func (v *vectorReader) layout() vectorsLayout {
	return vectorsLayout{
		list: v.list.layout(), elements: v.elements.layout(), condition: v.condition.layout(), offsets: v.offsets, counts: v.counts,
		size: uint64(v.size), first: uint64(v.first), extent: uint64(v.extent), width: uint32(v.width), conditional: kernelset.Flag(v.condition.form != fromNothing),
	}
}

func (s *vectorSums) layout() totalsLayout { return totalsLayout{sums: s.sums, counts: s.counts} }

// vectorTiling is how the threads of a block share rows and elements.
type vectorTiling struct {
	// columns is the number of neighbouring threads that read a row, tiles how many times these the elements are.
	columns, tiles int
	// chunkRows is the number of rows of each chunk.
	chunkRows, chunks int
}

func newVectorTiling(rows, size, multiprocessors int) (t vectorTiling) {
	for t.columns = 1; t.columns < size && t.columns < vectorThreads; {
		t.columns *= 2
	}
	t.tiles = max((size+t.columns-1)/t.columns, 1)
	chunks := max(multiprocessors*threadsPerMultiprocessor/(t.columns*t.tiles), 1)
	t.chunkRows = max((rows+chunks-1)/chunks, fewestChunkVectors)
	t.chunks = (rows + t.chunkRows - 1) / t.chunkRows
	return t
}

// addVectorsOnDevice adds the vectors of all rows to those of their groups. It waits for the length of lists.
func (r *aggregation) addVectorsOnDevice(v *vectorReader, checked bool, allocate func(...uint64) (*memory.Block, []memory.Slice[uint8], error)) (sums *vectorSums, err error) {
	var scratch release.Stack
	defer func() { err = errors.Join(err, scratch.Release()) }()
	g := r.groups
	var taken memory.Slice[uint8]
	if checked && g.rows > 0 {
		if taken, err = r.findVectors(v, &scratch); err != nil {
			return nil, err
		}
	}
	if sums, err = r.newVectorSums(v.size, allocate); err != nil || g.rows == 0 || sums.groups == 0 {
		return sums, err
	}
	if err := r.addChunks(v, taken, sums, &scratch); err != nil {
		return nil, errors.Join(err, sums.block.Release())
	}
	return sums, nil
}

// findVectors finds the rows that are added, and the length of lists.
func (r *aggregation) findVectors(v *vectorReader, scratch *release.Stack) (taken memory.Slice[uint8], err error) {
	g := r.groups
	block, slices, err := r.call.Scratch(uint64(g.rows), 16)
	if err != nil {
		return taken, err
	}
	scratch.Add(block)
	layout := v.layout()
	if err := slices[1].Fill(r.call.Stream, 0); err != nil {
		return taken, err
	}
	if err := launchGrid(&r.call, "vectors", "vector_rows", g.rows, slices[0], slices[1], layout.asArgument(), g.counted, int64(g.rows)); err != nil || v.width == 0 {
		return slices[0], err
	}
	words, err := memory.Reinterpret[uint64](slices[1])
	if err != nil {
		return taken, err
	}
	var lengths [2]uint64
	if err := words.Download(r.call.Context(), r.call.Stream, lengths[:]); err != nil {
		return taken, err
	}
	if lengths[1] != 0 {
		v.size, err = lengthOf(^lengths[1], lengths[0])
	}
	return slices[0], err
}

// sortedNumbers returns the numbers of the rows in the order of their groups.
func (r *aggregation) sortedNumbers(scratch *release.Stack) (sorted memory.Slice[uint8], err error) {
	numbers, err := selection.RowNumbers(r.groups.numbers, r.rows.RowCount())
	if err != nil {
		return sorted, err
	}
	scratch.Add(numbers)
	table, err := op.TableOf([]string{memberName(0)}, []*column.Column{numbers}, r.rows.Rows())
	if err != nil {
		return sorted, err
	}
	scratch.Add(table)
	rows, err := order.Indices(r.call.Context(), table, []order.Key{{Column: memberName(0)}}, r.scratch())
	if err != nil {
		return sorted, err
	}
	scratch.Add(rows)
	return rows.ValuesRegion()
}

// addChunks adds rows by chunks, and then the pieces of groups that are in several of them.
func (r *aggregation) addChunks(v *vectorReader, taken memory.Slice[uint8], sums *vectorSums, scratch *release.Stack) error {
	g := r.groups
	t := newVectorTiling(g.rows, v.size, r.call.Stream.Device().Info().Multiprocessors)
	block, slices, err := r.call.Scratch(vectorStateBytes*2*uint64(t.chunks)*uint64(v.size), 16*uint64(t.chunks))
	if err != nil {
		return err
	}
	scratch.Add(block)
	segments := segmentsLayout{numbers: g.numbers.AsBytes(), groups: uint64(sums.groups), chunkRows: uint64(t.chunkRows)}
	if sums.groups > 1 {
		if segments.sorted, err = r.sortedNumbers(scratch); err != nil {
			return err
		}
	}
	reader, totals, pieces := v.layout(), sums.layout(), totalsLayout{sums: slices[0], counts: slices[1]}
	f, err := r.call.Kernel(&aggregateSet, "vectors", "add_vectors")
	if err != nil {
		return err
	}
	chunksOfBlock := vectorThreads / t.columns
	grid := device.Dim3{X: uint32((t.chunks + chunksOfBlock - 1) / chunksOfBlock * t.tiles)}
	err = f.Launch(r.call.Stream, grid, device.Dim3{X: vectorThreads}, 0, totals.asArgument(), pieces.asArgument(), reader.asArgument(), segments.asArgument(),
		taken, uint32(t.columns), uint32(t.tiles), g.counted, int64(g.rows))
	for stage := range uint32(2) {
		if err != nil {
			return err
		}
		err = launchGrid(&r.call, "vectors", "join_pieces", 2*t.chunks*max(v.size, 1), totals.asArgument(), pieces.asArgument(), segments.asArgument(),
			uint64(v.size), stage, g.counted, int64(g.rows))
	}
	return err
}

// finishOnDevice writes the sums of the groups, or their means.
func (s *vectorSums) finishOnDevice(call *op.Call, out op.Buffers, isMean bool) error {
	totals := s.layout()
	return launchGrid(call, "vectors", "finish_vectors", s.groups*s.size, out.Values, totals.asArgument(), uint64(s.size), uint64(s.groups), kernelset.Flag(isMean))
}
