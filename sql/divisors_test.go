package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestDivisorsOutOfRange: gcd, lcm and factorial are null where a BIGINT does not hold them. DuckDB fails.
func TestDivisorsOutOfRange(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	const least = "(id * 0 - 9223372036854775807 - 1)"
	for expression, want := range map[string]string{
		"lcm(4611686018427387904, 3)":           "(null)",
		"lcm(id * 0 + 4611686018427387904, 3)":  "(null)",
		"lcm(3037000500, 3037000501)":           "(null)",
		"lcm(3037000499, 3037000500)":           "9223372033963249500",
		"lcm(" + least + ", 1)":                 "(null)",
		"lcm(" + least + ", -1)":                "(null)",
		"gcd(" + least + ", 0)":                 "(null)",
		"gcd(" + least + ", -2)":                "2",
		"lcm(18446744073709551615::ubigint, 1)": "(null)",
		"factorial(21)":                         "(null)",
		"factorial(-id)":                        "(null)",
	} {
		require.Equal(t, "v; "+want, answer(t, session, "select "+expression+" as v from orders where id = 1"), expression)
	}
}
