package decimals_test

import (
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/lake/internal/decimals"
)

func TestParse(t *testing.T) {
	money := &arrow.Decimal128Type{Precision: 6, Scale: 2}
	for text, want := range map[string]int64{"0": 0, "-1.5": -150, "1234.56": 123456, "12e1": 12000, "1.5E-1": 15} {
		value, err := decimals.Parse(text, money)
		require.NoError(t, err, text)
		require.Equal(t, want, int64(value.LowBits()), text)
	}
	for _, text := range []string{"", "x", "1.234", "12345.6", "1/2", "0x10", "1_0", "1e101", "1e-101", "1e9999999999"} {
		_, err := decimals.Parse(text, money)
		require.Error(t, err, text)
	}
}

// Values with more digits are rounded down.
func TestUnscaled(t *testing.T) {
	for text, want := range map[string]string{"1.239": "123", "-1.231": "-124", "5": "500"} {
		value, exact := decimals.Unscaled(text, 2)
		require.Equal(t, want, value.String())
		require.Equal(t, text == "5", exact)
	}
}
