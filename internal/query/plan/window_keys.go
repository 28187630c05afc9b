package plan

import (
	"slices"

	"github.com/gpuframe/gpuframe/kernels/expr"
)

// WindowKeys divide rows into partitions of equal keys, and order the rows of each. Without keys of
// partitions all rows are one.
type WindowKeys struct {
	Partition []expr.Expr
	Order     []SortKey
}

// All returns the keys of the partitions and of the order.
func (w WindowKeys) All() []expr.Expr {
	keys := slices.Clone(w.Partition)
	for _, k := range w.Order {
		keys = append(keys, k.Value)
	}
	return keys
}

// Unnamed removes the names of the keys.
func (w WindowKeys) Unnamed() WindowKeys {
	w.Partition, w.Order = slices.Clone(w.Partition), slices.Clone(w.Order)
	for i, k := range w.Partition {
		w.Partition[i] = Unnamed(k)
	}
	for i, k := range w.Order {
		w.Order[i].Value = Unnamed(k.Value)
	}
	return w
}

// Same reports whether the keys are equal, with their names.
func (w WindowKeys) Same(v WindowKeys) bool {
	return sameExpressions(w.Partition, v.Partition) && slices.EqualFunc(w.Order, v.Order, SortKey.same)
}

// String formats the keys: "city order by qty descending".
func (w WindowKeys) String() string {
	text := joined(w.Partition, ", ")
	if len(w.Order) == 0 {
		return text
	}
	if text != "" {
		text += " "
	}
	return text + "order by " + describedKeys(w.Order)
}
