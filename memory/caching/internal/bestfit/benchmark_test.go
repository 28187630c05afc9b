package bestfit

import (
	"math/rand/v2"
	"testing"

	"github.com/dustin/go-humanize"
)

// BenchmarkRandom runs RMM's random benchmark with n = 100k. It reports the time per
// step, and the length of the segment divided by the peak of the bytes in use.
func BenchmarkRandom(b *testing.B) {
	for _, maximum := range []uint64{1 << 20, 64 << 20, 1024 << 20} {
		b.Run(humanize.IBytes(maximum), func(b *testing.B) {
			steps := randomSteps(100_000, maximum)
			live := make([]*Node, 0, len(steps))
			var h *heap
			b.ReportAllocs()
			for b.Loop() {
				h = new(heap)
				h.run(steps, live)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(steps)), "ns/step")
			b.ReportMetric(float64(h.length())/float64(h.peak), "reserved/peak")
		})
	}
}

// crowded returns a heap in the middle of the random benchmark at 1 MiB.
func crowded() (h *heap, live []*Node) {
	h = new(heap)
	steps := randomSteps(100_000, 1<<20)
	live = h.run(steps[:len(steps)*7/10], nil)
	return h, live
}

// BenchmarkCrowded releases one of about 32,000 runs at random and allocates one of
// a random size.
func BenchmarkCrowded(b *testing.B) {
	h, live := crowded()
	steps := make([]step, 1<<16)
	random := rand.New(rand.NewPCG(2, 3))
	for i := range steps {
		steps[i] = step{bytes: (1 + random.Uint64N(1<<20) + 511) &^ 511, victim: random.IntN(len(live))}
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		step := steps[i%len(steps)]
		i++
		h.release(live[step.victim])
		live[step.victim] = h.allocate(step.bytes)
	}
	b.ReportMetric(float64(h.space.Len()), "runs")
	b.ReportMetric(float64(h.free.Len()), "free")
}

// BenchmarkPair allocates from a large free run and releases immediately, so that
// everything is in the processor's cache.
func BenchmarkPair(b *testing.B) {
	var h heap
	h.grow(1 << 30)
	b.ReportAllocs()
	for b.Loop() {
		h.release(h.allocate(4096))
	}
}

// BenchmarkEqual uses 65,536 runs of one size, half of which are free and none of
// which can be joined. It inserts or removes a random run, and removes and reinserts
// the best fit: one class holds them all.
func BenchmarkEqual(b *testing.B) {
	var (
		space Space
		free  Set
		nodes []*Node
	)
	for i := range uint64(1 << 16) {
		nodes = append(nodes, space.Add(i<<22, 2<<20))
		if i%2 == 0 {
			free.Insert(&space, nodes[i])
		}
	}
	random := rand.New(rand.NewPCG(4, 5))
	random.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		n := nodes[i%len(nodes)]
		i++
		if !free.Insert(&space, n) {
			free.Remove(&space, n)
		}
		fit := free.Find(&space, 3<<19)
		free.Remove(&space, fit)
		free.Insert(&space, fit)
	}
}
