package join

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
)

// Bounds selects the ends of a range that are part of it.
type Bounds uint8

const (
	// LowClosed is a ≤ x < b.
	LowClosed Bounds = iota
	// HighClosed is a < x ≤ b.
	HighClosed
	// Closed is a ≤ x ≤ b.
	Closed
	// Open is a < x < b.
	Open
)

// Between is the keys of a range join: Right of the right table lies between Low and High
// of the left table.
type Between struct {
	// Low, High and Right are names of columns of equal types.
	Low, High, Right string
	Bounds           Bounds
}

func (b *Between) check(options *Options) error {
	switch {
	case b.Bounds > Open:
		return fmt.Errorf("Bounds is %d, expected LowClosed, HighClosed, Closed or Open: %w", b.Bounds, device.ErrInvalidValue)
	case options.Kind != Inner && options.Kind != Left && options.Kind != Semi && options.Kind != Anti:
		return fmt.Errorf("Kind is %v, expected Inner, Left, Semi or Anti: %w", options.Kind, device.ErrInvalidValue)
	case options.NullsEqual:
		return fmt.Errorf("NullsEqual is set, but null is in no range: %w", device.ErrInvalidValue)
	}
	return nil
}
