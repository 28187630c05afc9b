//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/schematest"
)

func TestImportRefuses(t *testing.T) {
	for _, c := range []struct {
		name      string
		at        string
		condition error
		// spoil breaks a struct of a number, a list of text, and a dictionary of
		// text.
		spoil func(p *schematest.Producer, s *cabi.Schema)
	}{
		{"no format", "format", arrowdev.ErrInvalid, func(_ *schematest.Producer, s *cabi.Schema) { s.Format = 0 }},
		{"malformed format", "children[0].format", arrowdev.ErrInvalid, func(p *schematest.Producer, s *cabi.Schema) {
			schematest.Child(s, 0).Format = p.Text("w:-1")
		}},
		{"unknown format", "children[0].format", arrowdev.ErrUnsupported, func(p *schematest.Producer, s *cabi.Schema) {
			schematest.Child(s, 0).Format = p.Text("+future")
		}},
		{"endless format", "format", arrowdev.ErrInvalid, func(p *schematest.Producer, s *cabi.Schema) {
			s.Format = p.Text(strings.Repeat("x", 1<<20+1))
		}},
		{"name in another encoding", "children[2].name", arrowdev.ErrInvalid, func(p *schematest.Producer, s *cabi.Schema) {
			schematest.Child(s, 2).Name = p.Text("na\xefve")
		}},
		{"endless name", "name", arrowdev.ErrInvalid, func(p *schematest.Producer, s *cabi.Schema) {
			s.Name = p.Text(strings.Repeat("x", 1<<20+1))
		}},
		{"metadata of less than nothing", "children[1].children[0].metadata", arrowdev.ErrInvalid, func(p *schematest.Producer, s *cabi.Schema) {
			schematest.Child(schematest.Child(s, 1), 0).Metadata = p.Bytes([]byte{0xff, 0xff, 0xff, 0xff})
		}},
		{"negative number of children", "n_children", arrowdev.ErrInvalid, func(_ *schematest.Producer, s *cabi.Schema) { s.NumChildren = -1 }},
		{"too many children", "n_children", arrowdev.ErrInvalid, func(_ *schematest.Producer, s *cabi.Schema) { s.NumChildren = 1<<16 + 1 }},
		{"children of a number", "children[0].n_children", arrowdev.ErrInvalid, func(_ *schematest.Producer, s *cabi.Schema) {
			schematest.Child(s, 0).NumChildren = 1
		}},
		{"no table of children", "children", arrowdev.ErrInvalid, func(_ *schematest.Producer, s *cabi.Schema) { s.Children = 0 }},
		{"table of children at an odd address", "children", arrowdev.ErrInvalid, func(_ *schematest.Producer, s *cabi.Schema) { s.Children++ }},
		{"no child", "children[1]", arrowdev.ErrInvalid, func(p *schematest.Producer, s *cabi.Schema) {
			s.Children = p.Words(uintptr(unsafe.Pointer(schematest.Child(s, 0))), 0, 0)
		}},
		{"child at an odd address", "children[0]", arrowdev.ErrInvalid, func(p *schematest.Producer, s *cabi.Schema) {
			s.Children = p.Words(uintptr(unsafe.Pointer(schematest.Child(s, 0)))+1, 0, 0)
		}},
		{"released child", "children[1].release", arrowdev.ErrMoved, func(_ *schematest.Producer, s *cabi.Schema) {
			schematest.Child(s, 1).Release = 0
		}},
		{"released dictionary", "children[2].dictionary.release", arrowdev.ErrMoved, func(p *schematest.Producer, s *cabi.Schema) {
			values := p.Schema("u")
			values.Release = 0
			schematest.Child(s, 2).Dictionary = uintptr(unsafe.Pointer(values))
		}},
		{"dictionary of a list", "children[1].dictionary", arrowdev.ErrInvalid, func(p *schematest.Producer, s *cabi.Schema) {
			schematest.Child(s, 1).Dictionary = uintptr(unsafe.Pointer(p.Schema("u")))
		}},
		{"map of nullable keys", "children[0].children[0].children[0]", arrowdev.ErrInvalid, func(p *schematest.Producer, s *cabi.Schema) {
			key := p.Schema("u")
			key.Flags = cabi.FlagNullable
			*schematest.Child(s, 0) = *p.Schema("+m", p.Schema("+s", key, p.Schema("u")))
		}},
		{"circle", "children[1]." + strings.Repeat("children[0].", 63) + "!", arrowdev.ErrInvalid, func(_ *schematest.Producer, s *cabi.Schema) {
			list := schematest.Child(s, 1)
			table(list)[0] = uintptr(unsafe.Pointer(list))
		}},
		{"circle through the top", "children[0].release", arrowdev.ErrMoved, func(_ *schematest.Producer, s *cabi.Schema) {
			table(s)[0] = uintptr(unsafe.Pointer(s))
		}},
		{"circle of dictionaries", "children[2]." + strings.Repeat("dictionary.", 63) + "!", arrowdev.ErrInvalid, func(_ *schematest.Producer, s *cabi.Schema) {
			dictionary := schematest.Child(s, 2)
			dictionary.Dictionary = uintptr(unsafe.Pointer(dictionary))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p schematest.Producer
			defer p.Close()
			dictionary := p.Schema("i")
			dictionary.Dictionary = uintptr(unsafe.Pointer(p.Schema("u")))
			s := p.Schema("+s", p.Schema("l"), p.Schema("+l", p.Schema("u")), dictionary)
			c.spoil(&p, s)

			_, err := arrowdev.ImportSchema(unsafe.Pointer(s))
			requireFault(t, err, "import schema", "ArrowSchema."+strings.TrimSuffix(c.at, ".!"), c.condition)
			require.Zero(t, s.Release)
			require.EqualValues(t, 1, p.Released(s))
			require.EqualValues(t, 1, p.ReleasedInAll())
			// The schema was released; nothing is left to release.
			_, err = arrowdev.ImportField(unsafe.Pointer(s))
			requireFault(t, err, "import schema", "ArrowSchema.release", arrowdev.ErrMoved)
			require.EqualValues(t, 1, p.ReleasedInAll())
		})
	}
	_, err := arrowdev.ImportField(nil)
	requireFault(t, err, "import schema", "ArrowSchema", arrowdev.ErrInvalid)
}

func table(s *cabi.Schema) []uintptr {
	return unsafe.Slice(*(**uintptr)(unsafe.Pointer(&s.Children)), s.NumChildren)
}

// Sixteen structs describe four thousand million fields.
func TestImportManyFieldsOfFewStructs(t *testing.T) {
	var p schematest.Producer
	defer p.Close()
	s := p.Schema("n")
	for range 16 {
		s = p.Schema("+s", s, s, s, s)
	}
	_, err := arrowdev.ImportField(unsafe.Pointer(s))
	require.ErrorIs(t, err, arrowdev.ErrInvalid)
	require.ErrorContains(t, err, "fields")
	require.EqualValues(t, 1, p.ReleasedInAll())
}

func TestImportMuchTextOfFewStructs(t *testing.T) {
	var p schematest.Producer
	defer p.Close()
	s := p.Schema("n")
	s.Name = p.Text(strings.Repeat("x", 1<<20))
	for range 5 {
		s = p.Schema("+s", s, s, s, s)
	}
	_, err := arrowdev.ImportField(unsafe.Pointer(s))
	require.ErrorIs(t, err, arrowdev.ErrInvalid)
	require.ErrorContains(t, err, "bytes of text")
}

// Parts that other libraries omit or add are accepted.
func TestImportAccepts(t *testing.T) {
	var p schematest.Producer
	defer p.Close()
	number := p.Schema("i")
	number.Flags = -1
	number.Children = p.Words(0)
	entries := p.Schema("+s", p.Schema("u"), p.Schema("l"))
	entries.Name = p.Text("key_value")
	counts := p.Schema("+m", entries)
	counts.Flags, counts.Name = cabi.FlagMapKeysSorted, p.Text("counts")
	s := p.Schema("+s", number, counts)
	s.Metadata = p.Bytes(make([]byte, 4))

	schema, err := arrowdev.ImportSchema(unsafe.Pointer(s))
	require.NoError(t, err)
	require.EqualValues(t, 1, p.ReleasedInAll())
	p.Scribble()
	require.Equal(t, arrow.Field{Type: arrow.PrimitiveTypes.Int32, Nullable: true}, schema.Field(0))
	require.Equal(t, "counts", schema.Field(1).Name)
	require.Equal(t, "map<utf8, int64, keys_sorted, items_non_nullable>", schema.Field(1).Type.String())
	require.False(t, schema.HasMetadata())
}

func TestImportSchemaOfAColumn(t *testing.T) {
	var p schematest.Producer
	defer p.Close()
	s := p.Schema("i")
	_, err := arrowdev.ImportSchema(unsafe.Pointer(s))
	requireFault(t, err, "import schema", "ArrowSchema.format", arrowdev.ErrInvalid)
	require.EqualValues(t, 1, p.ReleasedInAll())
}
