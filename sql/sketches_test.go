package sql_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

// TestSketches makes, merges and reads sketches with functions of the catalog.
func TestSketches(t *testing.T) {
	session := sessionOn(t, devicetest.Open(t, "host"))
	for text, want := range map[string]string{
		"select kll_quantile(s, 0.5) as q, kll_rank(s, 9) as r, kll_count(s) as n from (select kll_sketch(i, 200) as s from range(100) t(i)) q":                         "q r n; 49 0.1 100",
		"select kll_count(kll_merge(s)) as n from (select kll_sketch(i, 200) as s from range(100) t(i) group by i % 7) q":                                               "n; 100",
		"select round(hll_estimate(hll_merge(s))) as n from (select hll_sketch(i % 2, 12) as s from range(100) t(i) group by i % 7) q":                                  "n; 2",
		"select frequent_items(frequent_items_merge(s))[1].item as v from (select frequent_items_sketch(i, 64) as s from (values ('a'), ('b'), ('b')) t(i)) q":          "v; b",
		"select frequent_longs(frequent_longs_merge(s))[1].estimate as n from (select frequent_items_sketch(i, 64) as s from (values (1), (2), (2)) t(i) group by i) q": "n; 2",
		"select approx_quantile(distinct i, 0.5) as q from (values (1), (2), (2), (2), (3), (4)) t(i)":                                                                  "q; 2",
	} {
		require.Equal(t, want, answer(t, session, text), text)
	}
	for text, message := range map[string]string{
		"select approx_quantile(id, id) from orders":          "the fraction is not a literal number",
		"select approx_quantile(note, 0.5) from orders":       "expected numbers",
		"select approx_quantile(note = 'x', 0.5) from orders": "BOOLEAN is not supported",
		"select approx_top_k(id, 0.5) from orders":            "not a literal integer",
		"select kll_sketch(id) from orders":                   "kll_sketch has 1 arguments, expected",
	} {
		_, err := session.Query(t.Context(), text)
		require.ErrorContains(t, err, message, text)
	}
}
