package observe

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOperationTimes(t *testing.T) {
	times, seconds := operationTimes(nil, time.Second)
	require.Equal(t, []OperationTime{}, times)
	require.Zero(t, seconds)
	samples := []sample{
		{operations: []string{"sort by id"}}, {}, {operations: []string{"scan a", "sort by id"}}, {operations: []string{"scan b", "scan b"}},
	}
	times, seconds = operationTimes(samples, 500*time.Millisecond)
	require.Equal(t, []OperationTime{
		{Name: "scan b", Moments: 2, Seconds: 1}, {Name: "sort by id", Moments: 2, Seconds: 1}, {Name: "scan a", Moments: 1, Seconds: 0.5},
	}, times)
	require.Equal(t, 2.5, seconds)

	for i := range 2 * mostOperations {
		samples = append(samples, sample{operations: []string{fmt.Sprint("filter ", i)}})
	}
	times, seconds = operationTimes(samples, time.Second)
	require.Len(t, times, mostOperations)
	require.Equal(t, 5.0+2*mostOperations, seconds)
}

func TestKindsOfOperations(t *testing.T) {
	for operation, want := range map[string]string{
		"filter price > 15":                                                 "filter price > ?",
		`filter name == "a \"b\" 5", 3 of 9 columns`:                        "filter name == ?",
		"filter day >= 1994-01-01T00:00:00Z and l1_tax < 0.05e-3":           "filter day >= ? and l1_tax < ?",
		`filter city in ("a", "b", "c")`:                                    "filter city in (?)",
		"scan sales.parquet, 3 of 16 columns, may skip rows unless day > 5": "scan sales.parquet",
		"scan sales.parquet, may skip rows unless day > 5":                  "scan sales.parquet",
		"top 10 by x2 descending":                                           "top ? by x2 descending",
		"group by a, b: sum(c + 1)":                                         "group by a, b: sum(c + ?)",
		"scan record reader":                                                "scan record reader",
		`filter "open`:                                                      `filter "open`,
		"":                                                                  "",
	} {
		require.Equal(t, want, kindOf(operation))
	}
}
