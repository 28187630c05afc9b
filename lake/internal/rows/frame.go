package rows

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Magic begins the bytes of a deletion vector.
const Magic = 1681511377

// Unframe returns the bytes of a deletion vector between its length and its checksum, as files have them.
func Unframe(framed []byte) ([]byte, error) {
	if len(framed) < 8 {
		return nil, fmt.Errorf("it has %d bytes with its frame", len(framed))
	}
	length := int64(binary.BigEndian.Uint32(framed))
	if length != int64(len(framed)-8) {
		return nil, fmt.Errorf("it has %d bytes by its frame, expected %d", length, len(framed)-8)
	}
	data := framed[4 : 4+length]
	if want, has := binary.BigEndian.Uint32(framed[4+length:]), crc32.ChecksumIEEE(data); want != has {
		return nil, fmt.Errorf("its checksum is %08x, expected %08x", has, want)
	}
	return data, nil
}

// ParseVector decodes the bytes of a deletion vector.
func ParseVector(data []byte) (*Set, error) {
	if len(data) < 4 || binary.LittleEndian.Uint32(data) != Magic {
		return nil, fmt.Errorf("it does not begin with %d", Magic)
	}
	return Parse(data[4:])
}
