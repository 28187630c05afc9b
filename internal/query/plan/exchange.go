package plan

import (
	"fmt"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/expr"
)

// ExchangeKind is the way in which an [Exchange] moves rows.
type ExchangeKind uint8

const (
	// Gather moves the rows of all devices to the first one, in the order that they have in a
	// plan for one device.
	Gather ExchangeKind = iota
	// Broadcast copies the rows of the first device to all.
	Broadcast
	// AllGather copies the rows of each device to all, in the order that they have in a plan for one
	// device.
	AllGather
	// Shuffle moves the rows of all devices by a hash of keys, so that rows with equal keys are on
	// one device, in the order that they have in a plan for one device.
	Shuffle
	// Ranges moves the rows of all devices by ranges of sort keys: those of a device come before
	// those of the next one in the order of the keys, and of the rows with equal keys in the order
	// that they have in a plan for one device. So rows with equal keys may be on several devices.
	Ranges
)

// Exchange moves rows between the devices that a plan runs on. The operations below a
// gathering, an all-gather or a shuffle, down to the scans and to the next exchanges, run on all
// devices, each on a part of the rows; all others run on the first device.
type Exchange struct {
	single
	kind     ExchangeKind
	devices  Devices
	keys     []expr.Expr
	sortKeys []SortKey
	// paired is set if another shuffle moves rows by the same hash.
	paired bool
	// below is the SizeBelow of an all-gather.
	below int64
	// reason is why rows are gathered that could be worked on by all devices otherwise, or "".
	reason string
}

// Devices are the devices that a plan runs on.
type Devices struct {
	// Count is their number.
	Count int
	// Way describes how rows move from one to another: "peer copies".
	Way string
	// Pinned is set if rows move between some of them through pinned memory.
	Pinned bool
	// Memory is the least number of bytes that a query may use on one of them, or zero if that is not
	// known.
	Memory uint64
	// LeastRows and LeastBytes are the number of rows and the bytes of their columns in device
	// memory from which a scan is divided among them.
	LeastRows, LeastBytes int64
	// Stay is set if scans leave the rows of tables on the devices that have them.
	Stay bool
	// First is the device of the operations that do not run on all, if Stay is set.
	First *device.Device
}

// NewExchange makes an exchange. Only a shuffle has keys.
func NewExchange(input Node, kind ExchangeKind, devices Devices, keys ...expr.Expr) *Exchange {
	return &Exchange{single: singleOf(input, input.Schema()), kind: kind, devices: devices, keys: keys}
}

// NewRanges makes an exchange by ranges of sort keys.
func NewRanges(input Node, devices Devices, keys []SortKey) *Exchange {
	return &Exchange{single: singleOf(input, input.Schema()), kind: Ranges, devices: devices, sortKeys: keys}
}

// Keys returns the keys of a shuffle.
func (e *Exchange) Keys() []expr.Expr { return e.keys }

// SortKeys returns the keys of an exchange by ranges.
func (e *Exchange) SortKeys() []SortKey { return e.sortKeys }

// Paired reports whether another shuffle moves rows by the same hash, as for the sides of a join.
// Otherwise all rows may move to one device.
func (e *Exchange) Paired() bool { return e.paired }

// Kind returns the way in which rows move.
func (e *Exchange) Kind() ExchangeKind { return e.kind }

// WithInputs implements [Node].
func (e *Exchange) WithInputs(inputs ...Node) (Node, error) {
	exchange := *e
	exchange.single = singleOf(inputs[0], inputs[0].Schema())
	return &exchange, nil
}

// String implements [Node].
func (e *Exchange) String() string {
	switch e.kind {
	case Shuffle:
		return fmt.Sprintf("shuffle among %d devices by a hash of %s, %s", e.devices.Count, joined(e.keys, ", "), e.devices.Way)
	case Ranges:
		return fmt.Sprintf("shuffle among %d devices by ranges of %s, %s", e.devices.Count, describedKeys(e.sortKeys), e.devices.Way)
	case AllGather:
		return fmt.Sprintf("all-gather among %d devices by %s", e.devices.Count, e.devices.Way)
	case Broadcast:
		return fmt.Sprintf("broadcast to %d devices by %s", e.devices.Count, e.devices.Way)
	}
	text := fmt.Sprintf("gather from %d devices by %s", e.devices.Count, e.devices.Way)
	if e.reason != "" {
		text += ", " + e.reason
	}
	return text
}

func (e *Exchange) holdsRows() bool { return false }

// rowNumbers are known by what each device has got.
func (e *Exchange) rowNumbers() rowNumbers { return knownNumbers }

func (e *Exchange) rowsFrom() Node { return e.input }

func (e *Exchange) hasStates() bool { return e.input.hasStates() }
