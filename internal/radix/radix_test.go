package radix_test

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/radix"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// pair is a key and the number that travels with it.
type pair struct {
	key    uint64
	number uint32
}

// inputs are keys by name, of any width.
var inputs = map[string]func(i, n int, random *rand.Rand) uint64{
	"random":    func(_, _ int, random *rand.Rand) uint64 { return random.Uint64() },
	"few":       func(_, _ int, random *rand.Rand) uint64 { return random.Uint64N(7) << 30 },
	"ascending": func(i, _ int, _ *rand.Rand) uint64 { return uint64(i) * 3 },
	"descending": func(i, n int, _ *rand.Rand) uint64 {
		return uint64(n-i) * 0x100000001
	},
	"equal": func(int, int, *rand.Rand) uint64 { return 0xabcdef0123456789 },
	// Many equal leading digits, in runs of few rows.
	"short runs": func(i, n int, random *rand.Rand) uint64 {
		return random.Uint64N(uint64(n)/2+1)*0x9e3779b97f4a7c15>>32<<32 | random.Uint64()>>32
	},
	// The highest digits are all distinct, but never the second one: only the sample shows it.
	"correlated": func(_, _ int, random *rand.Rand) uint64 {
		x := random.Uint64N(256)
		return (x<<24|x<<16|x<<8|x)<<32 | random.Uint64()>>32
	},
	"one long run": func(i, n int, random *rand.Rand) uint64 {
		if i%97 == 0 {
			return 0x7777777700000000 | random.Uint64()>>32
		}
		return random.Uint64()
	},
	// The samples of 29,000 and of 30,001 rows have none of a run that is too long to be finished.
	"hidden run": func(i, n int, random *rand.Rand) uint64 {
		if i > n-150 {
			return 0x7777777700000000 | random.Uint64()>>32
		}
		return random.Uint64()
	},
	"last alone": func(i, n int, _ *rand.Rand) uint64 { return uint64(index(i < n-1)) },
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// check sorts on the device and compares with a stable sort of the host. rows of the
// capacity are there.
func check(t *testing.T, mgr *memory.Manager, s radix.Sort, rows int, key func(i int) uint64) {
	t.Helper()
	in := make([]pair, rows)
	for i := range in {
		in[i] = pair{key(i) >> (64 - s.Width), uint32(i)}
		if s.Numbers == radix.PackedNumbers {
			in[i].key = in[i].key>>s.Low<<s.Low | uint64(i)
		}
		if s.Numbers == radix.GivenNumbers {
			in[i].number = ^uint32(i * 5)
		}
	}
	keys, numbers := make([]byte, s.KeyBytes()), make([]byte, s.NumberBytes())
	for i, p := range in {
		if s.Width == 32 {
			op.Elements[uint32](keys)[i] = uint32(p.key)
		} else {
			op.Elements[uint64](keys)[i] = p.key
		}
		if s.Numbers == radix.GivenNumbers {
			op.Elements[uint32](numbers)[i] = p.number
		}
	}
	field := func(p pair) uint64 { return encoded(&s, p.key) << (64 - s.High) >> (64 - s.High + s.Low) }
	slices.SortStableFunc(in, func(a, b pair) int { return cmp.Compare(field(a), field(b)) })

	call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr})
	require.NoError(t, err)
	if s.Rows != rows {
		counted, err := memory.NewSlice[int64](mgr, 1, memory.AllocateOptions{})
		require.NoError(t, err)
		defer counted.Release()
		require.NoError(t, counted.Upload(t.Context(), nil, []int64{int64(rows)}))
		s.Counted = counted
	}
	block, buffers, err := call.Scratch(s.KeyBytes(), s.KeyBytes(), s.NumberBytes(), s.NumberBytes(), s.StateBytes(), s.KeyBytes()+8)
	require.NoError(t, err)
	defer func() { require.NoError(t, block.Release()) }()
	b := radix.Buffers{Keys: [2]memory.Slice[uint8](buffers[:2]), Numbers: [2]memory.Slice[uint8](buffers[2:4]), State: buffers[4]}
	values := b.Keys[s.Source()%2]
	if s.Input { // aligned to a key only
		b.Input, err = buffers[5].Slice(s.Width/8, s.Width/8+int(s.KeyBytes()))
		require.NoError(t, err)
		values = b.Input
	}
	require.NoError(t, values.Upload(t.Context(), nil, keys))
	if s.Numbers == radix.GivenNumbers {
		require.NoError(t, b.Numbers[s.Source()].Upload(t.Context(), nil, numbers))
	}
	require.NoError(t, s.Run(&call, b))
	require.NoError(t, b.Keys[0].Download(t.Context(), nil, keys))
	if len(numbers) > 0 {
		require.NoError(t, b.Numbers[0].Download(t.Context(), nil, numbers))
	}
	for i, want := range in {
		if !s.DropKeys && s.Numbers != radix.PackedNumbers {
			got := uint64(0)
			if s.Width == 32 {
				got = uint64(op.Elements[uint32](keys)[i])
			} else {
				got = op.Elements[uint64](keys)[i]
			}
			if got != want.key {
				t.Fatalf("key %d of %d is %#x, must be %#x", i, rows, got, want.key)
			}
		}
		if s.Numbers != radix.NoNumbers && op.Elements[uint32](numbers)[i] != want.number {
			t.Fatalf("number %d of %d is %d, must be %d", i, rows, op.Elements[uint32](numbers)[i], want.number)
		}
	}
}

// TestSort sorts every input, by one block, by passes over all digits, and by passes over
// leading digits.
func TestSort(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: poisoned(dev)})
		random := rand.New(rand.NewPCG(3, 4))
		const never = 1 << 30
		for name, key := range inputs {
			for _, width := range []int{32, 64} {
				if width == 32 && testing.Short() && name != "random" && name != "ascending" {
					continue
				}
				few := testing.Short() && devicetest.Emulated(dev)
				t.Run(fmt.Sprint(name, width), func(t *testing.T) {
					for _, numbers := range []radix.Numbers{radix.NoNumbers, radix.RowNumbers, radix.GivenNumbers} {
						if numbers == radix.GivenNumbers && name != "random" {
							continue
						}
						for _, n := range []int{1, 2, 33, 700, 4096, 30001} {
							// Sizes alternate, and the largest has numbers once for each input.
							if few && (n == 30001 && (int(numbers) != len(name)%2) || n < 30001 && (n+width/32+int(numbers))%3 != 0) {
								continue
							}
							s := radix.Sort{Width: width, High: width, Rows: n, Numbers: numbers}
							limits := []radix.Limits{{OneBlock: 1, Finishing: 1}}
							if n <= 4096 {
								limits = append(limits, radix.Limits{})
							} else {
								limits = append(limits, radix.Limits{Finishing: never})
							}
							if few {
								limits = limits[:1+n%2*(len(name)+width/32)%2]
							}
							for _, s.Limits = range limits {
								check(t, mgr, s, n, func(i int) uint64 { return key(i, n, random) })
							}
						}
					}
				})
			}
		}
	})
}

// TestFields sorts by some of the bits.
func TestFields(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: poisoned(dev)})
		random := rand.New(rand.NewPCG(5, 6))
		for _, s := range []radix.Sort{
			{Width: 32, High: 1}, {Width: 32, Low: 31, High: 32}, {Width: 32, Low: 3, High: 20}, {Width: 64, Low: 7, High: 48},
			{Width: 64, High: 33, DropKeys: true}, {Width: 64, Low: 32, High: 64, DropKeys: true},
		} {
			for _, n := range []int{500, 13000} {
				for _, s.Limits = range []radix.Limits{{}, {OneBlock: 1, Finishing: 1}} {
					s.Rows, s.Numbers = n, radix.RowNumbers
					check(t, mgr, s, n, func(int) uint64 { return random.Uint64() })
					if !s.DropKeys {
						s.Numbers = radix.NoNumbers
						check(t, mgr, s, n, func(int) uint64 { return random.Uint64() })
					}
				}
			}
		}
	})
}

// encoded is the definition of Encoding.
func encoded(s *radix.Sort, value uint64) uint64 {
	e := s.Encoding
	mask := e.Positive
	if value>>(s.Width-1) != 0 {
		mask = e.Negative
	}
	return (((value ^ mask) - e.Subtract) ^ e.Flip) << (64 - s.Width) >> (64 - s.Width)
}

// TestInput sorts values that are encoded on the way.
func TestInput(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: poisoned(dev)})
		random := rand.New(rand.NewPCG(13, 14))
		for _, width := range []int{32, 64} {
			sign, all := uint64(1)<<(width-1), ^uint64(0)
			for number, e := range []radix.Encoding{
				{}, {Flip: all}, {Positive: sign, Negative: sign}, {Positive: sign, Negative: all, Subtract: 1 << (width - 9)},
				{Positive: sign, Negative: all, Subtract: 12345, Flip: all},
			} {
				for i, name := range []string{"random", "equal", "ascending", "hidden run", "few"} {
					for _, n := range []int{300, 30001} {
						if testing.Short() && devicetest.Emulated(dev) && n > 300 && i != number {
							continue
						}
						s := radix.Sort{Width: width, High: width, Rows: n, Input: true, Encoding: e, Limits: radix.Limits{Finishing: 1}}
						check(t, mgr, s, n, func(i int) uint64 { return inputs[name](i, n, random) })
					}
				}
			}
		}
	})
}

// TestPacked sorts keys with the row numbers in their low bits.
func TestPacked(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: poisoned(dev)})
		random := rand.New(rand.NewPCG(15, 16))
		for _, name := range []string{"random", "equal", "ascending", "descending", "few"} {
			for _, n := range []int{1, 300, 20001} {
				for _, high := range []int{16, 22, 30, 64} {
					low := 15
					s := radix.Sort{Width: 64, Low: low, High: high, Rows: n, Numbers: radix.PackedNumbers}
					check(t, mgr, s, n, func(i int) uint64 { return inputs[name](i, n, random) })
				}
			}
		}
	})
}

// TestPortions sorts in several launches for each pass.
func TestPortions(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: poisoned(dev)})
		random := rand.New(rand.NewPCG(7, 8))
		for _, numbers := range []radix.Numbers{radix.NoNumbers, radix.RowNumbers} {
			s := radix.Sort{Width: 32, High: 26, Rows: 50000, Numbers: numbers, Limits: radix.Limits{PortionTiles: 2}}
			check(t, mgr, s, s.Rows, func(int) uint64 { return random.Uint64() })
			check(t, mgr, s, 3000, func(int) uint64 { return random.Uint64() })
			s = radix.Sort{Width: 64, High: 64, Rows: 29000, Numbers: numbers, Limits: radix.Limits{PortionTiles: 2, Finishing: 1}}
			check(t, mgr, s, s.Rows, func(i int) uint64 { return inputs["hidden run"](i, s.Rows, random) })
		}
	})
}

// TestCounted sorts rows that only the device can count.
func TestCounted(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: poisoned(dev)})
		random := rand.New(rand.NewPCG(9, 10))
		for _, capacity := range []int{100, 20000} {
			for _, n := range []int{0, 1, 77, 7169} {
				if n > capacity {
					continue
				}
				for _, limits := range []radix.Limits{{}, {OneBlock: 1, Finishing: 1}} {
					s := radix.Sort{Width: 64, High: 64, Rows: capacity, Numbers: radix.RowNumbers, Limits: limits}
					check(t, mgr, s, n, func(int) uint64 { return random.Uint64() })
				}
			}
		}
	})
}

func TestRefuses(t *testing.T) {
	tooMany := -1 // 2³² does not fit into the int of 32-bit platforms
	if bits.UintSize == 64 {
		most := uint64(radix.MostRows)
		tooMany = int(most + 1)
	}
	for _, s := range []radix.Sort{
		{Width: 16, High: 16}, {Width: 32, High: 33}, {Width: 32, Low: 4, High: 4}, {Width: 32, Low: -1, High: 4},
		{Width: 64, High: 64, Rows: -1}, {Width: 64, High: 64, Rows: tooMany},
	} {
		require.Error(t, s.Check(), "%+v", s)
		require.Error(t, s.Run(nil, radix.Buffers{}))
	}
	if tooMany > 0 {
		require.ErrorIs(t, (&radix.Sort{Width: 32, High: 8, Rows: tooMany}).Check(), device.ErrNotSupported)
	}
}

// TestCancelled checks that the end of the context ends a sort between passes.
func TestCancelled(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		s := radix.Sort{Width: 32, High: 32, Rows: 5000}
		ctx, end := context.WithCancel(t.Context())
		call, err := op.Begin(ctx, kernels.Options{Manager: mgr})
		require.NoError(t, err)
		block, buffers, err := call.Scratch(s.KeyBytes(), s.KeyBytes(), s.StateBytes())
		require.NoError(t, err)
		end()
		err = s.Run(&call, radix.Buffers{Keys: [2]memory.Slice[uint8](buffers[:2]), State: buffers[2]})
		require.ErrorIs(t, err, context.Canceled)
		require.NoError(t, block.Release())
	})
}

// TestLarge sorts many rows, on GPUs only.
func TestLarge(t *testing.T) {
	devicetest.EachGPU(t, func(t *testing.T, dev *device.Device) {
		n := 1<<22 + 12345
		if testing.Short() {
			n = 1<<21 + 12345
		}
		mgr := devicetest.Manager(t, dev, memory.Options{})
		random := rand.New(rand.NewPCG(11, 12))
		for name, key := range inputs {
			t.Run(name, func(t *testing.T) {
				for _, s := range []radix.Sort{
					{Width: 32, High: 32}, {Width: 64, High: 64, Numbers: radix.RowNumbers}, {Width: 64, High: 64, Limits: radix.Limits{PortionTiles: 300}},
				} {
					s.Rows = n
					check(t, mgr, s, n, func(i int) uint64 { return key(i, n, random) })
				}
			})
		}
	})
}

func poisoned(dev *device.Device) memory.Resource {
	return adaptor.NewPoison(memory.NewDriverResource(dev), adaptor.PoisonOptions{})
}
