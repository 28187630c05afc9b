package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestSumsOfVectors adds lists of floats by group, of all rows and in frames. Lists of integers and texts have no sum.
func TestSumsOfVectors(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	for text, want := range map[string]string{
		"select k, sum(v)[2] as s, avg(v)[1] as m from (values (1, [1.5::float, 2.0::float]), (1, [0.5::float, 4.0::float]), (2, null)) t(k, v) group by k order by k": "k s m; 1 6 1; 2 (null) (null)",
		"select avg([i::double, 2 * i::double])[2] as m from range(5) t(i)":                                                                                            "m; 4",
		"select sum([i::double]) filter (where i > 2)[1] as s from range(5) t(i)":                                                                                      "s; 7",
		"select i, (sum([i::double, 1.0::double]) over (order by i rows between 1 preceding and current row))[1] as s from range(3) t(i) order by i":                   "i s; 0 0; 1 1; 2 3",
	} {
		require.Equal(t, want, answer(t, session, text), text)
	}
	for _, text := range []string{"select sum([i]) from range(3) t(i)", "select avg(['a'])"} {
		_, err := session.Query(t.Context(), text)
		require.ErrorContains(t, err, "expected numbers", text)
	}
}
