//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"fmt"
	"runtime"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/internal/arrays/format/formattest"
	"github.com/gpuframe/gpuframe/internal/base/address"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// structOf writes a schema to a struct on Go's heap, which works while only Go moves
// it.
func structOf(t require.TestingT, schema *arrow.Schema) *cabi.Schema {
	s := new(cabi.Schema)
	require.NoError(t, ExportSchema(schema, unsafe.Pointer(s)))
	return s
}

// asForeign reads a struct without recognising it.
func asForeign(t require.TestingT, s *cabi.Schema) *arrow.Schema {
	field, err := new(schemaReader).storage(s, 1)
	require.NoError(t, err)
	return arrow.NewSchema(field.Type.(*arrow.StructType).Fields(), &field.Metadata)
}

func requireSame(t require.TestingT, want, got *arrow.Schema) {
	if want != got { // require.Same would print both
		require.Fail(t, "another schema", "%p\n%v\n%p\n%v", want, want, got, got)
	}
}

func requireEqualSchemas(t require.TestingT, want, got *arrow.Schema) {
	require.True(t, want.Equal(got), "%v\n%v", want, got)
	require.True(t, want.Metadata().Equal(got.Metadata()), "%v\n%v", want, got)
}

func drawSchema(t *rapid.T) *arrow.Schema {
	fields := rapid.SliceOfN(formattest.Field(2), 0, 4).Draw(t, "fields")
	metadata := arrow.NewMetadata([]string{"k"}, []string{rapid.String().Draw(t, "value")})
	return arrow.NewSchema(fields, &metadata)
}

// Schemas that are exported, imported and dropped in any order each return as
// themselves, and other readers see the text of the first export.
func TestWrittenSchemasAreNotMixed(t *testing.T) {
	property.Check(t, func(t *rapid.T) {
		schemas := []*arrow.Schema{drawSchema(t), drawSchema(t), drawSchema(t)}
		schemas = append(schemas, arrow.NewSchema(schemas[0].Fields(), nil), schemas[1].WithEndianness(schemas[1].Endianness()))
		var live []*cabi.Schema
		var of []int
		release := func(i int) {
			cabi.ReleaseSchema(live[i])
			live, of = append(live[:i:i], live[i+1:]...), append(of[:i:i], of[i+1:]...)
		}
		t.Repeat(map[string]func(*rapid.T){
			"export": func(t *rapid.T) {
				i := rapid.IntRange(0, len(schemas)-1).Draw(t, "schema")
				live, of = append(live, structOf(t, schemas[i])), append(of, i)
			},
			"replace": func(t *rapid.T) {
				i := rapid.IntRange(0, len(schemas)-1).Draw(t, "schema")
				next := drawSchema(t)
				for k := range of {
					if of[k] == i {
						t.Skip("it is out")
					}
				}
				*schemas[i] = *next // the address stays
			},
			"forget": func(t *rapid.T) {
				if k := written.lookUp(schemas[rapid.IntRange(0, len(schemas)-1).Draw(t, "schema")]); k != nil {
					written.forget(k.mark)
				}
			},
			"import": func(t *rapid.T) {
				if len(live) == 0 {
					t.Skip("nothing is out")
				}
				i := rapid.IntRange(0, len(live)-1).Draw(t, "struct")
				want, mark := schemas[of[i]], live[i].Origin().Mark
				k := written.lookUp(want)
				got, err := ImportSchema(unsafe.Pointer(live[i]))
				require.NoError(t, err)
				if k != nil && k.mark == mark {
					requireSame(t, want, got)
				}
				requireEqualSchemas(t, want, got)
				release(i)
			},
			"": func(t *rapid.T) {
				for i, s := range live {
					requireEqualSchemas(t, schemas[of[i]], asForeign(t, s))
				}
			},
		})
		for len(live) > 0 {
			release(0)
		}
	})
}

func childAt(s *cabi.Schema, i int) *cabi.Schema {
	return *(**cabi.Schema)(address.Pointer(s.Children + uintptr(i)*wordBytes))
}

func TestAlteredSchemasAreReadAgain(t *testing.T) {
	for name, alter := range map[string]func(s *cabi.Schema){
		"flags of the root":  func(s *cabi.Schema) { s.Flags = cabi.FlagNullable },
		"flags of a child":   func(s *cabi.Schema) { childAt(s, 1).Flags ^= cabi.FlagNullable },
		"order of children":  func(s *cabi.Schema) { a, b := childAt(s, 0), childAt(s, 1); a.Name, b.Name = b.Name, a.Name },
		"fewer children":     func(s *cabi.Schema) { cabi.ReleaseSchema(childAt(s, 1)); s.NumChildren-- },
		"name of a child":    func(s *cabi.Schema) { *(*byte)(address.Pointer(childAt(s, 1).Name)) = 'X' },
		"text of the format": func(s *cabi.Schema) { *(*byte)(address.Pointer(childAt(s, 0).Format)) = 'I' },
		"no metadata":        func(s *cabi.Schema) { s.Metadata = 0 },
		"a value": func(s *cabi.Schema) {
			*(*byte)(address.Pointer(s.Metadata + 4 + 4 + 1 + 4)) = 'w'
		},
	} {
		t.Run(name, func(t *testing.T) {
			metadata := arrow.NewMetadata([]string{"k"}, []string{"v"})
			schema := arrow.NewSchema([]arrow.Field{
				{Name: "a", Type: arrow.PrimitiveTypes.Int32},
				{Name: "b", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true},
			}, &metadata)
			s := structOf(t, schema)
			alter(s)
			want := asForeign(t, s)
			got, err := ImportSchema(unsafe.Pointer(s))
			require.NoError(t, err)
			require.NotSame(t, schema, got)
			requireEqualSchemas(t, want, got)
			require.Zero(t, s.Release)

			s = structOf(t, schema) // the cached image is unchanged
			requireEqualSchemas(t, schema, asForeign(t, s))
			got, err = ImportSchema(unsafe.Pointer(s))
			require.NoError(t, err)
			requireSame(t, schema, got)
		})
	}
}

func TestASchemaWhoseChildWasMovedOut(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32)}, {Name: "b", Type: arrow.Null}}, nil)
	s := structOf(t, schema)
	child := *childAt(s, 0)
	childAt(s, 0).Release = 0
	copied := *s
	_, err := ImportSchema(unsafe.Pointer(s))
	require.ErrorIs(t, err, ErrMoved)
	_, err = ImportSchema(unsafe.Pointer(&copied)) // the tree is still allocated
	require.ErrorIs(t, err, ErrMoved)

	field, err := ImportField(unsafe.Pointer(&child))
	require.NoError(t, err)
	require.Equal(t, "a", field.Name)
	require.True(t, arrow.TypeEqual(schema.Field(0).Type, field.Type))
}

// A copy that was not marked as released is refused after its memory is freed.
func TestUnmarkedCopyOfAReleasedSchema(t *testing.T) {
	for _, write := range []func(s *cabi.Schema) error{
		func(s *cabi.Schema) error { return ExportSchema(arrow.NewSchema(nil, nil), unsafe.Pointer(s)) },
		func(s *cabi.Schema) error { return ExportField(arrow.Field{Type: arrow.StructOf()}, unsafe.Pointer(s)) },
	} {
		var s cabi.Schema
		require.NoError(t, write(&s))
		copied := s
		cabi.ReleaseSchema(&s)
		again := copied
		_, err := ImportSchema(unsafe.Pointer(&copied))
		require.ErrorIs(t, err, ErrMoved)
		require.Zero(t, copied.Release)
		_, err = ImportField(unsafe.Pointer(&again))
		require.ErrorIs(t, err, ErrMoved)
	}
}

func TestCollectedSchemasAreForgotten(t *testing.T) {
	var out cabi.Schema
	marks := func() (marks []uint64) {
		for i := range 20 {
			schema := arrow.NewSchema([]arrow.Field{{Name: fmt.Sprint("collected", i), Type: arrow.Null}}, nil)
			s := structOf(t, schema)
			marks = append(marks, s.Origin().Mark)
			if i == 0 {
				out = *s
				continue
			}
			cabi.ReleaseSchema(s)
		}
		return marks
	}()
	gone := func() bool {
		for _, mark := range marks {
			written.mu.RLock()
			_, there := written.byMark[mark]
			written.mu.RUnlock()
			if there {
				return false
			}
		}
		return true
	}
	await.Collected(t, gone, "no image of a schema is kept")
	// An exported struct can still be read.
	got, err := ImportSchema(unsafe.Pointer(&out))
	require.NoError(t, err)
	require.Equal(t, "collected0", got.Field(0).Name)
}

func TestWrittenSchemasAreBounded(t *testing.T) {
	w := writtenSchemas{byAddress: map[uintptr]*writtenSchema{}, byMark: map[uint64]*writtenSchema{}}
	wide := make([]arrow.Field, 8000)
	for i := range wide {
		wide[i] = arrow.Field{Name: fmt.Sprint(i), Type: arrow.Null}
	}
	var schemas []*arrow.Schema
	add := func(schema *arrow.Schema) uint64 {
		image, err := imageOfSchema(schema)
		require.NoError(t, err)
		schemas = append(schemas, schema)
		return w.keep(schema, image)
	}
	for range maximumWritten + 100 {
		require.NotZero(t, add(arrow.NewSchema(nil, nil)))
	}
	require.Len(t, w.byAddress, maximumWritten)
	for range 20 {
		require.NotZero(t, add(arrow.NewSchema(wide, nil)))
		require.LessOrEqual(t, w.bytes, maximumWrittenBytes)
	}
	bytes := 0
	for address, k := range w.byAddress {
		bytes += k.image.Bytes()
		require.Same(t, k, w.byMark[k.mark])
		require.Equal(t, address, k.address)
	}
	require.Len(t, w.byMark, len(w.byAddress))
	require.Equal(t, bytes, w.bytes)
	last := schemas[len(schemas)-1]
	require.Equal(t, w.lookUp(last).mark, w.keep(last, w.lookUp(last).image))

	large := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.StructOf(wide...)}, {Name: "t", Type: arrow.StructOf(wide...)}}, nil)
	require.Zero(t, add(large))
	require.Nil(t, w.lookUp(large))
	got, err := ImportSchema(unsafe.Pointer(structOf(t, large)))
	require.NoError(t, err)
	requireEqualSchemas(t, large, got)

	for mark := range w.byMark {
		w.forget(mark)
	}
	require.Zero(t, w.bytes)
	require.Empty(t, w.byAddress)
	runtime.KeepAlive(schemas)
}

// A global variable is never collected.
var global = *arrow.NewSchema([]arrow.Field{{Name: "global", Type: arrow.Null}}, nil)

func TestASchemaOutsideTheHeap(t *testing.T) {
	for range 2 {
		got, err := ImportSchema(unsafe.Pointer(structOf(t, &global)))
		require.NoError(t, err)
		requireSame(t, &global, got)
	}
}
