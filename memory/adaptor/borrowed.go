package adaptor

import "github.com/gpuframe/gpuframe/memory/resource"

// Borrowed is a resource that its owner closes elsewhere: several stacks can share
// one pool, each with a Borrowed as its lowest resource.
type Borrowed struct{ base }

// NewBorrowed returns a resource that passes everything but Close on to the
// upstream.
func NewBorrowed(upstream resource.Resource) *Borrowed {
	return &Borrowed{base: base{upstream: upstream}}
}

// Close does nothing.
func (b *Borrowed) Close() error { return nil }
