package vector

import "fmt"

// Metric decides which rows are near. The numbers of the constants are those of nearest.cu.
type Metric uint32

// The metrics.
const (
	// L2 is the squared Euclidean distance.
	L2 Metric = iota
	// Cosine is 1 − the cosine of the angle.
	Cosine
	// Dot is the dot product: the greatest is the nearest.
	Dot
)

var metricNames = [...]string{"l2", "cosine", "dot"}

// String returns the name.
func (m Metric) String() string {
	if int(m) < len(metricNames) {
		return metricNames[m]
	}
	return fmt.Sprintf("Metric(%d)", uint32(m))
}
