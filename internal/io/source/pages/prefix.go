package pages

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/parquet/compress"
)

// prefix decompresses the first n bytes of a page, or all if it has fewer. A page is
// uncompressed bytes long.
func prefix(codec compress.Compression, data []byte, uncompressed, n int) (plain []byte, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("decompression failed: %v: %w", reason, ErrDamaged)
		}
	}()
	n = min(n, uncompressed)
	switch codec {
	case compress.Codecs.Uncompressed:
		return data[:min(n, len(data))], nil
	case compress.Codecs.Snappy:
		return snappyPrefix(data, n)
	case compress.Codecs.Lz4, LZ4Raw:
		plain, err = decodeLZ4(codec, data, make([]byte, min(uncompressed, mostLZ4*(len(data)+1))))
		return plain[:min(n, len(plain))], err
	}
	compression, err := compress.GetCodec(codec)
	if err != nil {
		return nil, err
	}
	reader := compression.NewReader(bytes.NewReader(data))
	defer reader.Close()
	var read bytes.Buffer
	if _, err := io.CopyN(&read, reader, int64(n)); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("decompression failed: %w: %w", err, ErrDamaged)
	}
	return read.Bytes(), nil
}

// decompress decompresses a page of a known length, into scratch if that has room. A page
// without compression is returned as it is.
func decompress(codec compress.Compression, data []byte, uncompressed int, scratch []byte) (plain []byte, err error) {
	if err := checkSize(codec, data, uncompressed); err != nil {
		return nil, err
	}
	if codec == compress.Codecs.Uncompressed {
		return data, nil
	}
	defer func() {
		if reason := recover(); reason != nil {
			err = fmt.Errorf("decompression failed: %v: %w", reason, ErrDamaged)
		}
	}()
	if codec == compress.Codecs.Lz4 || codec == LZ4Raw {
		if plain, err = decodeLZ4(codec, data, resized(scratch, min(uncompressed, mostLZ4*(len(data)+1)))); err != nil {
			return nil, err
		}
	} else if uncompressed>>20 > len(data)>>6 {
		// A page that claims a hundred times its length gets memory as its bytes come.
		plain, err = prefix(codec, data, uncompressed, uncompressed)
	} else {
		if cap(scratch) < uncompressed {
			scratch = make([]byte, uncompressed)
		}
		compression, failure := compress.GetCodec(codec)
		if failure != nil {
			return nil, failure
		}
		plain = compression.Decode(scratch[:uncompressed], data)
	}
	if err == nil && len(plain) != uncompressed {
		err = fmt.Errorf("the page has %d bytes, %d by its header: %w", len(plain), uncompressed, ErrDamaged)
	}
	return plain, err
}

// checkSize checks the length that compressed data claims, which decompression allocates.
func checkSize(codec compress.Compression, data []byte, uncompressed int) error {
	claimed := uint64(uncompressed)
	switch codec {
	case compress.Codecs.Uncompressed:
		claimed = uint64(len(data))
	case compress.Codecs.Snappy:
		claimed, _ = binary.Uvarint(data)
	case compress.Codecs.Zstd:
		if length, known := zstdSize(data); known {
			claimed = length
		}
	}
	if claimed != uint64(uncompressed) {
		return fmt.Errorf("the page has %d bytes, %d by its header: %w", claimed, uncompressed, ErrDamaged)
	}
	return nil
}

// zstdSize returns the length in the header of the first frame, if it is the only one.
func zstdSize(data []byte) (length uint64, known bool) {
	if len(data) < 5 || binary.LittleEndian.Uint32(data) != 0xfd2fb528 {
		return 0, false
	}
	about := data[4]
	single := about>>5&1 == 1
	at := 5 + []int{0, 1, 2, 4}[about&3] // the number of a dictionary
	if !single {
		at++ // the window
	}
	bytes := []int{0, 2, 4, 8}[about>>6]
	if bytes == 0 && single {
		bytes = 1
	}
	if bytes == 0 || at+bytes > len(data) {
		return 0, false
	}
	for i := range bytes {
		length |= uint64(data[at+i]) << (8 * i)
	}
	if bytes == 2 {
		length += 256
	}
	return length, length > 1<<20 // of shorter frames there may be several
}

// snappyPrefix decompresses the first n bytes of a block of snappy.
func snappyPrefix(data []byte, n int) ([]byte, error) {
	length, at := binary.Uvarint(data)
	if at <= 0 {
		return nil, errCut
	}
	n = int(min(uint64(n), length))
	plain := make([]byte, 0, min(n, 1<<20))
	for len(plain) < n && at < len(data) {
		tag := int(data[at])
		at++
		if tag&3 == 0 {
			size := tag >> 2
			if size >= 60 {
				wide := size - 59
				if at+wide > len(data) {
					return nil, errCut
				}
				size = 0
				for i := range wide {
					size |= int(data[at+i]) << (8 * i)
				}
				at += wide
			}
			size = min(size+1, n-len(plain))
			if size > len(data)-at {
				return nil, errCut
			}
			plain = append(plain, data[at:at+size]...)
			at += size
			continue
		}
		wide := []int{0, 1, 2, 4}[tag&3]
		if at+wide > len(data) {
			return nil, errCut
		}
		back, size := 0, tag>>2+1
		for i := range wide {
			back |= int(data[at+i]) << (8 * i)
		}
		at += wide
		if wide == 1 {
			back |= tag >> 5 << 8
			size = tag>>2&7 + 4
		}
		if back == 0 || back > len(plain) {
			return nil, fmt.Errorf("a copy from %d bytes back in %d: %w", back, len(plain), ErrDamaged)
		}
		for range min(size, n-len(plain)) {
			plain = append(plain, plain[len(plain)-back])
		}
	}
	return plain, nil
}
