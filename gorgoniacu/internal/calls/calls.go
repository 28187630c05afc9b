//go:build linux && cgo && (amd64 || arm64)

package calls

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"gorgonia.org/cu"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/gorgoniacu"
)

// The ways a call is made.
const (
	CUDA     = "device/cuda"
	Gorgonia = "gorgoniacu"
	Direct   = "gorgonia.org/cu"
	Entered  = "gorgonia.org/cu, its context set for the call"
)

// Ways lists them.
var Ways = []string{CUDA, Gorgonia, Direct, Entered}

// Call is one operation in each way.
type Call struct {
	Name string
	// By holds the operation of each way. Direct operations need [Work.OnThread].
	By map[string]func() error
	// InRound is the number of calls that may be enqueued before the caller must wait
	// for the device.
	InRound int
}

// Work holds the objects that the calls use. Close frees them.
type Work struct {
	Calls []Call

	dev     *device.Device // by way of gorgoniacu
	closing []func() error
}

// launched is a kernel of eight arguments that does nothing.
const launched = ".version 7.0\n.target sm_70\n.address_size 64\n" +
	".visible .entry empty(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 d, " +
	".param .u64 e, .param .u64 f, .param .u64 g, .param .u64 h) { ret; }\n"

const smallCopy = 1 << 10

// New opens the first GPU through both bindings and creates the objects that the calls
// use, with a private stream.
func New() (work *Work, err error) {
	work = &Work{}
	defer func() {
		if err != nil {
			err = errors.Join(err, work.Close())
		}
	}()
	var drivers [2]backend.Device
	for i, name := range []string{"cuda:0", gorgoniacu.Name + ":0"} {
		dev, err := device.Open(name)
		if err != nil {
			return nil, err
		}
		work.closing = append(work.closing, dev.Close)
		work.dev, drivers[i] = dev, dev.Driver()
	}
	return work, work.prepare(drivers[0], drivers[1])
}

func (w *Work) prepare(ours, theirs backend.Device) error {
	module, err := theirs.ModuleLoad([]byte(launched))
	if err != nil {
		return err
	}
	w.closing = append(w.closing, func() error { return theirs.ModuleUnload(module) })
	function, err := theirs.ModuleFunction(module, "empty")
	if err != nil {
		return err
	}
	stream, err := w.dev.NewStream()
	if err != nil {
		return err
	}
	w.closing = append(w.closing, stream.Close)
	event, err := theirs.EventCreate(false)
	if err != nil {
		return err
	}
	w.closing = append(w.closing, func() error { return theirs.EventDestroy(event) })
	memory, err := theirs.Alloc(smallCopy)
	if err != nil {
		return err
	}
	w.closing = append(w.closing, func() error { return theirs.Free(memory) })
	host, err := theirs.HostAlloc(smallCopy)
	if err != nil {
		return err
	}
	w.closing = append(w.closing, func() error { return theirs.HostFree(host) })

	// The binding's types of the same handles: each is one word.
	directStream, err := gorgoniacu.Stream(stream)
	if err != nil {
		return err
	}
	directEvent := *(*cu.Event)(unsafe.Pointer(&event))
	directFunction := *(*cu.Function)(unsafe.Pointer(&function))
	var values [8]uint64
	arguments := make([]unsafe.Pointer, len(values))
	starts := make([]uint32, len(values))
	for i := range values {
		arguments[i], starts[i] = unsafe.Pointer(&values[i]), uint32(i)
	}
	config := backend.LaunchConfig{Stream: stream.Handle()}
	context, err := gorgoniacu.Context(w.dev)
	if err != nil {
		return err
	}
	both := func(call func(d backend.Device) error, direct func() error) map[string]func() error {
		return map[string]func() error{
			CUDA:     func() error { return call(ours) },
			Gorgonia: func() error { return call(theirs) },
			Direct:   direct,
			Entered:  func() error { return entered(context, direct) },
		}
	}
	w.Calls = []Call{
		{"launch, 8 arguments", both(
			func(d backend.Device) error { return d.Launch(function, config, values[:], starts) },
			func() error { return directFunction.Launch(1, 1, 1, 1, 1, 1, 0, directStream, arguments) }), 500},
		{"copy 1 KiB to the device, enqueued", both(
			func(d backend.Device) error { return d.CopyToDeviceAsync(memory, host, smallCopy, stream.Handle()) },
			func() error { return cu.MemcpyHtoDAsync(cu.DevicePtr(memory), host, smallCopy, directStream) }), 500},
		{"copy 1 KiB to the host, waited for", both(
			func(d backend.Device) error { return d.CopyToHost(host, memory, smallCopy) },
			func() error { return cu.MemcpyDtoH(host, cu.DevicePtr(memory), smallCopy) }), 500},
		{"record an event", both(
			func(d backend.Device) error { return d.EventRecord(event, stream.Handle()) },
			func() error { return directEvent.Record(directStream) }), 500},
		{"ask whether an event is done", both(
			func(d backend.Device) error { _, err := d.EventQuery(event); return err },
			directEvent.Query), 500},
		{"allocate and free 1 MiB", both(
			func(d backend.Device) error {
				p, err := d.Alloc(1 << 20)
				return errors.Join(err, d.Free(p))
			},
			func() error {
				p, err := cu.MemAlloc(1 << 20)
				return errors.Join(err, cu.MemFree(p))
			}), 20},
	}
	return theirs.EventRecord(event, stream.Handle())
}

// entered does the work of a gorgoniacu without C: it locks the thread and sets the
// context for one call.
func entered(context cu.CUContext, call func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	previous, err := cu.CurrentContext()
	if err != nil {
		return err
	}
	if err := cu.SetCurrentContext(context); err != nil {
		return err
	}
	return errors.Join(call(), cu.SetCurrentContext(previous))
}

// OnThread calls f with the thread locked and the device's context current.
func (w *Work) OnThread(f func() error) error { return gorgoniacu.Do(w.dev, f) }

// Wait waits for the device.
func (w *Work) Wait() error { return w.dev.Driver().Synchronize() }

// Close frees everything in reverse order of creation.
func (w *Work) Close() error {
	err := w.Wait()
	for _, close := range slices.Backward(w.closing) {
		err = errors.Join(err, close())
	}
	if err != nil {
		return fmt.Errorf("calls: close: %w", err)
	}
	return nil
}
