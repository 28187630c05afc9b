//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"math"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
)

// A map is accepted if the null count of its entries is unknown and no entry is null.
// It is refused if an entry is null.
func TestMapsOfPlainArrays(t *testing.T) {
	external, err := hostManager()
	require.NoError(t, err)
	m := newHostManager(t)
	maps := arrow.MapOf(arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int32)
	for _, dataType := range []arrow.DataType{
		maps, arrow.ListOf(maps), arrow.FixedSizeListOf(2, arrow.ListViewOf(maps)), arrow.StructOf(arrow.Field{Name: "m", Type: maps}),
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "m", Type: maps}),
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: maps},
	} {
		for _, bits := range []uint64{math.MaxUint64, math.MaxUint64 - 1} {
			g := arraytest.NewGenerator(4)
			want := recordOf(g.Array(dataType, 10))
			p, a := foreignTable(t, m, want)
			entries := mapEntries(&p.Device.Array, want.Column(0).DataType())
			bitmap := p.Words(words(bits, int(entries.Length+entries.Offset)))
			for _, each := range []*cabi.Array{entries, childOf(entries, 0)} {
				buffersOf(each)[0], each.NullCount = bitmap, -1
			}
			got, err := ImportRecord(pointerTo(&p.Device.Array), a.Schema())
			if bits == math.MaxUint64 {
				require.NoError(t, err, "%v", dataType)
				requireRecord(t, want, got)
				got.Release()
			} else {
				require.ErrorIs(t, err, ErrInvalid, "%v", dataType)
				require.ErrorContains(t, err, "an entry or a key of map<utf8, int32, items_nullable> is null")
			}
			requireReleasedOnce(t, p)
			require.Equal(t, 1, p.Ended())
			require.NoError(t, a.Release())
			requireNothingHeld(t, external)
		}
	}
	requireNothingHeld(t, m)
}

// words returns words for a number of bits; the first word is given.
func words(first uint64, bits int) []uintptr {
	all := []uintptr{uintptr(first)}
	for range bits / 64 {
		all = append(all, ^uintptr(0))
	}
	return all
}

// mapEntries finds the entries of the first map in a table.
func mapEntries(table *cabi.Array, of arrow.DataType) *cabi.Array {
	a := childOf(table, 0)
	for {
		switch t := of.(type) {
		case *arrow.MapType:
			return childOf(a, 0)
		case *arrow.DictionaryType:
			a, of = dictionaryOf(a), t.ValueType
		case *arrow.StructType:
			last := t.NumFields() - 1
			a, of = childOf(a, last), t.Field(last).Type
		case arrow.ListLikeType:
			a, of = childOf(a, 0), t.Elem()
		}
	}
}

// unwilling is an extension type that panics when an array of it is made.
type unwilling struct{ arrow.ExtensionBase }

type unwillingArray struct{ array.ExtensionArrayBase }

var willing atomic.Bool

func (*unwilling) ArrayType() reflect.Type {
	if !willing.Load() {
		panic("not today")
	}
	return reflect.TypeFor[unwillingArray]()
}
func (*unwilling) ExtensionName() string                            { return "gpuframe.unwilling" }
func (*unwilling) Serialize() string                                { return "" }
func (u *unwilling) ExtensionEquals(other arrow.ExtensionType) bool { return other == u }

func (u *unwilling) Deserialize(arrow.DataType, string) (arrow.ExtensionType, error) { return u, nil }

// If an extension type panics after half of the arrays above it were made, no caller
// has those arrays. The producer's array is released nevertheless.
func TestPlainArraysWhoseTypePanics(t *testing.T) {
	external, err := hostManager()
	require.NoError(t, err)
	m := newHostManager(t)
	willing.Store(true)
	inner := &unwilling{arrow.ExtensionBase{Storage: arrow.BinaryTypes.String}}
	require.NoError(t, arrow.RegisterExtensionType(inner))
	t.Cleanup(func() { require.NoError(t, arrow.UnregisterExtensionType(inner.ExtensionName())) })
	for _, dataType := range []arrow.DataType{
		inner, arrow.ListOf(inner), arrow.FixedSizeListOf(2, arrow.ListViewOf(inner)),
		arrow.StructOf(arrow.Field{Name: "a", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "b", Type: arrow.ListOf(inner)}),
	} {
		g := arraytest.NewGenerator(4)
		for _, panics := range []bool{true, false} {
			willing.Store(true)
			want := recordOf(int32s(1, 2, 3), g.Array(dataType, 3))
			p, a := foreignTable(t, m, want)
			willing.Store(!panics)
			got, err := ImportRecord(pointerTo(&p.Device.Array), a.Schema())
			if panics {
				require.ErrorIs(t, err, ErrInvalid, "%v", dataType)
				require.ErrorContains(t, err, "not today")
			} else {
				require.NoError(t, err)
				got.Release()
			}
			requireReleasedOnce(t, p)
			require.Equal(t, 1, p.Ended())
			require.NoError(t, a.Release())
			requireNothingHeld(t, external)
		}
	}
	requireNothingHeld(t, m)
}
