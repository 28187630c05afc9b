package prune

import "bytes"

// textOf returns the bytes of a literal of strings or binary values.
func textOf(value any) ([]byte, bool) {
	switch value := value.(type) {
	case string:
		return []byte(value), true
	case []byte:
		return value, true
	}
	return nil, false
}

// textPossible reports whether a value in the range can meet a comparison with a
// literal. An unknown bound excludes nothing.
func (r Range) textPossible(operation string, literal []byte) bool {
	low, hasLow := r.Low.([]byte)
	high, hasHigh := r.High.([]byte)
	// high may be cut short: values that begin with it are possible.
	below := !hasLow || bytes.Compare(low, literal) < 0
	reaches := !hasLow || bytes.Compare(low, literal) <= 0
	above := !hasHigh || bytes.Compare(high, literal) >= 0 || bytes.HasPrefix(literal, high)
	switch operation {
	case "equal":
		return reaches && above
	case "not_equal":
		return true
	case "less":
		return below
	case "less_equal":
		return reaches
	case "greater", "greater_equal":
		return above
	case "starts_with":
		return (reaches || bytes.HasPrefix(low, literal)) && above
	}
	return true
}
