package observe

import (
	"cmp"
	"slices"
	"time"
)

// mostOperations is the number of operations of a snapshot.
const mostOperations = 20

// OperationTime is the time in which an operation of queries worked, estimated from the moments of the history.
type OperationTime struct {
	// Name describes the operation as plans do, with ? for literals: "filter price > ?".
	Name string `json:"name"`
	// Moments counts each query in which the operation worked at a moment of the history.
	Moments int `json:"moments"`
	// Seconds is the number of moments times their distance. Operations that take less than that may be missing.
	Seconds float64 `json:"seconds"`
}

// working returns the names of the operations that work now, one for each query that does not wait.
func (r *Recorder) working() (names []string) {
	for _, e := range r.engines {
		for _, q := range e.Running() {
			if q.Operation != "" && !q.Waiting {
				names = append(names, nameOf(kindOf(q.Operation)))
			}
		}
	}
	return names
}

// operationTimes sums the operations of all moments, those with the most time first. seconds is the time of all
// operations, also of those that are not listed.
func operationTimes(samples []sample, interval time.Duration) (times []OperationTime, seconds float64) {
	moments := map[string]int{}
	all := 0
	for _, s := range samples {
		for _, name := range s.operations {
			moments[name]++
			all++
		}
	}
	times = []OperationTime{}
	for name, n := range moments {
		times = append(times, OperationTime{Name: name, Moments: n, Seconds: float64(n) * interval.Seconds()})
	}
	slices.SortFunc(times, func(a, b OperationTime) int {
		return cmp.Or(cmp.Compare(b.Moments, a.Moments), cmp.Compare(a.Name, b.Name))
	})
	return times[:min(len(times), mostOperations)], float64(all) * interval.Seconds()
}
