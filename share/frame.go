package share

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
)

const headerBytes = 4

// frame encodes a message.
func frame(message any) ([]byte, error) {
	body, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	framed := make([]byte, headerBytes, headerBytes+len(body))
	binary.LittleEndian.PutUint32(framed, uint32(len(body)))
	return append(framed, body...), nil
}

// frameTable encodes an answer with a table. The description is encoded already: it may
// be long and is the same for every client.
func frameTable(id, reference uint64, description []byte) []byte {
	framed := make([]byte, headerBytes, headerBytes+len(description)+overhead)
	framed = append(framed, `{"id":`...)
	framed = strconv.AppendUint(framed, id, 10)
	framed = append(framed, `,"reference":`...)
	framed = strconv.AppendUint(framed, reference, 10)
	framed = append(framed, `,"table":`...)
	framed = append(append(framed, description...), '}')
	binary.LittleEndian.PutUint32(framed, uint32(len(framed)-headerBytes))
	return framed
}

// overhead exceeds the bytes of an answer around its description.
const overhead = 128

// readFrame reads a message.
func readFrame(reader io.Reader, most int) ([]byte, error) {
	var header [headerBytes]byte
	if _, err := io.ReadFull(reader, header[:]); err != nil {
		return nil, gone(err)
	}
	bytes := binary.LittleEndian.Uint32(header[:])
	if bytes == 0 || uint64(bytes) > uint64(most) {
		return nil, fmt.Errorf("a message of %d bytes, expected at most %d: %w", bytes, most, ErrProtocol)
	}
	// The buffer grows with the bytes that arrive: a sender that only announces a long
	// message costs no memory.
	body := make([]byte, 0, min(int(bytes), 64<<10))
	for len(body) < int(bytes) {
		if len(body) == cap(body) {
			body = append(make([]byte, 0, min(2*cap(body), int(bytes))), body...)
		}
		n, err := reader.Read(body[len(body):min(cap(body), int(bytes))])
		body = body[:len(body)+n]
		if err != nil && len(body) < int(bytes) {
			return nil, gone(err)
		}
	}
	return body, nil
}

// gone returns the error for a connection that ended.
func gone(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) {
		return ErrDisconnected
	}
	return fmt.Errorf("%w: %w", err, ErrDisconnected)
}

// receiver reads a connection and collects the descriptors that arrive with the bytes.
type receiver struct {
	connection  *net.UnixConn
	descriptors []int
}

func (r *receiver) Read(into []byte) (int, error) {
	n, descriptors, err := receive(r.connection, into)
	r.descriptors = append(r.descriptors, descriptors...)
	if err == nil && len(r.descriptors) > mostBlocks {
		err = fmt.Errorf("a message with more than %d descriptors: %w", mostBlocks, ErrProtocol)
	}
	return n, err
}

// take returns the descriptors received so far. The caller owns them.
func (r *receiver) take() []int {
	descriptors := r.descriptors
	r.descriptors = nil
	return descriptors
}

// closeAll closes the descriptors that are not negative.
func closeAll(descriptors []int) error {
	var failures []error
	for _, descriptor := range descriptors {
		if descriptor >= 0 {
			failures = append(failures, closeDescriptor(descriptor))
		}
	}
	return errors.Join(failures...)
}
