//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev_test

import (
	"testing"
	"unsafe"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/arrowdev/internal/schematest"
)

// script makes schemas from bytes. They may be invalid in every way that does not
// lead to a read of unmapped memory.
type script struct {
	producer schematest.Producer
	bytes    []byte
	made     []*cabi.Schema
}

func (s *script) next() byte {
	if len(s.bytes) == 0 {
		return 0
	}
	first := s.bytes[0]
	s.bytes = s.bytes[1:]
	return first
}

func (s *script) take(length byte) []byte {
	taken := s.bytes[:min(int(length), len(s.bytes))]
	s.bytes = s.bytes[len(taken):]
	return taken
}

var formats = []string{"n", "i", "u", "+l", "+vL", "+s", "+m", "+r", "+w:3", "+ud:1,2", "+us:", "d:9,2", "tsn:UTC", "w:7", "c", "?"}

// These bits select the parts of a schema.
const (
	ownFormat = 1 << iota
	withName
	withMetadata
	withDictionary
	withFlags
	released
	withoutFormat
	wrongCount
)

func (s *script) schema(depth int) *cabi.Schema {
	parts := s.next()
	text := formats[s.next()%byte(len(formats))]
	if parts&ownFormat != 0 {
		text = string(s.take(s.next() % 32))
	}
	made := s.producer.Schema(text, s.children(depth)...)
	s.made = append(s.made, made)
	if parts&withName != 0 {
		made.Name = s.producer.Text(string(s.take(s.next() % 16)))
	}
	if parts&withMetadata != 0 {
		made.Metadata = s.metadata()
	}
	if parts&withFlags != 0 {
		made.Flags = int64(int8(s.next()))
	}
	if parts&withDictionary != 0 && depth > 0 {
		made.Dictionary = uintptr(unsafe.Pointer(s.below(depth)))
	}
	if parts&released != 0 {
		made.Release = 0
	}
	if parts&withoutFormat != 0 {
		made.Format = 0
	}
	if parts&wrongCount != 0 {
		made.NumChildren = -int64(s.next())
	}
	return made
}

func (s *script) children(depth int) []*cabi.Schema {
	var children []*cabi.Schema
	if depth == 0 {
		return nil
	}
	for range s.next() % 4 {
		children = append(children, s.below(depth))
	}
	return children
}

// below returns a new schema, one that is used elsewhere too, or nil.
func (s *script) below(depth int) *cabi.Schema {
	which := s.next()
	switch {
	case which == 255:
		return nil
	case which >= 192 && len(s.made) > 0:
		return s.made[int(which-192)%len(s.made)]
	}
	return s.schema(depth - 1)
}

// metadata ends in more zeros than a decoder can read unless a length is wrong. Wrong
// lengths are always negative.
func (s *script) metadata() uintptr {
	blob := make([]byte, 4)
	blob[0] = s.next() % 4
	for range blob[0] * 2 {
		length := s.next()
		blob = append(blob, length%16, 0, 0, length&0x80)
		if length&0x80 == 0 {
			text := s.take(length % 16)
			blob = append(append(blob, text...), make([]byte, int(length%16)-len(text))...)
		}
	}
	return s.producer.Bytes(blob)
}

func FuzzImportSchema(f *testing.F) {
	f.Add([]byte{0, 5, 0})
	f.Add([]byte{withName | withFlags, 5, 2, 0, 0, 1, 0, 0, 0, 2, 0, 1, 'x', 2})
	f.Add([]byte{withDictionary, 1, 0, 0, 0, 2})
	f.Add([]byte{withMetadata, 3, 1, 0, withMetadata, 1, 1, 1, 'k', 1, 'v', 1, 1, 'k', 2, 'v', 'w'})
	f.Add([]byte{0, 6, 1, 0, 0, 5, 2, 0, 0, 2, 0, 0, 0, 1, 0})
	f.Add([]byte{0, 7, 2, 0, 0, 1, 0, 0, 0, 2, 0})
	f.Add([]byte{0, 5, 3, 0, released, 1, 0, 192, 255})
	f.Add([]byte{ownFormat, 0, 5, 't', 's', 's', ':', 'A', 0})
	f.Fuzz(func(t *testing.T, bytes []byte) {
		s := script{bytes: bytes}
		defer s.producer.Close()
		root := s.schema(6)
		live := root.Release != 0
		field, err := arrowdev.ImportField(unsafe.Pointer(root))
		require.Zero(t, root.Release)
		if live {
			require.EqualValues(t, 1, s.producer.Released(root))
			require.EqualValues(t, 1, s.producer.ReleasedInAll())
		} else {
			require.Zero(t, s.producer.ReleasedInAll())
		}
		s.producer.Scribble()
		if err != nil {
			var fault *arrowdev.Error
			require.ErrorAs(t, err, &fault)
			require.Equal(t, "import schema", fault.Operation)
			return
		}
		requireReadTwice(t, field)
	})
}

// requireReadTwice exports what was imported and reads the same again.
func requireReadTwice(t *testing.T, field arrow.Field) {
	again := cabitest.New[cabi.Schema]()
	defer cabitest.Free(again)
	require.NoError(t, arrowdev.ExportField(field, unsafe.Pointer(again)))
	read, err := arrowdev.ImportField(unsafe.Pointer(again))
	require.NoError(t, err)
	requireSameField(t, field, read)
}
