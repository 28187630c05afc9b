package plan

import (
	"fmt"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/group"
	"github.com/gpuframe/gpuframe/kernels/join"
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

// Partial applies an operation of many rows to each of several parts of its input, so that
// the operation on all the results has the result of the operation on the input: an
// [Aggregate], a [Distinct], a [Slice], or a [Sort] with a limit. Tables of a partial Aggregate have the
// states of the groups, which [Merge] reads, instead of the columns of the schema.
type Partial struct {
	single
	operation Node
}

// newPartial makes partial results of an operation.
func newPartial(operation, input Node) *Partial {
	schema := operation.Schema()
	if _, ok := operation.(*Sort); ok {
		schema = withPosition(schema)
	}
	return &Partial{singleOf(input, schema), operation}
}

// Operation returns the operation.
func (p *Partial) Operation() Node { return p.operation }

// WithInputs implements [Node].
func (p *Partial) WithInputs(inputs ...Node) (Node, error) {
	operation, err := p.operation.WithInputs(inputs...)
	if err != nil {
		return nil, err
	}
	return newPartial(operation, inputs[0]), nil
}

// String implements [Node].
func (p *Partial) String() string { return "partial " + p.operation.String() }

func (p *Partial) holdsRows() bool { return false }

func (p *Partial) estimate(a *Analysis, _ Size) Size { return a.rowsOf(p.operation) }

// HasStates reports whether the tables of a node have the states of groups instead of the columns of its
// schema.
func HasStates(n Node) bool {
	switch n := n.(type) {
	case *Partial:
		_, groups := n.operation.(*Aggregate)
		return groups
	case *Exchange:
		return HasStates(n.Input())
	}
	return false
}

// Merge makes the groups of an [Aggregate] of its partial results.
type Merge struct {
	single
	aggregate *Aggregate
}

// Aggregate returns the grouping. Its input has the schema of the rows that are grouped.
func (m *Merge) Aggregate() *Aggregate { return m.aggregate }

// WithInputs implements [Node].
func (m *Merge) WithInputs(inputs ...Node) (Node, error) {
	return &Merge{singleOf(inputs[0], m.schema), m.aggregate}, nil
}

// String implements [Node].
func (m *Merge) String() string { return "merge " + m.aggregate.String() }

func (m *Merge) estimate(a *Analysis, _ Size) Size { return a.rowsOf(m.aggregate) }

// Distribute returns a plan with the same result, the order of its rows included, that runs
// on several devices: scans of many rows are divided, and operations that can work on a part of
// the rows do. It is applied to the result of [Optimize].
func Distribute(root Node, devices Devices) (Node, error) {
	d := distribution{Analysis: NewAnalysis(), devices: devices, parents: parents(root), read: orderIsRead(root), done: map[Node]spread{}, gathered: map[Node]Node{}}
	distributed, err := d.apply(root)
	if err == nil {
		distributed, err = d.inOrder(distributed)
	}
	if err != nil {
		return nil, fmt.Errorf("plan: distribute: %w", err)
	}
	return d.gather(distributed, ""), nil
}

// spread is a node. all is set if it runs on all devices, each with a part of the rows.
type spread struct {
	node Node
	all  bool
	// partition is set if the rows are on the devices of the hashes of these keys, and in the order
	// of a plan for one device on each. If positions is set, that order is lost from device to
	// device, and the node has a column of a [Position] that the plan must not have in the end.
	partition []expr.Expr
	positions bool
	// columns are those that the node has without the positions.
	columns []string
}

type distribution struct {
	*Analysis
	devices Devices
	parents map[Node]int
	// read are the nodes with an order that is read.
	read     map[Node]bool
	done     map[Node]spread
	gathered map[Node]Node
}

// gather returns a node of the first device with all rows, of one in order.
func (d *distribution) gather(s spread, reason string) Node {
	if !s.all {
		return s.node
	}
	if d.gathered[s.node] == nil {
		exchange := NewExchange(s.node, Gather, d.devices)
		exchange.reason = reason
		d.gathered[s.node] = exchange
	}
	return d.gathered[s.node]
}

func (d *distribution) apply(n Node) (spread, error) {
	if known, ok := d.done[n]; ok {
		return known, nil
	}
	inputs := make([]spread, len(n.Inputs()))
	for i, input := range n.Inputs() {
		var err error
		if inputs[i], err = d.apply(input); err != nil {
			return spread{}, err
		}
	}
	placed, err := d.place(n, inputs)
	if err == nil && d.parents[n] > 1 {
		if placed, err = d.inOrder(placed); err == nil && placed.all && d.HoldsRows(n) {
			placed = spread{node: d.gather(placed, "")} // it runs once for all that read it
		}
	}
	if err != nil {
		return spread{}, err
	}
	d.done[n] = placed
	return placed, nil
}

// place makes a node on its inputs.
func (d *distribution) place(n Node, inputs []spread) (spread, error) {
	reason := ""
	switch n := n.(type) {
	case *Over:
		var ok bool
		if reason, ok = d.dividesWindows(n, inputs[0]); ok {
			return d.window(n, inputs[0])
		}
	case *Filter, *Project:
		if inputs[0].positions {
			return d.kept(n, inputs[0])
		}
	case *Sort:
		if inputs[0].positions && n.limit == All && d.isWorthDividing(n) {
			return d.sortPositioned(n, inputs[0])
		}
	}
	for i := range inputs {
		var err error
		if inputs[i], err = d.inOrder(inputs[i]); err != nil {
			return spread{}, err
		}
	}
	if n.isLocal() {
		local, err := withInputs(n, inputs[0].node)
		return spread{node: local, all: inputs[0].all}, err
	}
	switch n := n.(type) {
	case *Scan:
		return spread{node: n, all: d.divides(n)}, nil
	case *Union:
		if !slices.ContainsFunc(inputs, func(s spread) bool { return !s.all }) {
			united, err := withInputs(n, nodesOf(inputs)...)
			return spread{node: united, all: true}, err
		}
	case *Aggregate:
		if inputs[0].all && !findsRows(n) {
			return d.aggregate(n, inputs[0].node)
		}
	case *Sort:
		if inputs[0].all && n.limit != All {
			return d.top(n, inputs[0].node)
		}
		if inputs[0].all && d.isWorthDividing(n) {
			return d.sort(n, inputs[0].node)
		}
	case *Slice:
		if end := n.End(); inputs[0].all && end != All {
			return d.first(n, inputs[0].node, end)
		}
		if inputs[0].all && n.offset < 0 {
			return d.last(n, inputs[0].node)
		}
	case *Number:
		if inputs[0].all {
			numbered, err := n.onDevices(inputs[0].node, d.devices)
			return spread{node: numbered, all: true}, err
		}
	case *Draw:
		reason = "to draw rows with replacement"
	case *Distinct:
		if inputs[0].all {
			return d.twice(n, inputs[0].node)
		}
	case *Join:
		if d.shuffles(n, inputs) {
			return d.shuffle(n, inputs)
		}
		if k := n.options.Kind; inputs[0].all && k != join.Right && k != join.Full {
			return d.broadcast(n, inputs)
		}
	case *AsOf:
		if inputs[0].all {
			return d.broadcast(n, inputs)
		}
	}
	list := make([]Node, len(inputs))
	for i, input := range inputs {
		list[i] = d.gather(input, reason)
	}
	gathered, err := withInputs(n, list...)
	return spread{node: gathered}, err
}

func nodesOf(list []spread) []Node {
	nodes := make([]Node, len(list))
	for i, s := range list {
		nodes[i] = s.node
	}
	return nodes
}

// divides reports whether the batches of a scan are read by all devices. A source that can be
// read once is not divided if several nodes read it, since the scan keeps the rows for them.
// Tables that stay on their devices are read there, however few their rows are.
func (d *distribution) divides(n *Scan) bool {
	if source.Once(n.source) && d.parents[n] > 1 {
		return false
	}
	if devices, ok := source.DevicesOf(n.source); ok && d.devices.Stay {
		return slices.ContainsFunc(devices, func(dev *device.Device) bool { return !dev.Same(d.devices.First) })
	}
	return d.isMuch(d.SizeOf(n))
}

// findsRows reports whether an aggregate is the number of a row among all.
func findsRows(n *Aggregate) bool {
	return slices.ContainsFunc(n.aggregations, isRowNumber)
}

// partial makes partial results of a node on all devices.
func (d *distribution) partial(n, input Node) (Node, error) {
	operation, err := withInputs(n, input)
	if err != nil {
		return nil, err
	}
	return newPartial(operation, input), nil
}

// aggregate merges partial groups: on the first device or, if many groups are expected, each on
// the device of its hash.
func (d *distribution) aggregate(n *Aggregate, input Node) (spread, error) {
	partial, err := d.partial(n, input)
	if err != nil {
		return spread{}, err
	}
	keys := make([]expr.Expr, len(n.keys))
	for i, k := range n.keys {
		keys[i] = expr.Col(k.Name())
	}
	reason, divided := "", len(keys) > 0 && n.options.Order == group.Unspecified && d.isWorthDividing(n)
	if divided && !haveHash(keys, n.schema) {
		reason, divided = "for groups with keys without a hash", false
	}
	if !divided {
		gathered := NewExchange(partial, Gather, d.devices)
		gathered.reason = reason
		return spread{node: &Merge{singleOf(gathered, n.schema), n}}, nil
	}
	return spread{node: &Merge{singleOf(NewExchange(partial, Shuffle, d.devices, keys...), n.schema), n}, all: true}, nil
}

// haveHash reports whether rows can move by a hash of keys. Structs have none.
func haveHash(keys []expr.Expr, schema *arrow.Schema) bool {
	_, _, err := expr.Hash(keys...).Type(schema)
	return err == nil
}

// isWorthDividing reports whether a node is expected to yield at least LeastRows rows of LeastBytes
// together, or a number of rows that is not known.
func (d *distribution) isWorthDividing(n Node) bool { return d.isMuch(d.SizeOf(n)) }

func (d *distribution) isMuch(size Size) bool {
	return size.Rows < 0 || size.Rows >= d.devices.LeastRows && size.Bytes() >= d.devices.LeastBytes
}

// shuffles reports whether both sides of a join move to the devices of their hashes: if the rows
// may come in any order, and that is expected to take less time than a copy of the right side for
// each device.
func (d *distribution) shuffles(n *Join, inputs []spread) bool {
	if !inputs[0].all || !inputs[1].all || !n.options.AnyOrder || len(n.options.Keys) == 0 {
		return false
	}
	leftKeys, rightKeys, err := n.HashKeys()
	if err != nil || !haveHash(leftKeys, n.left.Schema()) || !haveHash(rightKeys, n.right.Schema()) {
		return false
	}
	if k := n.options.Kind; k == join.Right || k == join.Full {
		return true
	}
	left, right := d.SizeOf(n.left), d.SizeOf(n.right)
	if left.Rows < 0 || right.Rows < 0 {
		return false
	}
	costs := d.devices.costsOf(left, right)
	return costs.shuffle < costs.broadcast
}

// shuffle joins the rows with equal hashes on each device. The bounds of the keys of one device
// are not those of all, so scans do not use them.
func (d *distribution) shuffle(n *Join, inputs []spread) (spread, error) {
	options := n.options
	options.Bounds = nil
	left, right, err := n.HashKeys()
	if err != nil {
		return spread{}, err
	}
	sides := [2]*Exchange{NewExchange(inputs[0].node, Shuffle, d.devices, left...), NewExchange(inputs[1].node, Shuffle, d.devices, right...)}
	sides[0].paired, sides[1].paired = true, true
	joined, err := NewJoin(sides[0], sides[1], options)
	if err != nil {
		return spread{}, err
	}
	return spread{node: joined, all: true}, nil
}

// twice applies an operation to the parts of the rows, and to the results.
func (d *distribution) twice(n, input Node) (spread, error) {
	partial, err := d.partial(n, input)
	if err != nil {
		return spread{}, err
	}
	final, err := withInputs(n, NewExchange(partial, Gather, d.devices))
	return spread{node: final}, err
}

// broadcast joins each device's left rows with a copy of the right side, to which each device that
// has a part of it sends that part.
func (d *distribution) broadcast(n Node, inputs []spread) (spread, error) {
	kind := Broadcast
	if inputs[1].all {
		kind = AllGather
	}
	right := NewExchange(inputs[1].node, kind, d.devices)
	if kind == AllGather {
		right.below = d.sizeBelow(right)
	}
	joined, err := withInputs(n, inputs[0].node, right)
	return spread{node: joined, all: true}, err
}

// Combines reports whether a device may combine partial results of rows that are not
// consecutive: then the groups do not depend on the order of the rows.
func (a *Aggregate) Combines() bool { return !a.readsOrder(0, true) }
