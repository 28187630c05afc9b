package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestLongSeries tests that a list of more elements than a column holds is an error of the run.
func TestLongSeries(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	for _, list := range []string{
		"range(9223372036854775807, -9223372036854775807 - 1, -1)", "generate_series(-9223372036854775807 - 1, 9223372036854775807)",
		"generate_series(-9223372036854775807 - 1, -1)", "range(4294967296)", "range(-9223372036854775807, 9223372036854775807, 2)",
	} {
		query, err := session.Query(t.Context(), "select len("+list+") as n from orders")
		require.NoError(t, err, list)
		_, err = query.Collect(t.Context())
		require.ErrorIs(t, err, device.ErrNotSupported, list)
		require.ErrorContains(t, err, "elements together", list)
	}
}
