package ordertest

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// Direction is how a key is ordered.
type Direction struct{ Descending, NullsFirst bool }

// Directions are all of them.
var Directions = []Direction{{}, {Descending: true}, {NullsFirst: true}, {true, true}}

// Compare returns the order of row i of an array and row j of another one.
func (d Direction) Compare(a arrow.Array, i int, b arrow.Array, j int) int {
	a, i = resolve(a, i)
	b, j = resolve(b, j)
	if missing, other := a == nil || a.IsNull(i), b == nil || b.IsNull(j); missing || other {
		order := truth(missing) - truth(other)
		if d.NullsFirst {
			return -order
		}
		return order
	}
	switch a := a.(type) {
	case *array.Struct:
		for f := range a.NumField() {
			if order := d.Compare(fieldOf(a, f), i, fieldOf(b.(*array.Struct), f), j); order != 0 {
				return order
			}
		}
		return 0
	case array.ListLike:
		return d.compareLists(a, i, b.(array.ListLike), j)
	}
	order := compareValues(a, i, b, j)
	if d.Descending {
		return -order
	}
	return order
}

// resolve follows dictionaries and extension types. The array is nil for a null.
func resolve(a arrow.Array, i int) (arrow.Array, int) {
	for a != nil {
		switch encoded := a.(type) {
		case array.ExtensionArray:
			a = encoded.Storage()
			continue
		case *array.Dictionary:
			if encoded.IsNull(i) {
				return nil, 0
			}
			a, i = encoded.Dictionary(), encoded.GetValueIndex(i)
			continue
		}
		break
	}
	return a, i
}

// fieldOf returns a field with the rows of the struct.
func fieldOf(a *array.Struct, f int) arrow.Array { return a.Field(f) }

func (d Direction) compareLists(a array.ListLike, i int, b array.ListLike, j int) int {
	first, end := a.ValueOffsets(i)
	otherFirst, otherEnd := b.ValueOffsets(j)
	for first < end && otherFirst < otherEnd {
		if order := d.Compare(a.ListValues(), int(first), b.ListValues(), int(otherFirst)); order != 0 {
			return order
		}
		first, otherFirst = first+1, otherFirst+1
	}
	order := truth(first < end) - truth(otherFirst < otherEnd)
	if d.Descending {
		return -order
	}
	return order
}

func truth(condition bool) int {
	if condition {
		return 1
	}
	return 0
}

// compareValues compares values of types without children.
func compareValues(a arrow.Array, i int, b arrow.Array, j int) int {
	switch a := a.(type) {
	case *array.Null:
		return 0
	case *array.Boolean:
		return truth(a.Value(i)) - truth(b.(*array.Boolean).Value(j))
	case *array.Decimal128:
		return a.Value(i).Cmp(b.(*array.Decimal128).Value(j))
	case *array.Decimal256:
		return a.Value(i).Cmp(b.(*array.Decimal256).Value(j))
	case *array.Float16:
		return compareFloats(float64(a.Value(i).Float32()), float64(b.(*array.Float16).Value(j).Float32()))
	case *array.Float32:
		return compareFloats(float64(a.Value(i)), float64(b.(*array.Float32).Value(j)))
	case *array.Float64:
		return compareFloats(a.Value(i), b.(*array.Float64).Value(j))
	}
	if first, ok := text(a, i); ok {
		other, _ := text(b, j)
		return bytes.Compare(first, other)
	}
	return integer(a, i).Cmp(integer(b, j))
}

// compareFloats has −0 equal to 0, and NaN after all numbers.
func compareFloats(x, y float64) int {
	if math.IsNaN(x) || math.IsNaN(y) {
		return truth(math.IsNaN(x)) - truth(math.IsNaN(y))
	}
	return cmp.Compare(x, y)
}

func text(a arrow.Array, i int) ([]byte, bool) {
	switch a := a.(type) {
	case *array.String:
		return []byte(a.Value(i)), true
	case *array.LargeString:
		return []byte(a.Value(i)), true
	case *array.StringView:
		return []byte(a.Value(i)), true
	case *array.Binary:
		return a.Value(i), true
	case *array.LargeBinary:
		return a.Value(i), true
	case *array.BinaryView:
		return a.Value(i), true
	case *array.FixedSizeBinary:
		return a.Value(i), true
	}
	return nil, false
}

// integer returns the value of an integer, or of a type that counts a unit.
func integer(a arrow.Array, i int) *big.Int {
	t := a.DataType().(arrow.FixedWidthDataType)
	width := t.BitWidth() / 8
	at := (a.Data().Offset() + i) * width
	little := slices.Clone(a.Data().Buffers()[1].Bytes()[at:][:width])
	slices.Reverse(little)
	value := new(big.Int).SetBytes(little)
	if !arrow.IsUnsignedInteger(t.ID()) && little[0]&0x80 != 0 {
		value.Sub(value, new(big.Int).Lsh(big.NewInt(1), uint(8*width)))
	}
	return value
}

// Order returns the numbers of n rows in the order of keys, stably.
func Order(n int, keys []arrow.Array, directions []Direction) []int {
	rows := make([]int, n)
	for i := range rows {
		rows[i] = i
	}
	slices.SortStableFunc(rows, func(i, j int) int { return CompareRows(keys, i, keys, j, directions) })
	return rows
}

// CompareRows compares row i of some keys with row j of others.
func CompareRows(a []arrow.Array, i int, b []arrow.Array, j int, directions []Direction) int {
	if len(a) != len(directions) {
		panic(fmt.Sprint(len(a), " keys, ", len(directions), " directions"))
	}
	for k, d := range directions {
		if order := d.Compare(a[k], i, b[k], j); order != 0 {
			return order
		}
	}
	return 0
}

// DenseRanks returns the dense ranks, from 1, of all rows of an array.
func DenseRanks(a arrow.Array, d Direction) []uint32 {
	ranks := make([]uint32, a.Len())
	rank := uint32(0)
	rows := Order(a.Len(), []arrow.Array{a}, []Direction{d})
	for i, row := range rows {
		if i == 0 || d.Compare(a, rows[i-1], a, row) != 0 {
			rank++
		}
		ranks[row] = rank
	}
	return ranks
}
