package querytest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/querytest"
)

// TestDraw checks that each verb is drawn, also with rows left to look at.
func TestDraw(t *testing.T) {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	defer func() { require.NoError(t, e.Close()) }()
	drawn := map[string]int{}
	for seed := range 900 {
		c := rapid.Custom(func(t *rapid.T) *querytest.Case {
			return querytest.Draw(t, e, querytest.Options{Verbs: 4, Rows: 20, Least: 8})
		}).Example(seed)
		for line := range strings.Lines(c.Text) {
			for call := range strings.SplitSeq(line, "(") {
				if verb := call[strings.LastIndexAny(call, "\t.")+1:]; len(c.Want.Rows) > 0 {
					drawn[verb]++
				}
			}
		}
		c.Release()
	}
	for _, verb := range []string{
		"Filter", "Select", "With", "Drop", "Rename", "Sort", "Top", "Head", "Tail", "Slice", "Distinct", "Union", "Except", "ExceptAll", "Intersect", "IntersectAll", "DropNulls", "FillNull",
		"GroupBy", "Join", "Cache", "Unpivot", "AsOf", "NearestTo", "Sample", "SampleRows", "Shuffle", "Pivot", "ExplodeWith", "Rows", "Range", "Resample",
	} {
		require.Positive(t, drawn[verb], verb)
	}
}
