package kernelset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"sync"
	"sync/atomic"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/driver/perdevice"
	"github.com/gpuframe/gpuframe/internal/op/kernelset/archive"
	"github.com/gpuframe/gpuframe/internal/ptx"
	"github.com/gpuframe/gpuframe/kernels"
)

// Set is the PTX files of an operator family and their kernels on each device. It is
// a package variable, safe for concurrent use, and must not be copied once it is used.
type Set struct {
	// Files holds the PTX in the directory: FILE.ptx.packed (see package archive), or
	// FILE.ptx.
	Files     fs.FS
	Directory string
	// Apart compiles each kernel of a file apart from the file's others, which suits
	// files of many kernels of which a program needs few: the driver takes as long for
	// each. Kernels that share a variable of their file must not be apart.
	Apart bool
	// Entries is the file of each entry. Only sets with instances need it.
	Entries Entries

	devices perdevice.Cache[*table]
}

// Entries is the file of each entry of a set. The command internal/op/kernelset/entries
// writes it, for go generate.
type Entries map[string]string

// name names a kernel: an entry of a file.
type name struct{ file, entry string }

// table holds the kernels of one device. The map is replaced as a whole, so that a
// look-up takes no lock and no allocation.
type table struct {
	mu      sync.Mutex
	kernels atomic.Pointer[map[name]*once[*kernels.Function]]
}

func newTable(*device.Device) (*table, error) {
	t := new(table)
	t.kernels.Store(&map[name]*once[*kernels.Function]{})
	return t, nil
}

// Kernel returns an entry of a file, given without its ending, on a device. The first
// call compiles it.
//
// # Errors
//
// The error names file and entry. It wraps fs.ErrNotExist if the set has no such file,
// backend.ErrNotFound if the file has no such entry, backend.ErrInvalidCode if the
// driver refuses the code, and the context's error if ctx is done before the kernel is
// there. Errors are not kept: the next call tries again.
func (s *Set) Kernel(ctx context.Context, dev *device.Device, file, entry string) (*kernels.Function, error) {
	f, err := s.get(ctx, dev, name{file, entry}, func() (string, error) {
		if s.Apart {
			return s.Entry(file, entry)
		}
		return s.Text(file)
	})
	if err != nil {
		return nil, fmt.Errorf("kernel %s of %s.ptx: %w", entry, file, err)
	}
	return f, nil
}

// get returns a kernel. The first call compiles its text.
func (s *Set) get(ctx context.Context, dev *device.Device, key name, text func() (string, error)) (*kernels.Function, error) {
	t, err := s.devices.Get(dev, newTable)
	if err != nil {
		return nil, err
	}
	return t.once(key).get(ctx, func() (*kernels.Function, error) {
		code, err := text()
		if err != nil {
			return nil, err
		}
		module, err := kernels.LoadCached(dev, code)
		if err != nil {
			return nil, err
		}
		return readsSettled(module.Function(key.entry))
	})
}

// readsSettled marks a kernel of an operator, which writes to new memory only.
func readsSettled(f *kernels.Function, err error) (*kernels.Function, error) {
	if err != nil {
		return nil, err
	}
	return f.ReadsSettled(), nil
}

// once returns the place of a kernel.
func (t *table) once(key name) *once[*kernels.Function] {
	if place := (*t.kernels.Load())[key]; place != nil {
		return place
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	known := *t.kernels.Load()
	if place := known[key]; place != nil {
		return place
	}
	more := maps.Clone(known)
	more[key] = newOnce[*kernels.Function]()
	t.kernels.Store(&more)
	return more[key]
}

// Text returns the PTX of a file, given without its ending.
func (s *Set) Text(file string) (string, error) {
	return s.read(file, archive.Text, func(text string) string { return text })
}

// Entry returns the PTX of a file without the kernels other than the one named.
func (s *Set) Entry(file, entry string) (string, error) {
	return s.read(file, func(packed []byte) (string, error) { return archive.Only(packed, entry) },
		func(text string) string { return ptx.Only(text, entry) })
}

// read returns what unpack takes from FILE.ptx.packed, or cut from FILE.ptx if there is no
// archive.
func (s *Set) read(file string, unpack func([]byte) (string, error), cut func(string) string) (string, error) {
	plain := path.Join(s.Directory, file+".ptx")
	packed, err := fs.ReadFile(s.Files, plain+".packed")
	if err == nil {
		return unpack(packed)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	text, err := fs.ReadFile(s.Files, plain)
	return cut(string(text)), err
}
