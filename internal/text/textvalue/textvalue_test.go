package textvalue_test

import (
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/internal/text/textvalue"
)

var units = []int64{1, 1e3, 1e6, 1e9}

// Timestamps are those of package time, as integers without a limit, or have no value.
func TestTimestampsFitOrHaveNoValue(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		least, greatest := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
		second := rapid.Int64Range(least.Unix(), greatest.Unix()).Draw(r, "second")
		if rapid.Bool().Draw(r, "near an end of 64 bits") {
			second = rapid.SampledFrom([]int64{-9223372037, -9223372036, 9223372036}).Draw(r, "end")
		}
		digits := rapid.IntRange(0, 9).Draw(r, "digits")
		at := time.Unix(second, rapid.Int64Range(0, 999_999_999).Draw(r, "nanosecond")).UTC()
		layout := "2006-01-02 15:04:05"
		if digits > 0 {
			layout += "." + strings.Repeat("0", digits)
		}
		text := at.Format(layout)
		at, err := time.Parse(layout, text)
		require.NoError(r, err)
		for _, unit := range units {
			want := new(big.Int).Mul(big.NewInt(at.Unix()), big.NewInt(unit))
			want.Add(want, big.NewInt(int64(at.Nanosecond())*unit/1e9))
			got, exact, ok := textvalue.Timestamp(text, unit)
			require.Equal(r, want.IsInt64(), ok, "%s in %d", text, unit)
			if ok {
				require.Equal(r, want.Int64(), got, "%s in %d", text, unit)
				require.Equal(r, int64(at.Nanosecond())*unit%1e9 == 0, exact, "%s in %d", text, unit)
			}
		}
	})
}

func TestTextsWithoutAValue(t *testing.T) {
	for _, text := range []string{"", "2024-02-30", "2024-13-01", "2024-01-01 24:00", "2024-01-01 23:59:60", "2024-01-01 1", "2024-01-01 10:00.5", "2024-01-01 10:00:00.", "2024-01-01 10:00:00.0123456789", "2024-01-01 10:00+1", "+024-01-01", "2024-01-01x"} {
		_, _, ok := textvalue.Timestamp(text, 1)
		assert.False(t, ok, "%q", text)
	}
	for _, text := range []string{"", "-", ".", "1_0", "0x1p4", "1e", "1.2.3", "١"} {
		_, ok := textvalue.Float(text, 64)
		assert.False(t, ok, "%q", text)
		_, ok = textvalue.Decimal(text, 38, 2)
		assert.False(t, ok, "%q", text)
	}
	_, ok := textvalue.Float("1e39", 32)
	assert.False(t, ok)
}

// Decimals are exact, or have no value.
func TestDecimals(t *testing.T) {
	property.Check(t, func(r *rapid.T) {
		precision := rapid.Int32Range(1, 38).Draw(r, "precision")
		scale := rapid.Int32Range(0, precision).Draw(r, "scale")
		digits := rapid.StringMatching(`0{0,2}[0-9]{1,40}`).Draw(r, "digits")
		fraction := rapid.StringMatching(`[0-9]{0,20}0{0,3}`).Draw(r, "fraction")
		exponent := rapid.IntRange(-3, 3).Draw(r, "exponent")
		text := fmt.Sprintf("-%s.%se%d", digits, fraction, exponent)
		want, ok := new(big.Rat).SetString(text)
		require.True(r, ok)
		want.Mul(want, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
		most := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil))
		fits := want.IsInt() && new(big.Rat).Abs(want).Cmp(most) < 0
		got, ok := textvalue.Decimal(text, precision, scale)
		require.Equal(r, fits, ok, text)
		if ok {
			require.Zero(r, got.Cmp(want.Num()), text)
		}
	})
}
