package devicecode

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/gpuframe/gpuframe/internal/testing/property"
)

func TestPrepareText(t *testing.T) {
	text := []byte(".version 7.0")
	prepared, err := Prepare(text)
	require.NoError(t, err)
	assert.Equal(t, []byte(".version 7.0\x00"), prepared)

	terminated := []byte(".version 7.0\x00")
	prepared, err = Prepare(terminated)
	require.NoError(t, err)
	assert.Equal(t, terminated, prepared)

	// Spare capacity belongs to the caller and must not be written.
	backing := []byte(".version 7.0!")
	_, err = Prepare(backing[:12])
	require.NoError(t, err)
	assert.Equal(t, byte('!'), backing[12])

	_, err = Prepare(nil)
	assert.ErrorContains(t, err, "empty")
}

func TestPrepareCubin(t *testing.T) {
	whole := cubin(t)
	prepared, err := Prepare(whole)
	require.NoError(t, err)
	assert.Equal(t, whole, prepared)

	for length := 4; length < len(whole); length++ {
		_, err := Prepare(whole[:length])
		require.ErrorContains(t, err, "cubin", "cut to %d of %d bytes", length, len(whole))
	}
	for name, change := range map[string]func(image []byte){
		"32 bits":         func(image []byte) { image[4] = 1 },
		"big end first":   func(image []byte) { image[5] = 2 },
		"section offset":  func(image []byte) { binary.LittleEndian.PutUint64(image[40:], 1<<63) },
		"overflow":        func(image []byte) { binary.LittleEndian.PutUint64(image[40:], ^uint64(0)) },
		"small headers":   func(image []byte) { binary.LittleEndian.PutUint16(image[58:], 8) },
		"many sections":   func(image []byte) { binary.LittleEndian.PutUint16(image[60:], 0xffff) },
		"section too big": func(image []byte) { binary.LittleEndian.PutUint64(image[64+56+32:], 1<<40) },
		"segment too big": func(image []byte) { binary.LittleEndian.PutUint64(image[64+32:], 1<<40) },
	} {
		changed := bytes.Clone(whole)
		change(changed)
		_, err := Prepare(changed)
		assert.Error(t, err, name)
	}
}

// cubin returns a small ELF file: a header, a segment header, two section headers, then
// sixteen bytes that the segment and the first section contain. The second section is
// empty.
func cubin(t *testing.T) []byte {
	const programs, sections = 64, 64 + 56
	const content = sections + 2*64
	var file bytes.Buffer
	header := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: 190, Version: 1, Phoff: programs, Shoff: sections,
		Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64, Shnum: 2,
	}
	copy(header.Ident[:], "\x7fELF\x02\x01\x01")
	for _, part := range []any{
		header,
		elf.Prog64{Type: uint32(elf.PT_LOAD), Off: content, Filesz: 16, Memsz: 16},
		elf.Section64{Type: uint32(elf.SHT_PROGBITS), Off: content, Size: 16},
		elf.Section64{Type: uint32(elf.SHT_NOBITS), Off: content, Size: 1 << 30},
		[16]byte{1, 2, 3},
	} {
		require.NoError(t, binary.Write(&file, binary.LittleEndian, part))
	}
	return file.Bytes()
}

func TestPrepareFatbin(t *testing.T) {
	fatbin := func(header uint16, body uint64, length int) []byte {
		image := make([]byte, length)
		copy(image, "\x50\xed\x55\xba\x01\x00")
		if length >= 16 {
			binary.LittleEndian.PutUint16(image[6:], header)
			binary.LittleEndian.PutUint64(image[8:], body)
		}
		return image
	}
	_, err := Prepare(fatbin(16, 100, 116))
	require.NoError(t, err)
	for name, image := range map[string][]byte{
		"cut":          fatbin(16, 100, 115),
		"no header":    fatbin(16, 100, 9),
		"small header": fatbin(4, 100, 116),
		"overflow":     fatbin(16, ^uint64(0), 116),
	} {
		_, err := Prepare(image)
		assert.ErrorContains(t, err, "fat binary", name)
	}
}

func TestPrepareNeverPanics(t *testing.T) {
	whole := cubin(t)
	property.Check(t, func(t *rapid.T) {
		image := bytes.Clone(whole)
		for range rapid.IntRange(0, 8).Draw(t, "changes") {
			image[rapid.IntRange(4, len(image)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		image = image[:rapid.IntRange(0, len(image)).Draw(t, "length")]
		prepared, err := Prepare(image)
		if err == nil {
			require.True(t, bytes.HasPrefix(prepared, image))
		}
	})
}
