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
	// reason, of a spread without a node, is why the operation runs on the first device.
	reason string
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
	moved, err := n.dividedAsMoved(d, inputs)
	if moved.node != nil || err != nil {
		return moved, err
	}
	for i := range inputs {
		if inputs[i], err = d.inOrder(inputs[i]); err != nil {
			return spread{}, err
		}
	}
	if n.isLocal() {
		local, err := withInputs(n, inputs[0].node)
		return spread{node: local, all: inputs[0].all}, err
	}
	placed, err := n.divided(d, inputs)
	if placed.node != nil || err != nil {
		return placed, err
	}
	return d.onFirst(n, inputs, moved.reason)
}

// onFirst makes a node that runs on the first device. reason is why it does, if it could run on all
// otherwise, or "".
func (d *distribution) onFirst(n Node, inputs []spread, reason string) (spread, error) {
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
