// Command contend keeps every GPU busy with copies and fills of milliseconds until it is ended, so
// that work of other processes is delayed: scripts/run.sh starts it for tests of order and of
// lifetimes. It prints "busy" when it has begun.
package main

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/cuda"
)

const (
	// large is copied and filled on the device, and hostBytes from and to pinned memory: each takes
	// some milliseconds.
	large     = 2 << 30
	hostBytes = 64 << 20
	// ahead is the number of rounds that are enqueued before the first is waited for.
	ahead = 4
)

func main() {
	if err := run(); err != nil {
		log.Fatal("contend: ", err)
	}
}

func run() error {
	infos, err := cuda.Driver{}.Devices()
	if err != nil {
		return err
	}
	failures := make(chan error, 2*len(infos))
	for _, info := range infos {
		dev, err := device.Open(fmt.Sprint("cuda:", info.Ordinal))
		if err != nil {
			return err
		}
		for range 2 { // one stream copies while the other fills
			w, err := newWorker(dev.Driver())
			if err != nil {
				return fmt.Errorf("%s: %w", dev.Name(), err)
			}
			go func() { failures <- w.run() }()
		}
	}
	fmt.Println("busy")
	return <-failures
}

// worker keeps one stream busy.
type worker struct {
	driver   backend.Device
	stream   backend.Stream
	from, to backend.Pointer
	upload   func() error
	events   [ahead]backend.Event
}

func newWorker(driver backend.Device) (*worker, error) {
	w := &worker{driver: driver}
	var failures [4]error
	w.stream, failures[0] = driver.StreamCreate()
	w.from, failures[1] = driver.Alloc(large)
	w.to, failures[2] = driver.Alloc(large)
	pinned, err := driver.HostAlloc(hostBytes)
	failures[3] = err
	if err := errors.Join(failures[:]...); err != nil {
		return nil, err
	}
	w.upload = func() error {
		return errors.Join(driver.CopyToDeviceAsync(w.from, pinned, hostBytes, w.stream), driver.CopyToHostAsync(pinned, w.to, hostBytes, w.stream))
	}
	for i := range w.events {
		if w.events[i], err = driver.EventCreate(false); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// run enqueues rounds until an operation fails.
func (w *worker) run() error {
	for round := 0; ; round++ {
		if event := w.events[round%ahead]; round >= ahead {
			for {
				done, err := w.driver.EventQuery(event)
				if err != nil {
					return err
				}
				if done {
					break
				}
				time.Sleep(100 * time.Microsecond)
			}
		}
		err := errors.Join(w.upload(),
			w.driver.CopyOnDeviceAsync(w.to, w.from, large, w.stream),
			w.driver.MemsetAsync(w.to, uint32(round), 4, large/4, w.stream),
			w.driver.EventRecord(w.events[round%ahead], w.stream))
		if err != nil {
			return err
		}
	}
}
