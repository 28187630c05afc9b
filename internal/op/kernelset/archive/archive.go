// Package archive reads and writes PTX as programs embed it: FILE.ptx.packed is a list of
// members, one for each kernel, so that one kernel is read without the others. PTX
// shrinks to a twelfth. The command internal/op/kernelset/pack -d prints the whole text.
//
// A member of a kernel has the kernel's name. The text between kernels (the header,
// functions, variables) lies in members without a name, which each kernel needs. The text of a
// kernel has ranks in place of the numbers of registers and labels, and is compressed by
// DEFLATE. Most kernels of a file are like one of a few, so a member may name another one: the text of that
// is the dictionary.
//
// A member is the length of its name and the name, the lengths of its text and of the compressed
// text, the number of the member that is its dictionary plus one, all as in [binary.AppendUvarint], the
// CRC-32 of the text, 4 bytes, and the compressed text.
package archive

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"strings"
)

// magic begins each archive.
const magic = "PTX1"

var errDamaged = errors.New("the archive is damaged: kernels/build.sh writes archives")

// member is a part of an archive.
type member struct {
	entry  string
	length int
	// dictionary is the number of another member plus one, or zero.
	dictionary int
	checksum   uint32
	packed     []byte
}

// Text returns the text of an archive.
func Text(packed []byte) (string, error) { return unpack(packed, func(string) bool { return true }) }

// Only returns the text without the kernels other than the one named, as ptx.Only does.
func Only(packed []byte, kernel string) (string, error) {
	return unpack(packed, func(entry string) bool { return entry == kernel })
}

// unpack returns the text between the kernels and that of the kernels that keep accepts.
func unpack(packed []byte, keep func(entry string) bool) (string, error) {
	members, err := parse(packed)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for i, m := range members {
		if m.entry != "" && !keep(m.entry) {
			continue
		}
		part, err := textOf(members, i)
		if err == nil && m.entry != "" {
			part, err = unranked(part, m.entry)
		}
		if err != nil {
			return "", fmt.Errorf("archive: member %d, kernel %q: %w", i, m.entry, err)
		}
		text.WriteString(part)
	}
	return text.String(), nil
}

// parse returns the members of an archive.
func parse(packed []byte) ([]member, error) {
	rest, ok := bytes.CutPrefix(packed, []byte(magic))
	if !ok {
		return nil, fmt.Errorf("archive: it does not begin with %s: %w", magic, errDamaged)
	}
	var members []member
	for len(rest) > 0 {
		var m member
		if m, rest, ok = next(rest, len(members)); !ok {
			return nil, fmt.Errorf("archive: member %d: %w", len(members), errDamaged)
		}
		members = append(members, m)
	}
	return members, nil
}

// next returns the member with a number and the bytes after it.
func next(rest []byte, number int) (m member, after []byte, ok bool) {
	failed := false
	size := func() int {
		v, n := binary.Uvarint(rest)
		if n <= 0 || v > 1<<30 {
			failed = true
			return 0
		}
		rest = rest[n:]
		return int(v)
	}
	cut := func(n int) []byte {
		if n > len(rest) {
			failed = true
			return nil
		}
		bytes := rest[:n]
		rest = rest[n:]
		return bytes
	}
	m.entry = string(cut(size()))
	m.length = size()
	length := size()
	m.dictionary = size()
	if checksum := cut(4); !failed {
		m.checksum = binary.LittleEndian.Uint32(checksum)
	}
	m.packed = cut(length)
	return m, rest, !failed && m.dictionary <= number
}

// textOf returns the text of a member, with ranks if it is a kernel.
func textOf(members []member, number int) (string, error) {
	m := members[number]
	var dictionary []byte
	if m.dictionary > 0 {
		text, err := textOf(members, m.dictionary-1)
		if err != nil {
			return "", err
		}
		dictionary = dictionaryOf(text)
	}
	r := flate.NewReaderDict(bytes.NewReader(m.packed), dictionary)
	var text strings.Builder
	text.Grow(min(m.length, maxRatio*len(m.packed)))
	if _, err := io.Copy(&text, io.LimitReader(r, int64(m.length)+1)); err != nil {
		return "", err
	}
	if text.Len() != m.length || crc32.ChecksumIEEE([]byte(text.String())) != m.checksum {
		return "", fmt.Errorf("length or checksum differ: %w", errDamaged)
	}
	return text.String(), nil
}

// maxRatio is more than DEFLATE compresses to, so the lengths of damaged members claim no memory.
const maxRatio = 1032

// window is how many bytes of a dictionary DEFLATE refers to.
const window = 32 << 10

// dictionaryOf returns the end of a text that DEFLATE can refer to.
func dictionaryOf(text string) []byte { return []byte(text[max(0, len(text)-window):]) }
