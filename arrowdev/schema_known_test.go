//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/schematest"
	"github.com/gpuframe/gpuframe/internal/arrays/format"
	"github.com/gpuframe/gpuframe/internal/arrays/format/formattest"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/property"
)

// clear empties the cache.
func (k *knownSchemas) clear() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for hash, known := range k.byHash {
		k.remove(hash, known)
	}
}

// unmarked writes a schema without gpuframe's mark.
func unmarked(t require.TestingT, schema *arrow.Schema) *cabi.Schema {
	image, err := imageOfSchema(schema)
	require.NoError(t, err)
	s := new(cabi.Schema)
	require.True(t, image.Write(s, 0))
	return s
}

func textOf(s *cabi.Schema) (string, bool) {
	text, plain := appendSchema(nil, s, 1)
	return string(text), plain
}

// Schemas of one text are equal, and different schemas have different texts.
func TestSchemaTexts(t *testing.T) {
	var seen sync.Map // maps text to schema, over all draws
	property.Check(t, func(t *rapid.T) {
		fields := rapid.SliceOfN(formattest.Field(2), 0, 3).Draw(t, "fields")
		want := arrow.NewSchema(fields, nil)
		s := unmarked(t, want)
		defer cabi.ReleaseSchema(s)
		text, plain := textOf(s)
		got := asForeign(t, s)
		if !plain {
			return
		}
		if other, loaded := seen.LoadOrStore(text, got); loaded {
			requireEqualSchemas(t, other.(*arrow.Schema), got)
		}
		again := unmarked(t, want)
		defer cabi.ReleaseSchema(again)
		second, _ := textOf(again)
		require.Equal(t, text, second)

		// Change one field at random.
		if s.NumChildren == 0 {
			return
		}
		child := childAt(s, rapid.IntRange(0, int(s.NumChildren)-1).Draw(t, "child"))
		child.Flags ^= 1 << rapid.IntRange(0, 2).Draw(t, "flag")
		changed, plain := textOf(s)
		require.True(t, plain)
		require.NotEqual(t, text, changed)
	})
}

func TestForeignSchemasAreReadOnce(t *testing.T) {
	var p schematest.Producer
	defer p.Close()
	produce := func(change func(root *cabi.Schema)) *cabi.Schema {
		index := p.Schema("i")
		index.Dictionary = uintptr(unsafe.Pointer(p.Schema("u")))
		root := p.Schema("+s", p.Schema("l"), p.Schema("+l", p.Schema("u")), index)
		childAt(root, 0).Name = p.Text("readonce")
		if change != nil {
			change(root)
		}
		return root
	}
	read := func(s *cabi.Schema) *arrow.Schema {
		got, err := ImportSchema(unsafe.Pointer(s))
		require.NoError(t, err)
		require.EqualValues(t, 1, p.Released(s))
		return got
	}
	first := read(produce(nil))
	requireSame(t, first, read(produce(nil)))
	requireSame(t, first, read(produce(func(s *cabi.Schema) { s.Name, s.Metadata = p.Text(""), p.Bytes(make([]byte, 4)) })))

	for name, change := range map[string]func(s *cabi.Schema){
		"name":       func(s *cabi.Schema) { childAt(s, 0).Name = p.Text("readtwice") },
		"format":     func(s *cabi.Schema) { childAt(s, 0).Format = p.Text("L") },
		"nullable":   func(s *cabi.Schema) { childAt(s, 0).Flags = cabi.FlagNullable },
		"metadata":   func(s *cabi.Schema) { s.Metadata = p.Bytes(metadataOf(t, "a", "b")) },
		"ordered":    func(s *cabi.Schema) { childAt(s, 2).Flags = cabi.FlagDictionaryOrdered },
		"dictionary": func(s *cabi.Schema) { childAt(s, 2).Dictionary = 0 },
		"children":   func(s *cabi.Schema) { s.NumChildren = 2 },
	} {
		t.Run(name, func(t *testing.T) {
			s := produce(change)
			want := asForeign(t, s)
			got := read(s)
			require.NotSame(t, first, got)
			requireEqualSchemas(t, want, got)
		})
	}
	*first = *arrow.NewSchema([]arrow.Field{{Name: "other", Type: arrow.Null}}, nil)
	require.Equal(t, "readonce", read(produce(nil)).Field(0).Name)
}

func metadataOf(t *testing.T, key, value string) []byte {
	blob, err := format.EncodeMetadata(arrow.NewMetadata([]string{key}, []string{value}))
	require.NoError(t, err)
	return blob
}

// A text stops in a long string; a difference after that point must be detected.
func TestLongNamesAreNotCached(t *testing.T) {
	long := strings.Repeat("x", maximumSchemaText+1)
	for _, name := range []string{long + "a", long + "b"} {
		s := unmarked(t, arrow.NewSchema([]arrow.Field{{Name: name, Type: arrow.Null}}, nil))
		_, plain := textOf(s)
		require.False(t, plain)
		got, err := ImportSchema(unsafe.Pointer(s))
		require.NoError(t, err)
		require.Equal(t, name, got.Field(0).Name)
	}
}

// The registry determines the meaning of an extension type at each import.
func TestExtensionTypesAreNotCached(t *testing.T) {
	metadata := arrow.NewMetadata([]string{"ARROW:extension:name"}, []string{"unknown so far"})
	s := unmarked(t, arrow.NewSchema([]arrow.Field{{Name: "e", Type: arrow.Null, Metadata: metadata}}, nil))
	_, plain := textOf(s)
	require.False(t, plain)
	got, err := ImportSchema(unsafe.Pointer(s))
	require.NoError(t, err)
	require.Equal(t, 1, got.Field(0).Metadata.Len())
}

func TestReadSchemasAreBoundedAndForgotten(t *testing.T) {
	read := func(count, width int) (schemas []*arrow.Schema) {
		for i := range count {
			s := unmarked(t, arrow.NewSchema([]arrow.Field{{Name: fmt.Sprintf("read%0*d", width, i), Type: arrow.Null}}, nil))
			got, err := ImportSchema(unsafe.Pointer(s))
			require.NoError(t, err)
			schemas = append(schemas, got)
		}
		return schemas
	}
	readSchemas.clear()
	held := read(maximumRead+20, 1)
	require.Len(t, readSchemas.byHash, maximumRead)
	runtime.KeepAlive(held)
	held = read(100, 30000)
	require.LessOrEqual(t, readSchemas.bytes, maximumReadBytes)
	require.Greater(t, len(readSchemas.byHash), 20)
	runtime.KeepAlive(held)
	held = nil
	left := func() int {
		readSchemas.mu.RLock()
		defer readSchemas.mu.RUnlock()
		return len(readSchemas.byHash) + readSchemas.bytes
	}
	await.Collected(t, func() bool { return left() == 0 }, "no schema is kept")
}

func TestConcurrentSchemaImports(t *testing.T) {
	var group sync.WaitGroup
	failures := make(chan string, 8)
	for worker := range 8 {
		group.Go(func() {
			for k := range 300 {
				want := fmt.Sprint("readers", (k+worker)%5)
				s := unmarked(t, arrow.NewSchema([]arrow.Field{{Name: want, Type: arrow.Null}}, nil))
				got, err := ImportSchema(unsafe.Pointer(s))
				if err != nil || got.Field(0).Name != want {
					failures <- fmt.Sprint(want, got, err)
					return
				}
			}
		})
	}
	group.Wait()
	close(failures)
	for failure := range failures {
		t.Error(failure)
	}
}
