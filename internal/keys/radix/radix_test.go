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
	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/internal/op"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/memory/adaptor"
)

// pair is a key and the number that travels with it.
type pair struct {
	key, number uint64
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
	// Keys of 64 bits with one high half.
	"narrow":     func(_, _ int, random *rand.Rand) uint64 { return 0x89abcdef<<32 | random.Uint64N(1<<20)<<5 },
	"last alone": func(i, n int, _ *rand.Rand) uint64 { return uint64(index(i < n-1)) },
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// numberOf is the number that travels with row i.
func numberOf(s *radix.Sort, i int) uint64 {
	switch {
	case s.Numbers == radix.GivenNumbers && s.WideNumbers:
		return ^uint64(i) * 5 << 7
	case s.Numbers == radix.GivenNumbers:
		return uint64(^uint32(i * 5))
	}
	return uint64(i)
}

// put writes a value of a width in bytes, get reads it.
func put(to []byte, width, i int, value uint64) {
	if width == 4 {
		op.Elements[uint32](to)[i] = uint32(value)
		return
	}
	op.Elements[uint64](to)[i] = value
}

func get(from []byte, width, i int) uint64 {
	if width == 4 {
		return uint64(op.Elements[uint32](from)[i])
	}
	return op.Elements[uint64](from)[i]
}

// check sorts on the device and compares with a stable sort of the host. rows of the
// capacity are there.
func check(t *testing.T, mgr *memory.Manager, s radix.Sort, rows int, key func(i int) uint64) {
	t.Helper()
	width, numberWidth := s.Width/8, 4+4*index(s.WideNumbers)
	in := make([]pair, rows)
	keys, numbers := make([]byte, s.Rows*width), make([]byte, s.NumberBytes())
	for i := range in {
		in[i] = pair{key(i) >> (64 - s.Width), numberOf(&s, i)}
		if s.Numbers == radix.PackedNumbers {
			in[i].key = in[i].key>>s.Low<<s.Low | uint64(i)
		}
		put(keys, width, i, in[i].key)
		if s.Numbers == radix.GivenNumbers {
			put(numbers, numberWidth, i, in[i].number)
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
	given := uint64(len(keys) + 8)
	sizes := []uint64{s.KeyBytes(), s.KeyBytes(), s.NumberBytes(), s.NumberBytes(), s.StateBytes(), given, given, s.NumberBytes()}
	if s.Input { // no more than the sort needs
		of := s.InputScratch()
		sizes[1], sizes[3], sizes[4] = of[1], of[2], of[3]
		if s.Paired() {
			sizes[0] = of[0]
		}
	}
	block, buffers, err := call.Scratch(sizes...)
	require.NoError(t, err)
	defer func() { require.NoError(t, block.Release()) }()
	b := radix.Buffers{Keys: [2]memory.Slice[uint8](buffers[:2]), Numbers: [2]memory.Slice[uint8](buffers[2:4]), State: buffers[4], InputNumbers: buffers[7]}
	values, result, givenNumbers := b.Keys[s.Source()%2], b.Keys[0], b.Numbers[s.Source()%2]
	if s.Input { // aligned to a key only
		b.Input, err = buffers[5].Slice(width, width+len(keys))
		require.NoError(t, err)
		values, givenNumbers = b.Input, b.InputNumbers
	}
	if s.Paired() {
		b.Sorted, err = buffers[6].Slice(width, width+len(keys))
		require.NoError(t, err)
		result = b.Sorted
	}
	require.NoError(t, values.Upload(t.Context(), nil, keys))
	if s.Numbers == radix.GivenNumbers {
		require.NoError(t, givenNumbers.Upload(t.Context(), nil, numbers))
	}
	require.NoError(t, s.Run(&call, b))
	if result, err = result.Slice(0, len(keys)); !s.DropKeys {
		require.NoError(t, err)
		require.NoError(t, result.Download(t.Context(), nil, keys))
	}
	if len(numbers) > 0 {
		require.NoError(t, b.Numbers[0].Download(t.Context(), nil, numbers))
	}
	for i, want := range in {
		if !s.DropKeys && s.Numbers != radix.PackedNumbers {
			if got := get(keys, width, i); got != want.key {
				t.Fatalf("key %d of %d is %#x, must be %#x", i, rows, got, want.key)
			}
		}
		if s.Numbers != radix.NoNumbers {
			if got := get(numbers, numberWidth, i); got != want.number {
				t.Fatalf("number %d of %d is %d, must be %d", i, rows, got, want.number)
			}
		}
	}
}

// TestSort sorts every input, by one block, by passes over all digits, and by passes over
// leading digits.
func TestSort(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: poisoned(dev)})
		random, number := rand.New(rand.NewPCG(3, 4)), property.Turn(t)
		const never = 1 << 30
		for name, key := range property.InOrder(inputs) {
			number++
			for _, width := range []int{32, 64} {
				few := testing.Short() && devicetest.Emulated(dev)
				if testing.Short() {
					if width == 32 && name != "random" && name != "ascending" {
						continue
					}
				} else if devicetest.Emulated(dev) && (number+width/32)%2 != 0 {
					continue
				}
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
	if e.Infinity != 0 {
		switch magnitude := value &^ (1 << (s.Width - 1)); {
		case magnitude > e.Infinity:
			value = e.NaN
		case magnitude == 0:
			value = 0
		}
	}
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
		random, turn := rand.New(rand.NewPCG(13, 14)), property.Turn(t)
		for _, width := range []int{32, 64} {
			sign, all := uint64(1)<<(width-1), ^uint64(0)
			for number, e := range []radix.Encoding{
				{}, {Flip: all}, {Positive: sign, Negative: sign}, {Positive: sign, Negative: all, Subtract: 1 << (width - 9)},
				{Positive: sign, Negative: all, Subtract: 12345, Flip: all},
			} {
				for i, name := range []string{"random", "equal", "ascending", "hidden run", "few", "narrow"} {
					for _, n := range []int{300, 30001} {
						if devicetest.Emulated(dev) && n > 300 && (i-number+turn)%5 != 0 {
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

// floats are random floats of a width: many zeros and NaNs if some is set, and otherwise
// values that their keys restore.
func floats(width int, some bool, random *rand.Rand) func(int) uint64 {
	return func(int) uint64 {
		value := random.Uint64()
		if !some {
			return value &^ (1 << 62) // not as large as to be NaN
		}
		sign := value & (1 << 63)
		switch value % 5 {
		case 0:
			return sign
		case 1:
			if width == 32 {
				return sign | 0x7f8<<52 | value>>9&(1<<40-1)&^(1<<33-1) | 1<<32
			}
			return sign | 0x7ff<<52 | value>>13 | 1
		}
		return value
	}
}

// TestInputNumbers sorts values with numbers: pairs, numbers of 32 and 64 bits, and floats
// with zeros and NaNs.
func TestInputNumbers(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: poisoned(dev)})
		random := rand.New(rand.NewPCG(17, 18))
		names := []string{"random", "equal", "ascending", "hidden run", "few"}
		number, turn := 0, property.Turn(t)
		for _, s := range []radix.Sort{
			{Numbers: radix.RowNumbers}, {Numbers: radix.RowNumbers, DropKeys: true}, {Numbers: radix.GivenNumbers},
			{Numbers: radix.GivenNumbers, WideNumbers: true}, {Numbers: radix.GivenNumbers, WideNumbers: true, Low: 5, High: 23}, {},
		} {
			for _, width := range []int{32, 64} {
				for _, n := range []int{1, 300, 4097, 30001} {
					for kind, keys := range []func(i int) uint64{
						func(i int) uint64 { return inputs[names[number%len(names)]](i, n, random) },
						floats(width, false, random), floats(width, true, random),
					} {
						if number++; s.Low > 0 && kind > 0 || devicetest.Emulated(dev) && n > 300 && (number+turn)%5 != 0 {
							continue
						}
						s.Width, s.Input, s.Rows, s.Limits, s.Encoding = width, true, n, radix.Limits{Finishing: 1}, radix.Encoding{}
						if s.Low == 0 {
							s.High = width
						}
						if kind > 0 { // of all bits
							s.Encoding = radix.Encoding{Positive: 1 << (width - 1), Negative: ^uint64(0), Infinity: 0x7ff << 52, NaN: 0x7ff8 << 48}
							if width == 32 {
								s.Encoding.Infinity, s.Encoding.NaN = 0xff<<23, 0x1ff<<22
							}
						}
						if number%2 == 0 {
							s.Encoding.Flip = ^uint64(0)
						}
						check(t, mgr, s, n, keys)
						if n == 300 {
							s.Limits.OneBlock = 1
							check(t, mgr, s, n, keys)
							if number%3 == 0 {
								check(t, mgr, s, 123, keys)
							}
						}
					}
				}
			}
		}
	})
}

// TestNulls sorts values of which some are null.
func TestNulls(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: poisoned(dev)})
		random := rand.New(rand.NewPCG(21, 22))
		for number, n := range []int{1, 33, 300, 4097, 30001} {
			for _, part := range []uint64{0, 1, 9, 10} { // of ten values, that are null
				for _, nullsFirst := range []bool{false, true} {
					if testing.Short() && devicetest.Emulated(dev) && n > 300 && nullsFirst != (part%9 == 0) {
						continue
					}
					s := radix.Sort{Width: 32, High: 32, Rows: n, Input: true, NullsFirst: nullsFirst, ValidBit: 3 + number}
					s.Encoding = radix.Encoding{Positive: 1 << 31, Negative: ^uint64(0)}
					if nullsFirst == (part == 1) {
						s.Encoding = radix.Encoding{Positive: 1 << 31, Negative: 1 << 31, Flip: ^uint64(0)}
					}
					checkNulls(t, mgr, s, func(int) (uint32, bool) { return random.Uint32(), random.Uint64N(10) >= part })
					// Keys of nulls, which are values' keys too, in any order and in the order of the keys.
					extremes := []uint32{0, 1<<31 - 1, 1 << 31, 1<<32 - 1}
					checkNulls(t, mgr, s, func(int) (uint32, bool) { return extremes[random.IntN(4)], random.Uint64N(10) >= part })
					for _, extreme := range extremes {
						checkNulls(t, mgr, s, func(i int) (uint32, bool) {
							if i == 0 || nullsFirst && i == n-1 {
								return 12345, !nullsFirst || i > 0
							}
							return extreme, random.Uint64N(10) >= part
						})
					}
				}
			}
		}
	})
}

// checkNulls sorts values that may be null, and compares with a sort of the host.
func checkNulls(t *testing.T, mgr *memory.Manager, s radix.Sort, value func(i int) (uint32, bool)) {
	t.Helper()
	values, valid := make([]byte, 4*s.Rows), make([]byte, (s.ValidBit+s.Rows+7)/8)
	var want []uint32
	for i := range s.Rows {
		x, is := value(i)
		put(values, 4, i, uint64(x))
		if is {
			want = append(want, x)
			valid[(s.ValidBit+i)/8] |= 1 << ((s.ValidBit + i) % 8)
		}
	}
	slices.SortFunc(want, func(a, b uint32) int { return cmp.Compare(encoded(&s, uint64(a)), encoded(&s, uint64(b))) })
	call, err := op.Begin(t.Context(), kernels.Options{Manager: mgr})
	require.NoError(t, err)
	of := s.InputScratch()
	block, buffers, err := call.Scratch(uint64(len(values)), of[1], of[3], uint64(len(values)), uint64(len(valid)))
	require.NoError(t, err)
	defer func() { require.NoError(t, block.Release()) }()
	require.NoError(t, buffers[3].Upload(t.Context(), nil, values))
	require.NoError(t, buffers[4].Upload(t.Context(), nil, valid))
	s.Valid = buffers[4]
	require.NoError(t, s.Run(&call, radix.Buffers{Input: buffers[3], Keys: [2]memory.Slice[uint8](buffers[:2]), State: buffers[2]}))
	require.NoError(t, buffers[0].Download(t.Context(), nil, values))
	got := op.Elements[uint32](values)
	if s.NullsFirst {
		got = got[s.Rows-len(want):]
	}
	for i, x := range want {
		if got[i] != x {
			t.Fatalf("value %d of %d is %#x, must be %#x; %d rows", i, len(want), got[i], x, s.Rows)
		}
	}
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

// TestEachKernelOnce sorts few rows with each form of the kernels, for tools that check every
// access and take a thousand times as long.
func TestEachKernelOnce(t *testing.T) {
	devicetest.WithKernels(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{Resource: poisoned(dev)})
		random := rand.New(rand.NewPCG(23, 24))
		finishing := radix.Limits{Finishing: 1, OneBlock: 1}
		for name, s := range property.InOrder(map[string]radix.Sort{
			"32 alone": {Width: 32}, "32 rows": {Width: 32, Numbers: radix.RowNumbers}, "64 alone": {Width: 64, Limits: finishing},
			"64 rows": {Width: 64, Numbers: radix.RowNumbers, Limits: finishing}, "64 packed": {Width: 64, Low: 16, Numbers: radix.PackedNumbers},
			"32 wide": {Width: 32, Input: true, Numbers: radix.GivenNumbers, WideNumbers: true},
			"64 wide": {Width: 64, Input: true, Numbers: radix.GivenNumbers, WideNumbers: true},
			"paired":  {Width: 32, Input: true, Numbers: radix.GivenNumbers}, "narrow": {Width: 64, Input: true},
		}) {
			t.Run(name, func(t *testing.T) {
				s.High = s.Width
				for _, s.Rows = range []int{700, 14_000} {
					key := inputs["random"]
					if name == "narrow" {
						key = inputs[name]
					}
					check(t, mgr, s, s.Rows, func(i int) uint64 { return key(i, s.Rows, random) })
				}
			})
		}
		t.Run("floats", func(t *testing.T) {
			s := radix.Sort{Width: 32, High: 32, Input: true, Rows: 14_000}
			s.Encoding = radix.Encoding{Positive: 1 << 31, Negative: ^uint64(0), Infinity: 0xff << 23, NaN: 0x1ff << 22}
			check(t, mgr, s, s.Rows, floats(32, true, random))
		})
		t.Run("nulls", func(t *testing.T) {
			s := radix.Sort{Width: 32, High: 32, Input: true, Rows: 14_000}
			checkNulls(t, mgr, s, func(int) (uint32, bool) { return random.Uint32(), random.Uint64N(10) > 0 })
		})
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
		{Width: 64, High: 64, WideNumbers: true, Numbers: radix.GivenNumbers}, {Width: 64, High: 64, Input: true, Numbers: radix.PackedNumbers},
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
		const n = 1<<21 + 12345
		mgr := devicetest.Manager(t, dev, memory.Options{})
		random := rand.New(rand.NewPCG(11, 12))
		for name, key := range property.InOrder(inputs) {
			t.Run(name, func(t *testing.T) {
				sorts := []radix.Sort{
					{Width: 32, High: 32}, {Width: 64, High: 64, Numbers: radix.RowNumbers}, {Width: 64, High: 64, Limits: radix.Limits{PortionTiles: 300}},
				}
				if name == "random" {
					sorts = append(sorts,
						radix.Sort{Width: 32, High: 32, Input: true, Numbers: radix.GivenNumbers},
						radix.Sort{Width: 64, High: 64, Input: true, Numbers: radix.GivenNumbers},
						radix.Sort{Width: 32, High: 32, Input: true, Numbers: radix.GivenNumbers, WideNumbers: true},
						radix.Sort{Width: 64, High: 64, Input: true, Numbers: radix.GivenNumbers, WideNumbers: true})
				}
				for _, s := range sorts {
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
