package devicecode

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// Prepare returns device code in the form that the driver accepts. The driver receives
// no length: it reads text up to a NUL byte, which Prepare appends, and binaries as far
// as their headers specify. Prepare refuses a binary that is shorter than its headers
// claim.
func Prepare(image []byte) ([]byte, error) {
	switch {
	case len(image) == 0:
		return nil, fmt.Errorf("the image is empty")
	case bytes.HasPrefix(image, []byte("\x7fELF")):
		return image, checkCubin(image)
	case bytes.HasPrefix(image, []byte{0x50, 0xed, 0x55, 0xba}):
		return image, checkFatbin(image)
	case image[len(image)-1] == 0:
		return image, nil
	}
	text := make([]byte, len(image)+1)
	copy(text, image)
	return text, nil
}

// IsText reports whether code is PTX text, not a cubin or a fat binary.
func IsText(image []byte) bool {
	return !bytes.HasPrefix(image, []byte("\x7fELF")) && !bytes.HasPrefix(image, []byte{0x50, 0xed, 0x55, 0xba})
}

// checkCubin checks that every part that the headers of a 64-bit ELF file refer to is
// within the file.
func checkCubin(image []byte) error {
	const (
		headerBytes        = 64
		programHeaderBytes = 56
		sectionHeaderBytes = 64
		occupiesNothing    = 8 // SHT_NOBITS
	)
	if len(image) < headerBytes || image[4] != 2 || image[5] != 1 {
		return fmt.Errorf("the cubin is not a 64-bit little-endian ELF file of at least %d bytes", headerBytes)
	}
	order := binary.LittleEndian
	programs, err := table(image, "program", order.Uint64(image[32:]), order.Uint16(image[54:]), order.Uint16(image[56:]), programHeaderBytes)
	if err != nil {
		return err
	}
	for i, header := range programs {
		if !holds(image, order.Uint64(header[8:]), order.Uint64(header[32:])) {
			return fmt.Errorf("the cubin is truncated: segment %d ends after its %d bytes", i, len(image))
		}
	}
	sections, err := table(image, "section", order.Uint64(image[40:]), order.Uint16(image[58:]), order.Uint16(image[60:]), sectionHeaderBytes)
	if err != nil {
		return err
	}
	for i, header := range sections {
		if order.Uint32(header[4:]) != occupiesNothing && !holds(image, order.Uint64(header[24:]), order.Uint64(header[32:])) {
			return fmt.Errorf("the cubin is truncated: section %d ends after its %d bytes", i, len(image))
		}
	}
	return nil
}

// table returns the program or section headers of an ELF file.
func table(image []byte, what string, offset uint64, entryBytes, count uint16, least int) ([][]byte, error) {
	if count == 0 {
		return nil, nil
	}
	if int(entryBytes) < least || !holds(image, offset, uint64(entryBytes)*uint64(count)) {
		return nil, fmt.Errorf("the cubin is truncated: its %s headers end after its %d bytes", what, len(image))
	}
	headers := make([][]byte, count)
	for i := range headers {
		headers[i] = image[offset+uint64(i)*uint64(entryBytes):][:least]
	}
	return headers, nil
}

// checkFatbin checks the length in a fat binary's header: a magic number, a version,
// the size of the header and the size of the contents.
func checkFatbin(image []byte) error {
	const headerBytes = 16
	if len(image) < headerBytes {
		return fmt.Errorf("the fat binary is shorter than its header of %d bytes", headerBytes)
	}
	header := uint64(binary.LittleEndian.Uint16(image[6:]))
	body := binary.LittleEndian.Uint64(image[8:])
	if header < headerBytes || !holds(image, header, body) {
		return fmt.Errorf("the fat binary is truncated: its header specifies %d and %d bytes, it has %d", header, body, len(image))
	}
	return nil
}

// holds reports whether image has length bytes at offset.
func holds(image []byte, offset, length uint64) bool {
	size := uint64(len(image))
	return offset <= size && length <= size-offset
}
