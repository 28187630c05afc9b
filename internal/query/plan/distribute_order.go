package plan

import "slices"

// sort sorts the rows of each device, after they have moved by ranges of the keys.
func (d *distribution) sort(n *Sort, input Node) (spread, error) {
	sorted, err := withInputs(n, NewRanges(input, d.devices, n.keys))
	return spread{node: sorted, all: true}, err
}

// sortPositioned sorts rows with positions, which rows with equal keys are ordered by.
func (d *distribution) sortPositioned(n *Sort, input spread) (spread, error) {
	keys := withPositionKey(n.keys)
	sorted, err := NewSort(NewRanges(input.node, d.devices, keys), keys, All)
	if err != nil {
		return spread{}, err
	}
	unpositioned, err := NewColumns(sorted, input.columns...)
	return spread{node: unpositioned, all: true}, err
}

// withPositionKey returns sort keys and the position.
func withPositionKey(keys []SortKey) []SortKey {
	return append(slices.Clone(keys), positionKey())
}

// top finds the first rows of each device, and those of all among them. Rows with equal keys are
// ordered by their positions. If a device may have to keep as many rows as it has, all are sorted
// and the first ones taken.
func (d *distribution) top(n *Sort, input Node) (spread, error) {
	size := d.SizeOf(input)
	if size.Rows >= 0 && n.limit >= size.Rows/int64(d.devices.Count) && d.isMuch(Size{Rows: n.limit, RowBytes: size.RowBytes}) {
		sorted, err := NewSort(NewRanges(input, d.devices, n.keys), n.keys, All)
		if err != nil {
			return spread{}, err
		}
		head, err := NewSlice(sorted, 0, n.limit)
		if err != nil {
			return spread{}, err
		}
		return d.first(head, sorted, n.limit)
	}
	partial, err := d.partial(n, input)
	if err != nil {
		return spread{}, err
	}
	all, err := NewSort(NewExchange(partial, Gather, d.devices), withPositionKey(n.keys), n.limit)
	if err != nil {
		return spread{}, err
	}
	unpositioned, err := NewColumns(all, columnsOf(n.schema)...)
	return spread{node: unpositioned}, err
}

// first makes a slice of rows of which no device needs more than some.
func (d *distribution) first(n *Slice, input Node, rows int64) (spread, error) {
	head, err := NewSlice(input, 0, rows)
	if err != nil {
		return spread{}, err
	}
	slice, err := withInputs(n, NewExchange(newPartial(head, input), Gather, d.devices))
	return spread{node: slice}, err
}

// last makes a slice that counts from the end: no device needs more than its own last rows.
func (d *distribution) last(n *Slice, input Node) (spread, error) {
	tail, err := NewSlice(input, n.offset, All)
	if err != nil {
		return spread{}, err
	}
	slice, err := withInputs(n, NewExchange(newPartial(tail, input), Gather, d.devices))
	return spread{node: slice}, err
}
