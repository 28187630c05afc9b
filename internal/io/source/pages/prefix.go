package pages

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/gpuframe/gpuframe/internal/io/parquetformat"
	"github.com/gpuframe/gpuframe/internal/io/thrift"
)

// prefix decompresses the first n bytes of a page, or all if it has fewer. A page is
// uncompressed bytes long.
func prefix(codec parquetformat.Codec, data []byte, uncompressed, n int) (plain []byte, err error) {
	n = min(n, uncompressed)
	switch codec {
	case parquetformat.Uncompressed:
		return data[:min(n, len(data))], nil
	case parquetformat.Snappy:
		return snappyPrefix(data, n)
	case parquetformat.LZ4, parquetformat.LZ4Raw:
		plain, err = DecodeLZ4(codec, data, make([]byte, min(uncompressed, mostLZ4*(len(data)+1))))
		return plain[:min(n, len(plain))], err
	}
	reader, err := openStream(codec, data)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	var read bytes.Buffer
	if _, err := io.CopyN(&read, reader, int64(n)); err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, failed(err)
	}
	return read.Bytes(), nil
}

// decompress decompresses a page of a known length, into scratch if that has room. A page
// without compression is returned as it is.
func decompress(codec parquetformat.Codec, data []byte, uncompressed int, scratch []byte) (plain []byte, err error) {
	if err := checkSize(codec, data, uncompressed); err != nil {
		return nil, err
	}
	if codec == parquetformat.Uncompressed {
		return data, nil
	}
	if codec == parquetformat.LZ4 || codec == parquetformat.LZ4Raw {
		if plain, err = DecodeLZ4(codec, data, resized(scratch, min(uncompressed, mostLZ4*(len(data)+1)))); err != nil {
			return nil, err
		}
	} else if uncompressed>>20 > len(data)>>6 {
		// A page that claims a hundred times its length gets memory as its bytes come.
		plain, err = prefix(codec, data, uncompressed, uncompressed)
	} else {
		if cap(scratch) < uncompressed {
			scratch = make([]byte, uncompressed)
		}
		plain, err = decode(codec, scratch[:uncompressed], data)
	}
	if err == nil && len(plain) != uncompressed {
		err = fmt.Errorf("the page has %d bytes, %d by its header: %w", len(plain), uncompressed, ErrDamaged)
	}
	return plain, err
}

// checkSize checks the length that compressed data claims, which decompression allocates.
func checkSize(codec parquetformat.Codec, data []byte, uncompressed int) error {
	claimed := uint64(uncompressed)
	switch codec {
	case parquetformat.Uncompressed:
		claimed = uint64(len(data))
	case parquetformat.Snappy:
		claimed, _ = binary.Uvarint(data)
	case parquetformat.Zstd:
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
		return nil, thrift.ErrCut
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
					return nil, thrift.ErrCut
				}
				size = 0
				for i := range wide {
					size |= int(data[at+i]) << (8 * i)
				}
				at += wide
			}
			size = min(size+1, n-len(plain))
			if size > len(data)-at {
				return nil, thrift.ErrCut
			}
			plain = append(plain, data[at:at+size]...)
			at += size
			continue
		}
		wide := []int{0, 1, 2, 4}[tag&3]
		if at+wide > len(data) {
			return nil, thrift.ErrCut
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
