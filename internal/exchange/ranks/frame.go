package ranks

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
)

// A frame is a header of twelve bytes, magic, kind and length as little-endian words, and a
// body.
const (
	magic       = 0x4b524647 // "GFRK"
	headerBytes = 12
	// MostMessage is the maximum length of a message.
	MostMessage = 64 << 20
	// mostHello is that of the messages of a rank that has not joined yet.
	mostHello = 64 << 10
	// mostWelcome is that of the message with the addresses of all ranks.
	mostWelcome = mostHello + 256*mostRanks
)

type kind uint32

const (
	helloFrame   kind = iota + 1 // of a rank that dials another one
	welcomeFrame                 // of rank 0 when all have joined
	messageFrame                 // of the user of the group
	failedFrame                  // a rank has failed
	byeFrame                     // the sender has closed the group
	kinds
)

// hello is the first message of a connection.
type hello struct {
	Protocol string `json:"protocol"`
	Rank     int    `json:"rank"`
	Size     int    `json:"size"`
	// Data is set for the second connection of a pair.
	Data bool `json:"data,omitempty"`
	// Address is where the rank listens for others. Only rank 0 gets it.
	Address string `json:"address,omitempty"`
	// Session is the number of the group, which rank 0 draws. The first message to rank 0
	// lacks it.
	Session string `json:"session,omitempty"`
	// Nonce and Proof are those of groups with a secret.
	Nonce string `json:"nonce,omitempty"`
	Proof string `json:"proof,omitempty"`
}

// welcome has the addresses of all ranks. That of rank 0 is empty.
type welcome struct {
	Session   string   `json:"session"`
	Addresses []string `json:"addresses"`
	// Nonce is that of the message that is answered. See hello.
	Nonce string `json:"nonce,omitempty"`
	Proof string `json:"proof,omitempty"`
}

// failed names the rank that failed.
type failed struct {
	Rank   int    `json:"rank"`
	Reason string `json:"reason"`
}

func frame(k kind, body []byte) []byte {
	framed := make([]byte, headerBytes, headerBytes+len(body))
	binary.LittleEndian.PutUint32(framed, magic)
	binary.LittleEndian.PutUint32(framed[4:], uint32(k))
	binary.LittleEndian.PutUint32(framed[8:], uint32(len(body)))
	return append(framed, body...)
}

// frameJSON frames a message of this package, which can always be encoded.
func frameJSON(k kind, message any) []byte {
	body, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	return frame(k, body)
}

// readFrame reads a message of at most the given length. The error is io.EOF only if the
// connection ends between two messages.
func readFrame(reader io.Reader, most int) (kind, []byte, error) {
	var header [headerBytes]byte
	if _, err := io.ReadFull(reader, header[:]); err != nil {
		return 0, nil, err
	}
	if got := binary.LittleEndian.Uint32(header[:]); got != magic {
		return 0, nil, fmt.Errorf("a message begins with %#x, expected %#x: %w", got, uint32(magic), ErrProtocol)
	}
	k := kind(binary.LittleEndian.Uint32(header[4:]))
	if k < helloFrame || k >= kinds {
		return 0, nil, fmt.Errorf("a message of kind %d: %w", k, ErrProtocol)
	}
	bytes := binary.LittleEndian.Uint32(header[8:])
	if uint64(bytes) > uint64(most) {
		return 0, nil, fmt.Errorf("a message of %d bytes, expected at most %d: %w", bytes, most, ErrProtocol)
	}
	// The buffer grows with the bytes that arrive: a sender that only announces a long
	// message costs no memory.
	body := make([]byte, 0, min(int(bytes), 64<<10))
	for len(body) < int(bytes) {
		if len(body) == cap(body) {
			body = append(make([]byte, 0, min(2*cap(body), int(bytes))), body...)
		}
		n, err := reader.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if err == io.EOF && len(body) < int(bytes) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && len(body) < int(bytes) {
			return 0, nil, err
		}
	}
	return k, body, nil
}

// readJSON reads one message of the handshake.
func readJSON(reader io.Reader, expected kind, message any) error {
	most := mostHello
	if expected == welcomeFrame {
		most = mostWelcome
	}
	k, body, err := readFrame(reader, most)
	if err != nil {
		return err
	}
	if k == failedFrame && expected == welcomeFrame {
		var f failed
		if err := json.Unmarshal(body, &f); err != nil {
			return fmt.Errorf("%w: %w", err, ErrProtocol)
		}
		return &RankError{Rank: f.Rank, ReportedBy: 0, Err: fmt.Errorf("%s: %w", f.Reason, ErrRemote)}
	}
	if k != expected {
		return fmt.Errorf("a message of kind %d, expected %d: %w", k, expected, ErrProtocol)
	}
	if err := json.Unmarshal(body, message); err != nil {
		return fmt.Errorf("%w: %w", err, ErrProtocol)
	}
	return nil
}
