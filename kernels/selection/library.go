package selection

import (
	"embed"
	"fmt"
	"strings"
	"sync"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/perdevice"
	"github.com/gpuframe/gpuframe/kernels"
)

//go:embed add_sums.ptx choose_*.ptx copy_*.ptx counts.ptx expand_*.ptx rebase.ptx take_*.ptx widen.ptx
var code embed.FS

// library holds the kernels that a device was asked for, by their names. Every one
// is a module of its own, loaded when it is first needed: compiling takes the driver
// milliseconds, and most programs need few of them.
type library struct{ functions sync.Map }

// libraries are never given back: the code goes with the device.
var libraries perdevice.Cache[*library]

func newLibrary(*device.Device) (*library, error) { return new(library), nil }

// function returns a kernel of a file.
func function(dev *device.Device, file, name string) (*kernels.Function, error) {
	l, err := libraries.Get(dev, newLibrary)
	if err != nil {
		return nil, err
	}
	if f, ok := l.functions.Load(name); ok {
		return f.(*kernels.Function), nil
	}
	text, err := code.ReadFile(file + ".ptx")
	if err != nil {
		return nil, fmt.Errorf("the code of %s: %w", file, err)
	}
	module, err := kernels.LoadCached(dev, only(string(text), name))
	if err != nil {
		return nil, err
	}
	f, err := module.Function(name)
	if err == nil {
		l.functions.Store(name, f)
	}
	return f, err
}

// only returns code without the kernels that are not asked for. They differ in the
// indices they take, few programs need more than one of them, and the driver takes
// as long for each.
func only(text, name string) string {
	const entry = ".visible .entry "
	var kept strings.Builder
	for {
		begin := strings.Index(text, entry)
		if begin < 0 {
			break
		}
		length := strings.Index(text[begin:], "\n}\n")
		if length < 0 {
			break
		}
		end := begin + length + len("\n}\n")
		if !strings.HasPrefix(text[begin+len(entry):], name+"(") {
			kept.WriteString(text[:begin])
		} else {
			kept.WriteString(text[:end])
		}
		text = text[end:]
	}
	kept.WriteString(text)
	return kept.String()
}

const blockThreads = 256

// launch enqueues a kernel that takes elements in tiles of blockThreads × each.
func launch(stream *device.Stream, file, name string, elements, each int, arguments ...any) error {
	f, err := function(stream.Device(), file, name)
	if err != nil {
		return err
	}
	return f.Launch(stream, kernels.GridFor(elements, blockThreads*each), device.Dim3{X: blockThreads}, 0, arguments...)
}
