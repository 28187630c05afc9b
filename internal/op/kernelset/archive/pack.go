package archive

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"strings"

	"github.com/gpuframe/gpuframe/internal/ptx"
)

// Normal returns a text with its kernels [Numbered], as archives have it.
func Normal(text string) string {
	var normal strings.Builder
	for entry, part := range ptx.Parts(text) {
		if entry != "" {
			part = Numbered(part)
		}
		normal.WriteString(part)
	}
	return normal.String()
}

// Pack returns the archive of a text, which [Text] returns as [Normal].
func Pack(text string) ([]byte, error) {
	packed := []byte(magic)
	var dictionaries []candidate
	number := 0
	err := textsOf(Normal(text), func(entry, part string) error {
		alone, err := compress(part, nil)
		if err != nil {
			return err
		}
		best, dictionary := alone, 0
		for _, other := range dictionaries {
			if entry == "" {
				break // each kernel needs this text, and would read the other's, too
			}
			with, err := compress(part, other.text)
			if err != nil {
				return err
			}
			if len(with) < len(best) {
				best, dictionary = with, other.number+1
			}
		}
		// A kernel that is unlike the others is the dictionary of those that follow, and needs none itself:
		// at most two members are read for a kernel.
		if entry != "" && len(best)*4 > len(alone)*3 {
			best, dictionary = alone, 0
			dictionaries = append(dictionaries, candidate{number, dictionaryOf(part)})
		}
		packed = appendMember(packed, entry, part, dictionary, best)
		number++
		return nil
	})
	return packed, err
}

// candidate is a member that may be the dictionary of others.
type candidate struct {
	number int
	text   []byte
}

func appendMember(packed []byte, entry, part string, dictionary int, compressed []byte) []byte {
	packed = binary.AppendUvarint(packed, uint64(len(entry)))
	packed = append(packed, entry...)
	packed = binary.AppendUvarint(packed, uint64(len(part)))
	packed = binary.AppendUvarint(packed, uint64(len(compressed)))
	packed = binary.AppendUvarint(packed, uint64(dictionary))
	packed = binary.LittleEndian.AppendUint32(packed, crc32.ChecksumIEEE([]byte(part)))
	return append(packed, compressed...)
}

func compress(text string, dictionary []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := flate.NewWriterDict(&packed, flate.BestCompression, dictionary)
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(w, text); err != nil {
		return nil, err
	}
	err = w.Close()
	return packed.Bytes(), err
}

// textsOf yields the parts of a text as members have them.
func textsOf(text string, yield func(entry, part string) error) error {
	for entry, part := range ptx.Parts(text) {
		if entry != "" {
			var err error
			if part, err = ranked(part, entry); err != nil {
				return fmt.Errorf("archive: %w", err)
			}
		}
		if err := yield(entry, part); err != nil {
			return err
		}
	}
	return nil
}
