package kernelset

import (
	"context"
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/ptx"
	"github.com/gpuframe/gpuframe/kernels"
)

// Instance is a kernel made from a template, which is an entry of a file with holes
// (see [ptx.Hole]). Instances are package variables, so a set keeps a fixed number of
// kernels.
type Instance struct {
	// Template is an entry of the set; see [Set.Entries].
	Template string
	// Entry is the name of the kernel. It must be unique in the set.
	Entry string
	// Holes returns the code of the holes. It is called once for each device.
	Holes func() map[string]ptx.Hole
}

// Instance returns an instance on a device. The first call compiles it, apart from
// everything else in the file. Errors are those of [Set.Kernel]; a hole that the
// instance does not define is an error, too.
func (s *Set) Instance(ctx context.Context, dev *device.Device, i *Instance) (*kernels.Function, error) {
	f, err := s.get(ctx, dev, name{i.Template, i.Entry}, func() (string, error) { return i.Text(s) })
	if err != nil {
		return nil, fmt.Errorf("kernel %s, an instance of %s: %w", i.Entry, i.Template, err)
	}
	return f, nil
}

// Text returns the PTX of the instance, given the set of its template.
func (i *Instance) Text(s *Set) (string, error) {
	file, ok := s.Entries[i.Template]
	if !ok {
		return "", fmt.Errorf("the set has no entry %s: %w", i.Template, backend.ErrNotFound)
	}
	text, err := s.Entry(file, i.Template)
	if err != nil {
		return "", err
	}
	return i.fill(text)
}

// fill returns the text of the instance, given that of the template.
func (i *Instance) fill(text string) (string, error) {
	before, after, ok := strings.Cut(text, ".entry "+i.Template+"(")
	if !ok {
		return "", fmt.Errorf("its file has no entry %s: %w", i.Template, backend.ErrNotFound)
	}
	filled, _, err := ptx.Fill(after, i.Holes())
	return before + ".entry " + i.Entry + "(" + filled, err
}
