// Package archive reads and writes PTX as programs embed it: FILE.ptx.gz is a gzip file
// with one member for each kernel, so that one kernel is read without the others. PTX
// shrinks to less than a quarter. zcat prints the whole text.
//
// A member of a kernel has the kernel's name. The text between kernels (the header,
// functions, variables) lies in members without a name, which each kernel needs. The
// extra field of a member holds its length.
package archive

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// lengthField begins the extra field: the identifier GF, and 4, the size of a length.
const lengthField = "GF\x04\x00"

// Pack returns the archive of a text.
func Pack(text string) ([]byte, error) {
	var all bytes.Buffer
	for entry, part := range ptx.Parts(text) {
		member, err := pack(entry, part)
		if err != nil {
			return nil, err
		}
		all.Write(member)
	}
	return all.Bytes(), nil
}

func pack(entry, text string) ([]byte, error) {
	var member bytes.Buffer
	w, err := gzip.NewWriterLevel(&member, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	w.Name, w.Extra = entry, []byte(lengthField+"\x00\x00\x00\x00")
	if _, err := io.WriteString(w, text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	// The ten bytes of the header and the size of the extra field come before it.
	const at = 10 + 2 + len(lengthField)
	binary.LittleEndian.PutUint32(member.Bytes()[at:], uint32(member.Len()))
	return member.Bytes(), nil
}

// Text returns the text of an archive.
func Text(packed []byte) (string, error) { return unpack(packed, func(string) bool { return true }) }

// Only returns the text without the kernels other than the one named, as [ptx.Only] does.
func Only(packed []byte, kernel string) (string, error) {
	return unpack(packed, func(entry string) bool { return entry == kernel })
}

// unpack returns the text between the kernels and that of the kernels that keep accepts.
func unpack(packed []byte, keep func(entry string) bool) (string, error) {
	var text strings.Builder
	var r gzip.Reader
	for at := 0; at < len(packed); {
		if err := r.Reset(bytes.NewReader(packed[at:])); err != nil {
			return "", fmt.Errorf("archive: member at byte %d: %w", at, err)
		}
		r.Multistream(false)
		if r.Name == "" || keep(r.Name) {
			if _, err := io.Copy(&text, &r); err != nil {
				return "", fmt.Errorf("archive: member %q at byte %d: %w", r.Name, at, err)
			}
		}
		length, ok := strings.CutPrefix(string(r.Extra), lengthField)
		if !ok || len(length) != 4 {
			return "", fmt.Errorf("archive: member %q at byte %d: %w", r.Name, at, errLength)
		}
		n := int64(binary.LittleEndian.Uint32([]byte(length)))
		if n == 0 || n > int64(len(packed)-at) {
			return "", fmt.Errorf("archive: member %q at byte %d has %d bytes of %d: %w", r.Name, at, n, len(packed)-at, errLength)
		}
		at += int(n)
	}
	return text.String(), nil
}

var errLength = errors.New("the length of the member is missing or wrong: kernels/build.sh writes archives")
