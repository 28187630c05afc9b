package share

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf8"
)

// version is that of the protocol.
const version = 1

const (
	mostRequestBytes = 64 << 10
	mostAnswerBytes  = 16 << 20
	// mostBlocks is how many descriptors travel in one message. The kernel takes
	// 253.
	mostBlocks = 64
	mostName   = 255
)

// The operations of a request.
const (
	operationHello  = "hello"
	operationTables = "tables"
	operationOpen   = "open"
	operationClose  = "close"
)

// request is what a client sends.
type request struct {
	ID        uint64 `json:"id"`
	Operation string `json:"operation"`
	Version   int    `json:"version,omitempty"`
	Name      string `json:"name,omitempty"`
	Reference uint64 `json:"reference,omitempty"`
}

// answer is what a server sends.
type answer struct {
	ID        uint64       `json:"id"`
	Error     *failure     `json:"error,omitempty"`
	Version   int          `json:"version,omitempty"`
	Tables    []TableInfo  `json:"tables,omitempty"`
	Reference uint64       `json:"reference,omitempty"`
	Table     *description `json:"table,omitempty"`
}

type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// decode reads one JSON value strictly.
func decode(message []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(message))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("%w: %w", err, ErrProtocol)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("something follows the message: %w", ErrProtocol)
	}
	return nil
}

// parseRequest reads what a client sent.
func parseRequest(message []byte) (request, error) {
	var r request
	if err := decode(message, &r); err != nil {
		return request{}, err
	}
	fits := false
	switch r.Operation {
	case operationHello:
		fits = r.Version > 0 && r.Name == "" && r.Reference == 0
	case operationTables:
		fits = r.Version == 0 && r.Name == "" && r.Reference == 0
	case operationOpen:
		fits = r.Version == 0 && checkName(r.Name) == nil && r.Reference == 0
	case operationClose:
		fits = r.Version == 0 && r.Name == "" && r.Reference != 0
	}
	if !fits || r.ID == 0 {
		return request{}, fmt.Errorf("request %q has too few or too many fields: %w", r.Operation, ErrProtocol)
	}
	return r, nil
}

// parseAnswer reads what a server sent, and refuses a table's description that would
// lead out of its blocks.
func parseAnswer(message []byte) (answer, error) {
	var a answer
	if err := decode(message, &a); err != nil {
		return answer{}, err
	}
	for _, info := range a.Tables {
		if err := info.check(); err != nil {
			return answer{}, err
		}
	}
	if (a.Table == nil) != (a.Reference == 0) {
		return answer{}, fmt.Errorf("a table without a reference, or the other way round: %w", ErrProtocol)
	}
	if a.Table == nil {
		return a, nil
	}
	if err := a.Table.check(); err != nil {
		return answer{}, fmt.Errorf("description of table %q: %w: %w", a.Table.Name, err, ErrProtocol)
	}
	return a, nil
}

// checkName refuses names that would not look the same in a message and on a
// terminal.
func checkName(name string) error {
	if name == "" || len(name) > mostName || !utf8.ValidString(name) {
		return fmt.Errorf("it has %d bytes, one to %d of UTF-8 are allowed: %w", len(name), mostName, ErrName)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Errorf("it has character %U: %w", r, ErrName)
		}
	}
	return nil
}
