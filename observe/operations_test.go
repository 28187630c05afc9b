package observe

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestOperationTimes(t *testing.T) {
	require.Equal(t, []OperationTime{}, operationTimes(nil, time.Second))
	samples := []sample{
		{operations: []string{"sort by id"}}, {}, {operations: []string{"scan a", "sort by id"}}, {operations: []string{"scan b", "scan b"}},
	}
	require.Equal(t, []OperationTime{
		{Name: "scan b", Moments: 2, Seconds: 1}, {Name: "sort by id", Moments: 2, Seconds: 1}, {Name: "scan a", Moments: 1, Seconds: 0.5},
	}, operationTimes(samples, 500*time.Millisecond))

	for i := range 2 * mostOperations {
		samples = append(samples, sample{operations: []string{fmt.Sprint("filter ", i)}})
	}
	require.Len(t, operationTimes(samples, time.Second), mostOperations)
}
