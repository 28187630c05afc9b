package selection

import (
	"fmt"
	"math"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/codegen"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
	"github.com/gpuframe/gpuframe/internal/op/lookback"
	"github.com/gpuframe/gpuframe/kernels"
)

// predicateKernel is a template filled in with a predicate. The generator makes the
// arguments; it no longer generates code, so it may be shared.
type predicateKernel struct {
	generator *codegen.Generator
	// function is nil if the template has no room for the arguments.
	function *kernels.Function
}

// predicateKernels caches the kernels of all predicates so far.
var predicateKernels codegen.Cache[*predicateKernel]

// predicateSelector selects by a kernel that evaluates a predicate.
type predicateSelector struct {
	program *exprtree.Program
	inputs  []*column.Column
	// small is the kernel that fits has found.
	small *predicateKernel
	// width is the size in bytes of the values of fused columns. single reports that the
	// predicate reads a single column without nulls, which is also the only fused
	// column.
	width  int
	single bool
}

const (
	// parameterBytes is the size limit for the parameters of a kernel.
	parameterBytes = 4096
	// smallParameters, whereParameters and oneParameters are the parameter sizes of
	// compact_small_where, compact_where and compact_one without the predicate's
	// arguments.
	smallParameters = 3*8 + 8*(4*smallColumns+1)
	whereParameters = 4*8 + 8*3 + 8*(2*fusedMost+1)
	oneParameters   = 4*8 + 8*3 + 8*2
)

// newPredicateSelector returns nil if the table has more rows than the kernel can
// count, or the predicate makes strings.
func newPredicateSelector(table *buffer.Buffer, program *exprtree.Program) selector {
	if table.Capacity() > math.MaxUint32-compactRows || codegen.MakesStrings(program) {
		return nil
	}
	s := &predicateSelector{program: program, inputs: make([]*column.Column, len(program.Inputs))}
	for i, input := range program.Inputs {
		s.inputs[i] = table.Column(input)
	}
	return s
}

// kernel returns the kernel of a template and the predicate. Its other parameters take
// others bytes.
func (s *predicateSelector) kernel(call *op.Call, template *compactKernel, others int) (*predicateKernel, error) {
	return predicateKernels.Get(call.Context(), call.Stream.Device(), template.name, s.program, s.inputs, func(dev *device.Device, shape codegen.Shape) (*predicateKernel, error) {
		text, err := perKernel.Entry(template.file, template.name)
		if err != nil {
			return nil, err
		}
		k := new(predicateKernel)
		if k.generator, err = codegen.New(s.program, shape, "arguments"); err != nil {
			return nil, err
		}
		if others+8*k.generator.Words() > parameterBytes {
			return k, nil
		}
		if template == &compactOne4 || template == &compactOne8 {
			k.generator.Give(0)
		}
		if text, err = k.generator.Splice(text, template.name); err != nil {
			return nil, err
		}
		k.function, err = kernelset.Load(dev, text, template.name)
		return k, err
	})
}

// arguments returns the arguments of the predicate. The caller gives them back.
func (s *predicateSelector) arguments(k *predicateKernel) (*kernels.Words, error) {
	w := takeWords()
	if err := k.generator.Arguments(w, s.program, s.inputs); err != nil {
		giveBackWords(w)
		return nil, err
	}
	return w, nil
}

func (s *predicateSelector) fits(call *op.Call) (fits bool, err error) {
	s.small, err = s.kernel(call, &compactSmallWhere, smallParameters)
	return err == nil && s.small.function != nil, err
}

func (s *predicateSelector) few(c *compaction) error {
	arguments, err := s.arguments(s.small)
	if err != nil {
		return err
	}
	defer giveBackWords(arguments)
	return c.parts(func(parts *kernels.Words) error {
		return s.small.function.Launch(c.call.Stream, device.Dim3{X: 1}, device.Dim3{X: smallThreads}, 0,
			c.rows, int64(c.capacity), c.kept, parts, arguments)
	})
}

// prepare marks the columns that the predicate reads as fused if the kernel can keep
// them. All fused columns have one width: 8 bytes if any column has that width.
func (s *predicateSelector) prepare(c *compaction) (uint64, []uint64) {
	fused := 0
	for _, s.width = range []int{8, 4} {
		for i := range c.plan.buffers {
			b := &c.plan.buffers[i]
			if b.units == 1 && b.unit == s.width && b.input >= 0 && fused < fusedMost && s.reads(b.input) {
				b.fused = true
				fused++
			}
		}
		if fused > 0 {
			break
		}
	}
	s.single = fused == 1 && len(s.inputs) == 1 && !nullable(s.inputs[0])
	blocks, segments := tiles(c.capacity, compactRows), uint64(0)
	zeroed := lookback.Bytes(blocks, 4)
	if s.single {
		blocks = tiles(c.capacity, oneRows)
		zeroed = lookback.ToldBytes(blocks, 4)
		segments = blocks * oneWarps
	}
	if !c.further() {
		return zeroed, nil
	}
	if s.single {
		return zeroed, []uint64{segments * segmentRows / 8, 4 * segments, 8 * segments}
	}
	segments = blocks << whereTileShift
	return zeroed, []uint64{segments * segmentRows / 8, 4 * segments, 8 * blocks}
}

// nullable reports whether a column has a bitmap that may contain nulls.
func nullable(c *column.Column) bool { return c.NullCount() != 0 && c.Buffer(0).Bytes() > 0 }

func (s *predicateSelector) reads(input int) bool {
	for _, i := range s.program.Inputs {
		if i == input {
			return true
		}
	}
	return false
}

// large returns the kernel for a large table, and its launch configuration.
func (s *predicateSelector) large(c *compaction) (k *predicateKernel, grid device.Dim3, threads, shared uint32, err error) {
	template, parameters := &compactWhere4, whereParameters
	// Launch at most as many blocks as run together. Each block loops over tiles.
	blocks, each := tiles(c.capacity, compactRows), whereBlocks
	threads = compactThreads
	switch {
	case s.single:
		template, parameters = &compactOne4, oneParameters
		if s.width == 8 {
			template = &compactOne8
		}
		// One block computes the positions of the other blocks' tiles.
		blocks, each = tiles(c.capacity, oneRows)+1, oneBlocks
		threads, shared = oneThreads, uint32(oneHeld*oneRows*s.width)
	case s.width == 8:
		template = &compactWhere8
	}
	dev := c.call.Stream.Device()
	grid = device.Dim3{X: uint32(min(blocks, uint64(each*dev.Info().Multiprocessors)))}
	if k, err = s.kernel(c.call, template, parameters); err == nil && k.function == nil {
		err = fmt.Errorf("%d columns and literals are too many for one predicate: evaluate parts of it first: %w",
			len(s.program.Types)+len(s.program.Literals), device.ErrNotSupported)
	}
	return k, grid, threads, shared, err
}

func (s *predicateSelector) many(c *compaction) (found, error) {
	k, grid, threads, shared, err := s.large(c)
	if err != nil {
		return found{}, err
	}
	arguments, err := s.arguments(k)
	if err != nil {
		return found{}, err
	}
	results, fused := takeWords(), takeWords()
	defer giveBackWords(arguments, results, fused)
	f := found{shift: whereTileShift}
	if s.single {
		f.shift = 0
	}
	if c.further() {
		f.mask = maskArguments{bits: bits{bytes: c.scratch[0]}, rows: c.rows, capacity: c.capacity}
		f.within, f.bases = c.scratch[1], c.scratch[2]
	}
	for _, region := range []column.Bytes{f.mask.bits.bytes, f.within, f.bases} {
		results.AddAddress(region.Pointer(), region.Block())
	}
	for i := range c.plan.buffers {
		if b := &c.plan.buffers[i]; b.fused {
			fused.AddAddress(b.source.Pointer(), b.source.Block())
			fused.AddAddress(b.out.Pointer(), b.out.Block())
		}
	}
	if !s.single {
		count := len(fused.Values) / 2
		for len(fused.Values) < 2*fusedMost {
			fused.Add(0)
		}
		fused.Add(uint64(count))
	}
	err = k.function.Launch(c.call.Stream, grid, device.Dim3{X: threads}, shared,
		c.zeroed, c.rows, int64(c.capacity), c.kept, results, fused, arguments)
	return f, err
}
