package device_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/device/host"
)

var errInjected = errors.New("injected")

// fakeDriver is a backend with the host's devices; a test can change some of their
// properties. A backend cannot be unregistered, so the end of the test retires it: from
// then on it behaves like a backend that is not available.
type fakeDriver struct {
	name    string
	infos   []backend.Info
	failure error
	device  *fakeDevice
	retired atomic.Bool
}

var fakes atomic.Int64

// register adds a fake backend under a unique name until the end of the test.
func register(t *testing.T, infos ...backend.Info) *fakeDriver {
	t.Helper()
	driver := &fakeDriver{name: fmt.Sprint("fake", fakes.Add(1)), infos: infos}
	require.NoError(t, device.Register(driver.name, driver))
	t.Cleanup(func() { driver.retired.Store(true) })
	return driver
}

func (d *fakeDriver) Devices() ([]backend.Info, error) {
	if d.retired.Load() {
		return nil, backend.ErrNotAvailable
	}
	return d.infos, d.failure
}

func (d *fakeDriver) Open(ordinal int) (backend.Device, error) {
	if d.retired.Load() || ordinal >= len(d.infos) {
		return nil, backend.ErrNoDevice
	}
	real, err := host.Driver{}.Open(0)
	if err != nil {
		return nil, err
	}
	d.device = &fakeDevice{Device: real, info: d.infos[ordinal], gate: make(chan struct{})}
	return d.device, nil
}

// fakeDevice counts calls and can fail or delay some of them.
type fakeDevice struct {
	backend.Device
	info backend.Info

	eventsCreated, eventsDestroyed, records, waits, streamsDestroyed atomic.Int64
	failCreate, failRecord, failMemory                               atomic.Bool
	// pending makes events report that they are not reached.
	pending atomic.Bool
	// onQuery and onCreate are called by every EventQuery and EventCreate.
	onQuery, onCreate func()
	// gate blocks Synchronize until it is closed.
	gate      chan struct{}
	attribute backend.Attribute
}

func (d *fakeDevice) Info() backend.Info { return d.info }

func (d *fakeDevice) Attribute(attribute backend.Attribute) (int, error) {
	d.attribute = attribute
	return 42, errInjected
}

func (d *fakeDevice) MemoryInfo() (free, total uint64, err error) {
	if d.failMemory.Load() {
		return 0, 0, errInjected
	}
	return 1 << 20, 1 << 30, nil
}

func (d *fakeDevice) Synchronize() error {
	<-d.gate
	return d.Device.Synchronize()
}

func (d *fakeDevice) StreamCreate() (backend.Stream, error) {
	if d.failCreate.Load() {
		return 0, errInjected
	}
	return d.Device.StreamCreate()
}

func (d *fakeDevice) StreamDestroy(stream backend.Stream) error {
	d.streamsDestroyed.Add(1)
	return d.Device.StreamDestroy(stream)
}

func (d *fakeDevice) EventCreate(timing bool) (backend.Event, error) {
	if d.failCreate.Load() {
		return 0, errInjected
	}
	d.eventsCreated.Add(1)
	if d.onCreate != nil {
		d.onCreate()
	}
	return d.Device.EventCreate(timing)
}

func (d *fakeDevice) EventDestroy(event backend.Event) error {
	d.eventsDestroyed.Add(1)
	return d.Device.EventDestroy(event)
}

func (d *fakeDevice) EventRecord(event backend.Event, stream backend.Stream) error {
	if d.failRecord.Load() {
		return errInjected
	}
	d.records.Add(1)
	return d.Device.EventRecord(event, stream)
}

func (d *fakeDevice) StreamWaitEvent(stream backend.Stream, event backend.Event) error {
	d.waits.Add(1)
	return d.Device.StreamWaitEvent(stream, event)
}

func (d *fakeDevice) EventQuery(event backend.Event) (bool, error) {
	if d.onQuery != nil {
		d.onQuery()
	}
	done, err := d.Device.EventQuery(event)
	return done && !d.pending.Load(), err
}

// openFake opens a fake device that the test closes itself.
func openFake(t *testing.T) (*device.Device, *fakeDevice) {
	t.Helper()
	driver := register(t, backend.Info{Kind: backend.Host, Name: "fake"})
	dev, err := device.Open(driver.name)
	require.NoError(t, err)
	return dev, driver.device
}

func newStream(t *testing.T, dev *device.Device) *device.Stream {
	t.Helper()
	stream, err := dev.NewStream()
	require.NoError(t, err)
	return stream
}

func newEvent(t *testing.T, dev *device.Device) *device.Event {
	t.Helper()
	event, err := dev.NewEvent()
	require.NoError(t, err)
	return event
}
