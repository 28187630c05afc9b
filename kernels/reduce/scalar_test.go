package reduce_test

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/scalar"

	"math"
)

// bitsOf returns a scalar's bits.
func bitsOf(s scalar.Scalar) (uint64, error) {
	switch v := s.(type) {
	case *scalar.Float32:
		return uint64(math.Float32bits(v.Value)), nil
	case *scalar.Float64:
		return math.Float64bits(v.Value), nil
	case *scalar.Int64:
		return uint64(v.Value), nil
	}
	return 0, fmt.Errorf("a scalar of %v", s.DataType())
}

func floatOf(s scalar.Scalar) (float64, error) {
	v, ok := s.(*scalar.Float64)
	if !ok || !v.Valid {
		return 0, fmt.Errorf("not a float64 but %v", s)
	}
	return v.Value, nil
}
