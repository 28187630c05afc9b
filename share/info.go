package share

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gpuframe/gpuframe/device"
)

// DeviceID identifies a device of the machine in all processes. It is zero for a table
// without memory.
type DeviceID struct {
	Kind device.Kind
	// UUID is zero on the host.
	UUID device.UUID
}

// IDOf returns the identity of a device.
func IDOf(dev *device.Device) DeviceID {
	info := dev.Info()
	return DeviceID{Kind: info.Kind, UUID: info.UUID}
}

// String names the device.
func (d DeviceID) String() string {
	switch d.Kind {
	case 0:
		return "no device"
	case device.Host:
		return "host"
	}
	return fmt.Sprintf("%v device %v", d.Kind, d.UUID)
}

// Name returns the argument of device.Open that opens the device in this process. The
// error wraps device.ErrNoDevice if this process cannot see the device.
func (d DeviceID) Name() (string, error) {
	if d.Kind == device.Host {
		return "host", nil
	}
	listings, err := device.List()
	for _, listing := range listings {
		if listing.Info.Kind == d.Kind && listing.Info.UUID == d.UUID {
			return listing.Name, nil
		}
	}
	return "", errors.Join(fmt.Errorf("share: %v: this process cannot see the device; check CUDA_VISIBLE_DEVICES: %w", d, device.ErrNoDevice), err)
}

type deviceMessage struct {
	Kind string `json:"kind"`
	UUID string `json:"uuid"`
}

// MarshalJSON writes the kind's name and the UUID in hexadecimal.
func (d DeviceID) MarshalJSON() ([]byte, error) {
	if d == (DeviceID{}) {
		return json.Marshal(deviceMessage{})
	}
	return json.Marshal(deviceMessage{Kind: d.Kind.String(), UUID: hex.EncodeToString(d.UUID[:])})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (d *DeviceID) UnmarshalJSON(text []byte) error {
	var message deviceMessage
	if err := decode(text, &message); err != nil {
		return err
	}
	*d = DeviceID{}
	if message == (deviceMessage{}) {
		return nil
	}
	for _, kind := range []device.Kind{device.Host, device.CUDA} {
		if message.Kind == kind.String() {
			d.Kind = kind
		}
	}
	uuid, err := hex.DecodeString(message.UUID)
	if d.Kind == 0 || err != nil || len(uuid) != len(d.UUID) {
		return fmt.Errorf("device of kind %q with UUID %q: %w", message.Kind, message.UUID, ErrProtocol)
	}
	d.UUID = device.UUID(uuid)
	return nil
}

// TableInfo describes a table of a server.
type TableInfo struct {
	Name string `json:"name"`
	Rows int64  `json:"rows"`
	// Columns counts the columns, Bytes the memory of their buffers.
	Columns int    `json:"columns"`
	Bytes   uint64 `json:"bytes"`
	// Device is the device of the table's memory.
	Device DeviceID `json:"device"`
}

func (i TableInfo) check() error {
	if err := checkName(i.Name); err != nil {
		return fmt.Errorf("%w: %w", err, ErrProtocol)
	}
	if i.Rows < 0 || i.Columns < 0 {
		return fmt.Errorf("table %q has %d rows and %d columns: %w", i.Name, i.Rows, i.Columns, ErrProtocol)
	}
	return nil
}
