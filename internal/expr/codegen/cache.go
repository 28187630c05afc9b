package codegen

import (
	"context"
	"fmt"

	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
)

// Cache is a [kernelset.Generated] of values made for programs, by key and shape. Data
// that varies from call to call is an argument of the kernels, so programs have few
// entries.
type Cache[V any] struct {
	generated kernelset.Generated[V]
}

// Get returns the value for a program on columns on a device. The first call makes it,
// with a generator for the columns' shape. The prefix distinguishes different values
// for the same program. Errors are not cached. If another call is making the value, Get
// waits for it until ctx is done.
func (c *Cache[V]) Get(ctx context.Context, dev *device.Device, prefix string, program *exprtree.Program, inputs []*column.Column,
	build func(dev *device.Device, shape Shape) (V, error)) (value V, err error) {
	if len(inputs) != len(program.Types) {
		return value, fmt.Errorf("%d columns for a program of %d: %w", len(inputs), len(program.Types), device.ErrInvalidValue)
	}
	var room [512]byte
	key := appendKey(append(room[:0], prefix...), program, inputs)
	return c.generated.Get(ctx, dev, key, func() (value V, err error) {
		shape, err := ShapeOf(program, inputs)
		if err != nil {
			return value, err
		}
		return build(dev, shape)
	})
}

// appendKey appends the same bytes as Shape.Append, without making a shape.
func appendKey(key []byte, program *exprtree.Program, inputs []*column.Column) []byte {
	key = append(append(key, program.Key...), ' ')
	if len(inputs) > mostExact {
		shared := make([]Input, len(inputs))
		for i, c := range inputs {
			shared[i] = inputOf(c)
		}
		share(shared)
		for i := range shared {
			key = shared[i].append(key)
		}
	} else {
		for _, c := range inputs {
			key = inputOf(c).append(key)
		}
	}
	for _, literal := range program.Literals {
		key = append(key, '0'+byte(literalOf(literal)))
	}
	return key
}
