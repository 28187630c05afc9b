package kerneltest

import (
	"fmt"
	"math/rand/v2"

	"github.com/gpuframe/gpuframe/device/backend"
)

func extent(d backend.Dim3) [3]uint32 { return [3]uint32{max(d.X, 1), max(d.Y, 1), max(d.Z, 1)} }

// Launch implements backend.Modules. The kernel runs before Launch returns, after
// what is on the stream.
func (e *emulator) Launch(function backend.Function, config backend.LaunchConfig, slots []uint64, starts []uint32) error {
	k, err := e.kernel(function)
	if err != nil {
		return err
	}
	l := &launch{program: k.program, grid: extent(config.Grid), block: extent(config.Block), dynamicShared: int(config.SharedBytes),
		memory: &e.memory, processors: e.options.Multiprocessors, budget: e.options.Budget, races: !e.options.NoRaces}
	if err := l.check(&k); err != nil {
		return err
	}
	if l.parameters, err = k.program.pack(slots, starts); err != nil {
		return err
	}
	threads := int(l.block[0] * l.block[1] * l.block[2])
	each, err := e.Occupancy(function, threads, config.SharedBytes)
	if err != nil {
		return err
	}
	l.resident = max(each, 1) * e.options.Multiprocessors
	do := func(stream backend.Stream) error { return e.execute(*l, stream) }
	if e.captured(config.Stream, do) {
		return nil
	}
	return do(config.Stream)
}

// execute runs a launch after the earlier work of the stream.
func (e *emulator) execute(l launch, stream backend.Stream) error {
	if err := e.StreamSynchronize(stream); err != nil {
		return err
	}
	e.launches.Lock()
	defer e.launches.Unlock()
	e.launched++
	l.random = rand.New(rand.NewPCG(e.options.Seed, e.launched))
	l.order = shuffled(l.random, uint64(l.grid[0])*uint64(l.grid[1])*uint64(l.grid[2]))
	l.free = spare.take(l.resident)
	err := l.run()
	if err == nil {
		spare.put(l.free)
		return nil
	}
	if !e.options.Tolerant {
		e.test.Errorf("%v", err)
	}
	return fmt.Errorf("%w: %w", err, backend.ErrDeviceLost)
}

func (l *launch) check(k *kernel) error {
	p := l.program
	for _, n := range l.block {
		if n > mostThreads {
			return invalid("Launch", "a block of %v threads", l.block)
		}
	}
	switch threads := int(l.block[0] * l.block[1] * l.block[2]); {
	case threads > p.threads():
		return invalid("Launch", "%s: a block of %d threads, of at most %d", p.name, threads, p.threads())
	case p.required[0] > 0 && l.block != [3]uint32{uint32(p.required[0]), uint32(p.required[1]), uint32(p.required[2])}:
		return invalid("Launch", "%s: a block of %v threads, and the kernel requires %v", p.name, l.block, p.required)
	case l.grid[0] > 1<<31-1 || l.grid[1] > 65535 || l.grid[2] > 65535:
		return invalid("Launch", "%s: a grid of %v blocks", p.name, l.grid)
	case l.dynamicShared > k.dynamic:
		return invalid("Launch", "%s: %d bytes of dynamic shared memory, where %d are allowed", p.name, l.dynamicShared, k.dynamic)
	}
	return nil
}

// shuffled returns a permutation of block numbers. It permutes groups of a random size,
// because GPUs start blocks roughly in order.
func shuffled(random *rand.Rand, n uint64) func(uint64) uint64 {
	group := uint64(1 + random.IntN(16))
	order := random.Perm(int(group))
	return func(i uint64) uint64 {
		if i/group*group+group > n {
			return i
		}
		return i/group*group + uint64(order[i%group])
	}
}
