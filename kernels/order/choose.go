package order

import "github.com/gpuframe/gpuframe/memory"

// rowSort sorts the row numbers of an ordering.
type rowSort interface {
	// scratch returns the sizes of the memory that run gets. Ties take more, and their
	// number is not known in advance.
	scratch() []uint64
	// run writes the row numbers to rows in the order of the plan. rows has the capacity;
	// elements after the row count are not read.
	run(rows memory.Slice[uint32], scratch []memory.Slice[uint8]) error
}

// chooseSort returns the sort of an ordering's row numbers.
func (o *ordering) chooseSort() rowSort {
	switch {
	case o.call.OnHost():
		return hostRows{o}
	case o.rows == 0 || o.plan.Bits() == 0:
		return equalRows{o}
	case o.sortsFew(o.rows):
		return fewSort{o}
	}
	if valid := o.split(); valid != nil {
		return &splitSort{o, valid}
	}
	return &wordSort{o, o.firstSort()}
}

// unforeseen reports whether the memory of a sort depends on the values: that of ties does.
func unforeseen(s rowSort) bool {
	w, ok := s.(*wordSort)
	return ok && !w.oneWord()
}

// equalRows keeps rows that are all equal, on a GPU.
type equalRows struct{ *ordering }

func (equalRows) scratch() []uint64 { return nil }

func (e equalRows) run(rows memory.Slice[uint32], _ []memory.Slice[uint8]) error {
	if e.rows == 0 {
		return nil
	}
	return e.launchTies("order_numbers", e.rows, rows, uint64(e.rows))
}
