package command

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/observe"
)

// wideSnapshot has long names and large numbers.
func wideSnapshot() *observe.Snapshot {
	s := &observe.Snapshot{Time: time.Unix(1_700_000_000, 0)}
	long := strings.Repeat("a long name of a report ", 4)
	s.Managers = []observe.Manager{{
		Name: "manager of the service on cuda:0", InUse: 123 << 30, Budget: 130 << 30, Peak: 129 << 30, Blocks: 1_234_567, Waiting: 12, Failures: 1000,
		Cache: &observe.Cache{Cached: 7 << 30}, Tags: []observe.Tag{{Name: long, InUse: 1 << 30, Peak: 2 << 30, Blocks: 1000}},
	}}
	s.Queries = []observe.Query{{ID: 123456, State: "running", Seconds: 12345.6, Rows: 123_456_789, OfRows: 987_654_321, InUse: 1 << 30, Manager: "manager", Tag: long, Operation: long}}
	return s
}

// TestTopFitsTheTerminal has all lines within the columns, with the names and the figures that matter.
func TestTopFitsTheTerminal(t *testing.T) {
	for _, columns := range []int{60, 80, 100, 200} {
		text := topText(wideSnapshot(), byBytes, columns, 0)
		for line := range strings.SplitSeq(text, "\n") {
			require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimRight(line, " ")), columns, "%d columns:\n%s", columns, text)
		}
		for _, part := range []string{"MANAGER", "IN USE", "BUDGET", "123 GiB", "QUERY", "STATE", "running", "TAG", "FAILED", "1000"} {
			require.Contains(t, text, part, fmt.Sprint(columns))
		}
		require.Equal(t, columns >= 200, strings.Contains(text, "BLOCKS"), columns)
	}
	require.Contains(t, topText(wideSnapshot(), byBytes, 0, 0), "OPERATION", "zero columns are any")
}
