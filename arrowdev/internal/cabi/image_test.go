//go:build cgo && unix && !(386 || arm || mips || mipsle)

package cabi_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi/cabitest"
	"github.com/gpuframe/gpuframe/internal/base/address"
)

func pictured() *cabi.Image {
	return cabi.NewImage(&cabi.Description{Format: "+s", Metadata: []byte{0, 0, 0, 0}, Children: []cabi.Description{
		{Format: "+l", Name: "list", Flags: cabi.FlagNullable, Children: []cabi.Description{{Format: "u", Name: "item"}}},
		{Format: "c", Name: "dictionary", Metadata: []byte{0, 0, 0, 0}, Dictionary: &cabi.Description{Format: "tsu:UTC"}},
	}})
}

func textAt(at uintptr) string {
	text := ""
	for p := address.Pointer(at); *(*byte)(p) != 0; p = unsafe.Add(p, 1) {
		text += string(*(*byte)(p))
	}
	return text
}

func schemaChild(s *cabi.Schema, i int) *cabi.Schema {
	return (*cabi.Schema)(address.Pointer(unsafe.Slice((*uintptr)(address.Pointer(s.Children)), s.NumChildren)[i]))
}

func TestAnImageIsWritten(t *testing.T) {
	image := pictured()
	for range 3 {
		s := cabitest.New[cabi.Schema]()
		defer cabitest.Free(s)
		require.True(t, image.Write(s, 7))
		require.Equal(t, "+s", textAt(s.Format))
		require.Equal(t, "", textAt(s.Name))
		require.EqualValues(t, 2, s.NumChildren)
		list, dictionary := schemaChild(s, 0), schemaChild(s, 1)
		require.Equal(t, "list", textAt(list.Name))
		require.EqualValues(t, cabi.FlagNullable, list.Flags)
		require.Zero(t, list.Metadata)
		require.Equal(t, "item", textAt(schemaChild(list, 0).Name))
		require.Equal(t, "c", textAt(dictionary.Format))
		require.Zero(t, dictionary.Metadata%8)
		require.Zero(t, dictionary.Children)
		require.Equal(t, "tsu:UTC", textAt((*cabi.Schema)(address.Pointer(dictionary.Dictionary)).Format))

		origin := s.Origin()
		require.True(t, origin.Own)
		require.False(t, origin.Ended)
		require.EqualValues(t, 7, origin.Mark)
		moved := cabitest.New[cabi.Schema]()
		defer cabitest.Free(moved)
		cabitest.MoveSchema(moved, s)
		require.True(t, image.WroteTo(moved, moved.Origin()))
		require.False(t, image.WroteTo(list, list.Origin()), "a child is not the root")
		require.NoError(t, cabitest.ReleaseSchemaOnThread(moved))
	}
}

// A change of any single bit of the structs is detected.
func TestImageDetectsChanges(t *testing.T) {
	image := pictured()
	s := cabitest.New[cabi.Schema]()
	defer cabitest.Free(s)
	require.True(t, image.Write(s, 1))
	origin := s.Origin()
	require.True(t, image.WroteTo(s, origin))
	list, dictionary := schemaChild(s, 0), schemaChild(s, 1)
	values := (*cabi.Schema)(address.Pointer(dictionary.Dictionary))
	for _, each := range []*cabi.Schema{list, dictionary, values, schemaChild(list, 0)} {
		for i, words := 0, unsafe.Slice((*uintptr)(unsafe.Pointer(each)), 9); i < 9; i++ {
			for bit := range 64 {
				words[i] ^= 1 << bit
				require.False(t, image.WroteTo(s, origin), "word %d, bit %d", i, bit)
				words[i] ^= 1 << bit
			}
		}
	}
	for _, at := range []uintptr{s.Children, s.Format, s.Metadata, values.Format, list.Name} {
		*(*byte)(address.Pointer(at)) ^= 1
		require.False(t, image.WroteTo(s, origin))
		*(*byte)(address.Pointer(at)) ^= 1
	}
	require.True(t, image.WroteTo(s, origin))
	s.Flags = 1
	require.False(t, image.WroteTo(s, origin))
	copied := *s
	cabi.ReleaseSchema(s)
	require.True(t, copied.Origin().Ended)
	require.False(t, image.WroteTo(&copied, copied.Origin()))
}

func TestChildrenOfAnImageOutliveIt(t *testing.T) {
	image := pictured()
	s, list, values := cabitest.New[cabi.Schema](), cabitest.New[cabi.Schema](), cabitest.New[cabi.Schema]()
	defer cabitest.Free(s)
	defer cabitest.Free(list)
	defer cabitest.Free(values)
	require.True(t, image.Write(s, 0))
	require.Zero(t, s.Origin().Mark)
	cabitest.MoveSchema(list, schemaChild(s, 0))
	cabitest.MoveSchema(values, (*cabi.Schema)(address.Pointer(schemaChild(s, 1).Dictionary)))
	copied := *s
	require.NoError(t, cabitest.ReleaseSchemaOnThread(s))
	require.False(t, copied.Origin().Ended)
	require.Equal(t, "item", textAt(schemaChild(list, 0).Name))
	cabi.ReleaseSchema(list)
	require.Equal(t, "tsu:UTC", textAt(values.Format))
	cabi.ReleaseSchema(values)
	require.True(t, copied.Origin().Ended)
}
