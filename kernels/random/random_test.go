package random

import (
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/columntest"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/memory"
)

// TestPhilox checks the test vectors that the authors of Random123 publish (kat_vectors).
func TestPhilox(t *testing.T) {
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{[4]uint32{}, [2]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32, math.MaxUint32}, [2]uint32{math.MaxUint32, math.MaxUint32},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		require.Equal(t, c.want, block(c.counter, c.key))
	}
}

// TestColumns compares all forms with plain arithmetic, also in parts and with large numbers.
func TestColumns(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		mgr := devicetest.Manager(t, dev, memory.Options{})
		fetch := func(c *column.Column, err error) []uint64 {
			require.NoError(t, err)
			a := columntest.Download(t, c)
			require.NoError(t, c.Release())
			list := make([]uint64, a.Len())
			for i := range list {
				switch a := a.(type) {
				case *array.Uint64:
					list[i] = a.Value(i)
				case *array.Int64:
					list[i] = uint64(a.Value(i))
				case *array.Float64:
					list[i] = math.Float64bits(a.Value(i))
				}
			}
			return list
		}
		for _, first := range []uint64{0, 1<<32 - 3, math.MaxUint64 - 50} {
			for _, n := range []int{0, 1, 1000} {
				o := Options{Options: kernels.Options{Manager: mgr}, Seed: 0x0123456789abcdef, First: first}
				const bound = 1<<63 + 12345
				integers, reals := fetch(Integers(t.Context(), n, o)), fetch(Floats(t.Context(), n, o))
				limited, numbers := fetch(Below(t.Context(), n, bound, o)), fetch(Numbers(t.Context(), n, o))
				require.Len(t, integers, n)
				for i := range n {
					w := word(o.Seed, first+uint64(i))
					require.Equal(t, w, integers[i])
					require.Equal(t, first+uint64(i), numbers[i])
					require.Equal(t, math.Ldexp(float64(w>>11), -53), math.Float64frombits(reals[i]))
					product := new(big.Int).Mul(new(big.Int).SetUint64(w), new(big.Int).SetUint64(bound))
					require.Equal(t, product.Rsh(product, 64).Uint64(), limited[i])
				}
			}
		}
	})
}

// TestUniform is a test of chi squared: bytes of the values are equally frequent.
func TestUniform(t *testing.T) {
	const n = 1 << 16
	for shift := 0; shift < 64; shift += 8 {
		var counts [256]int
		for i := range uint64(n) {
			counts[byte(word(42, i)>>shift)]++
		}
		chi := 0.0
		for _, c := range counts {
			d := float64(c) - n/256
			chi += d * d / (n / 256)
		}
		// 255 degrees of freedom: the mean is 255, the standard deviation 22.6.
		require.InDelta(t, 255, chi, 5*22.6)
	}
}

func TestRefused(t *testing.T) {
	dev := devicetest.Open(t, "host")
	mgr := devicetest.Manager(t, dev, memory.Options{})
	o := Options{Options: kernels.Options{Manager: mgr}}
	_, err := Integers(t.Context(), -1, o)
	require.ErrorIs(t, err, device.ErrInvalidValue)
	_, err = Below(t.Context(), 3, 0, o)
	require.ErrorContains(t, err, "the bound is 0, expected one or more")
	_, err = Floats(t.Context(), 3, Options{})
	require.ErrorContains(t, err, "set Options.Manager")
	columntest.CheckEstimate(t, mgr, "integers", func(k kernels.Options) (*column.Column, error) {
		if k.Manager == nil {
			k.Manager = mgr
		}
		return Integers(t.Context(), 1000, Options{Options: k})
	})
}
